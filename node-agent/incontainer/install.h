// Puts the running program into a folder that the job's container mounts.
#pragma once

#include <string>

namespace verl::incontainer {

// A copy of `program` in `folder`, mode 0755, there at once and whole or not at all. Empty, or what went wrong.
std::string install(const std::string& program, const std::string& folder, const std::string& name);

}  // namespace verl::incontainer
