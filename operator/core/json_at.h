// Looks into JSON of unknown shape without exceptions. For .cpp files only.
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>

namespace verl::core {

// The value below `root` along object keys; nullptr when a step is missing or is no object.
inline const nlohmann::json* json_at(const nlohmann::json& root, std::initializer_list<const char*> keys) {
  const nlohmann::json* value = &root;
  for (const char* key : keys) {
    if (!value->is_object()) return nullptr;
    const auto found = value->find(key);
    if (found == value->end()) return nullptr;
    value = &*found;
  }
  return value;
}

}  // namespace verl::core
