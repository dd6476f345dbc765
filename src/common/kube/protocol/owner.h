// Who an object belongs to and which version of it this is, out of the JSON of a reply.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace verl::kube {

struct WrittenObject {
  std::string name_space{};
  std::string name{};
  std::string uid{};
  std::string resource_version{};
  std::vector<std::string> owner_uids{};
  bool operator==(const WrittenObject&) const = default;
};

// Error (Invalid) when the text is no object, or lacks the UID that every stored object has.
Result<WrittenObject> decode_written(std::string_view json_text);

}  // namespace verl::kube
