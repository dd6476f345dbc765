#include "kube/protocol/owner.h"

#include <nlohmann/json.hpp>

namespace verl::kube {
namespace {

using nlohmann::json;

std::string text_at(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

}  // namespace

Result<WrittenObject> decode_written(std::string_view json_text) {
  const json object = json::parse(json_text, nullptr, false);
  if (!object.is_object()) return failure(ErrorCode::Invalid, "the server's answer is not an object");
  const auto metadata = object.find("metadata");
  if (metadata == object.end() || !metadata->is_object()) return failure(ErrorCode::Invalid, "the server's answer has no metadata");
  WrittenObject out{.name_space = text_at(*metadata, "namespace"),
                    .name = text_at(*metadata, "name"),
                    .uid = text_at(*metadata, "uid"),
                    .resource_version = text_at(*metadata, "resourceVersion")};
  if (out.uid.empty()) return failure(ErrorCode::Invalid, "the server's answer has no metadata.uid");
  if (const auto owners = metadata->find("ownerReferences"); owners != metadata->end() && owners->is_array()) {
    for (const json& owner : *owners) {
      if (owner.is_object()) out.owner_uids.push_back(text_at(owner, "uid"));
    }
  }
  return out;
}

}  // namespace verl::kube
