// Looks at the container from inside: proc, sysfs, device files. Reads and opens, writes nothing, judges nothing.
#pragma once

#include <string>

#include "node-agent/incontainer/facts.h"

namespace verl::incontainer {

// `root` stands before every path; empty in a container.
Facts read_facts(const std::string& root);

}  // namespace verl::incontainer
