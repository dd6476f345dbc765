// Reading the small files that a configuration names. A function, so that tests give texts and count reads.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"

namespace verl::kube {

struct FileText {
  std::string text{};
  bool others_can_read{false};
};

using ReadFile = std::function<Result<FileText>(const std::string& path)>;

// NotFound when there is no such file; Invalid for a directory or more than a mebibyte.
Result<FileText> read_local_file(const std::string& path);

}  // namespace verl::kube
