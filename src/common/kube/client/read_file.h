// Reading the small files that a configuration names. A function, so that tests give texts and count reads.
#pragma once

#include <functional>
#include <string>

#include "base/read_file.h"
#include "base/result.h"

namespace verl::kube {

using verl::FileText;
using ReadFile = std::function<Result<FileText>(const std::string& path)>;

// NotFound when there is no such file; Invalid for a directory or a pipe; TooLarge beyond a mebibyte.
Result<FileText> read_local_file(const std::string& path);

}  // namespace verl::kube
