// Whole files and standard input, with a limit.
#pragma once

#include <string>

#include "base/result.h"

namespace verl::cli {

Result<std::string> read_whole(const std::string& path);  // "-" is standard input; at most 512 MiB
Result<void> write_whole(const std::string& path, const std::string& text);  // a new file or one replaced at once; readable by its owner

}  // namespace verl::cli
