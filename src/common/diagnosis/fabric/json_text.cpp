#include "diagnosis/fabric/json_text.h"

namespace verl::fabric {

std::optional<Json> parse_json(std::string_view text) {
  constexpr int kDeepest = 64;
  bool deep = false;
  const auto watch = [&](int depth, Json::parse_event_t, Json&) {
    deep = deep || depth > kDeepest;
    return !deep;
  };
  Json json = Json::parse(text.begin(), text.end(), watch, false);
  if (deep || json.is_discarded()) return std::nullopt;
  return json;
}

const Json* member(const Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

std::string text_of(const Json& object, const char* key) {
  const Json* one = member(object, key);
  if (!one) return {};
  if (one->is_string()) return one->get<std::string>();
  if (one->is_number() || one->is_boolean()) return one->dump();
  return {};
}

std::optional<std::int64_t> integer_of(const Json& object, const char* key) {
  const Json* one = member(object, key);
  if (!one) return std::nullopt;
  if (one->is_number_unsigned()) {
    const auto value = one->get<std::uint64_t>();
    return value > static_cast<std::uint64_t>(INT64_MAX) ? std::nullopt : std::optional(static_cast<std::int64_t>(value));
  }
  if (one->is_number_integer()) return one->get<std::int64_t>();
  if (one->is_string()) return parse_int(trim(one->get_ref<const std::string&>()));
  return std::nullopt;
}

}  // namespace verl::fabric
