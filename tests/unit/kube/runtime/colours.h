// ConfigMaps as the tests of the reflector see them, and the JSON that a server would send.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "kube/runtime/reflector.h"

namespace verl::kube {

inline const Resource kMaps{"", "v1", "ConfigMap", "configmaps", true};

struct Colour {
  std::string name{};
  bool operator==(const Colour&) const = default;
};

inline Result<Colour> decode_colour(std::string_view json) {
  const auto parsed = nlohmann::json::parse(json, nullptr, false);
  if (!parsed.is_object()) return failure(ErrorCode::Invalid, "not an object");
  if (!parsed.contains("data") || !parsed["data"].contains("colour")) return failure(ErrorCode::Invalid, "data.colour is missing");
  return Colour{.name = parsed["data"]["colour"].get<std::string>()};
}

inline std::string map(const std::string& name, const std::string& version, const std::string& colour, const std::string& uid = "") {
  return R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":")" + name + R"(","namespace":"rl","uid":")" + (uid.empty() ? "u-" + name : uid) +
         R"(","resourceVersion":")" + version + R"("},"data":{"colour":")" + colour + R"("}})";
}
inline std::string page(const std::string& version, const std::string& items, const std::string& token = "") {
  return R"({"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":")" + version + R"(","continue":")" + token + R"("},"items":[)" + items + "]}";
}
// One watch event without its line end.
inline std::string event(const std::string& type, const std::string& object) { return R"({"type":")" + type + R"(","object":)" + object + "}"; }
inline std::string bookmark(const std::string& version) {
  return event("BOOKMARK", R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":")" + version + R"("}})");
}
inline std::string status(int code, const std::string& reason) {
  return R"({"kind":"Status","apiVersion":"v1","status":"Failure","code":)" + std::to_string(code) + R"(,"reason":")" + reason + R"(","message":"m"})";
}

inline ReflectorOptions quick() {
  ReflectorOptions options;
  options.backoff = {.initial = Microseconds{1000}, .max = Microseconds{2000}};
  return options;
}

using Texts = std::vector<std::string>;

// "rl/a red > pink"; "-" for nothing, "?" for a value that could not be decoded.
inline std::string text(const Reflector<Colour>::Change& change) {
  return to_string(change.head().key) + " " + (change.before_head ? (change.before ? change.before->name : "?") : "-") + " > " +
         (change.after_head ? (change.after ? change.after->name : "?") : "-");
}
inline Texts shown(const Snapshot<Colour>& snapshot) {
  Texts all;
  for (std::size_t i = 0; i < snapshot.size(); ++i) all.push_back(snapshot.head(i).key.name + "=" + (snapshot.value(i) ? snapshot.value(i)->name : "?"));
  return all;
}

}  // namespace verl::kube
