// Who an object is: key, UID and version, read from its JSON without decoding the rest.
// What the object says is for the decoder of its kind.
#pragma once

#include <compare>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace verl::kube {

// JSON handed to a decoder can be read this many bytes past its end (simdjson wants it so); what stands there is noise.
constexpr std::size_t kJsonPadding = 64;

struct ObjectKey {
  std::string name_space{};  // empty for a cluster-scoped object
  std::string name{};
  auto operator<=>(const ObjectKey&) const = default;
  bool operator==(const ObjectKey&) const = default;
};

std::string to_string(const ObjectKey& key);                // "rl/qwen"; "node-1" when cluster-scoped
ObjectKey parse_object_key(std::string_view text);          // the inverse; used as work queue keys

struct ObjectHead {
  ObjectKey key{};
  std::string uid{};
  std::string resource_version{};  // opaque: compare for equality only
  bool operator==(const ObjectHead&) const = default;
};

struct TypedHead {
  std::string kind{};         // empty for items of built-in lists
  std::string api_version{};
  ObjectHead head{};
  bool operator==(const TypedHead&) const = default;
};

// Duplicate fields: the last one wins, as in the apiserver. Fields of another type than expected stay empty.
// Error (Invalid) when the text is not one JSON object. Needs kJsonPadding readable bytes past the end.
Result<TypedHead> parse_typed_head(std::string_view padded_json);

// Whether name, UID and version are all there. A cache entry needs the three.
bool is_complete(const ObjectHead& head);

}  // namespace verl::kube
