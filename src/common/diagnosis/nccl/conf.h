// /etc/nccl.conf as libnccl reads it (src/misc/param.cc): no quotes, no blanks cut, the first line of a name wins.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace verl::nccl {

struct Setting {
  std::string name{};
  std::string value{};
  bool operator==(const Setting&) const = default;
};

struct ConfComplaint {
  int line{0};
  std::string what{};  // "the name has a blank at its end: NCCL reads a variable called \"NCCL_ALGO \""
  bool operator==(const ConfComplaint&) const = default;
};

struct Conf {
  std::vector<Setting> settings{};          // as they take effect, in order of the file
  std::vector<ConfComplaint> complaints{};  // what a person most likely did not mean
  bool operator==(const Conf&) const = default;
};

Conf parse_conf(std::string_view text);

}  // namespace verl::nccl
