// Reading files that a person or a configuration names: bounded, and never waiting where nothing will come.
// What a node has to tell (/proc, /sys) is read through host.
#pragma once

#include <string>

#include "base/result.h"
#include "base/units.h"

namespace verl {

enum class FileKind {
  Regular,  // keys, tokens, configuration: a pipe or a device is refused, since reading it could hang
  Any,      // what a user gives on a command line: "<(…)" and /dev/stdin are pipes
};

struct FileText {
  std::string text{};
  bool others_can_read{false};  // by group or world
};

// NotFound, Denied or Unavailable when it cannot be opened or read; Invalid when it is of another kind; TooLarge beyond `limit`.
Result<FileText> read_file(const std::string& path, Bytes limit, FileKind kind = FileKind::Regular);

// The rest of what an open descriptor gives; `name` is for messages. The descriptor stays open.
Result<std::string> read_descriptor(int descriptor, const std::string& name, Bytes limit);

}  // namespace verl
