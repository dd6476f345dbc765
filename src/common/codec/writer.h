// For the .cpp files of codec only: building documents field by field, leaving out what holds nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/condition.h"
#include "api/meta.h"
#include "base/time.h"

namespace verl::codec {

using Json = nlohmann::json;

// Each sets object[name] when there is something to say.
void put(Json& object, const char* name, std::string_view text);  // not when empty
void put(Json& object, const char* name, const std::vector<std::string>& list);
void put(Json& object, const char* name, const std::map<std::string, std::string>& map);
void put(Json& object, const char* name, const std::optional<Timestamp>& time);
void put_json(Json& object, const char* name, Json value);  // not an empty object or list

template <class T>
void put_number(Json& object, const char* name, const std::optional<T>& number) {
  if (number) object[name] = *number;
}

template <class Rep, class Period>
void put_number(Json& object, const char* name, const std::optional<std::chrono::duration<Rep, Period>>& number) {
  if (number) object[name] = number->count();
}

template <class T, class ToJson>
Json list_of(const std::vector<T>& items, ToJson&& to_json) {
  Json list = Json::array();
  for (const T& item : items) list.push_back(to_json(item));
  return list;
}

Json to_json(Timestamp time);
Json to_json(const std::vector<api::Condition>& conditions);

// {"apiVersion", "kind", "metadata": {"name", "namespace"}} and, of the metadata, what is not empty.
Json object_of(std::string_view kind, const api::Meta& meta);
// The same with only what a write needs: name, namespace, uid, resourceVersion.
Json target_of(std::string_view kind, const api::Meta& meta);

std::string text_of(const Json& document);

}  // namespace verl::codec
