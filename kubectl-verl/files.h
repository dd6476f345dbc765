// Whole files and standard input, with a limit.
#pragma once

#include <string>

#include "base/result.h"

namespace verl::cli {

Result<std::string> read_whole(const std::string& path);  // "-" is standard input; at most 512 MiB

// A regular file is new or replaced at once, and readable by its owner alone; a link stays and the file it leads to is replaced.
// Pipes and devices are written to.
Result<void> write_whole(const std::string& path, const std::string& text);

}  // namespace verl::cli
