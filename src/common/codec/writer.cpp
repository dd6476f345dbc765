#include "codec/writer.h"

#include <fmt/format.h>

namespace verl::codec {

void put(Json& object, const char* name, std::string_view text) {
  if (!text.empty()) object[name] = text;
}

void put(Json& object, const char* name, const std::vector<std::string>& list) {
  if (!list.empty()) object[name] = list;
}

void put(Json& object, const char* name, const std::map<std::string, std::string>& map) {
  if (!map.empty()) object[name] = map;
}

void put(Json& object, const char* name, const std::optional<Timestamp>& time) {
  if (time) object[name] = to_json(*time);
}

void put_json(Json& object, const char* name, Json value) {
  if (!value.empty()) object[name] = std::move(value);
}

Json to_json(Timestamp time) { return format_rfc3339(time, true); }

Json to_json(const std::vector<api::Condition>& conditions) {
  return list_of(conditions, [](const api::Condition& condition) {
    Json one{{"type", condition.type},
             {"status", to_string(condition.status)},
             {"reason", condition.reason},
             {"message", condition.message},
             {"lastTransitionTime", to_json(condition.last_transition)}};
    if (condition.observed_generation != 0) one["observedGeneration"] = condition.observed_generation;
    return one;
  });
}

Json target_of(std::string_view kind, const api::Meta& meta) {
  Json metadata = Json::object();
  put(metadata, "name", meta.name);
  put(metadata, "namespace", meta.name_space);
  put(metadata, "uid", meta.uid);
  put(metadata, "resourceVersion", meta.resource_version);
  return {{"apiVersion", fmt::format("{}/{}", api::kGroup, api::kVersion)}, {"kind", kind}, {"metadata", std::move(metadata)}};
}

Json object_of(std::string_view kind, const api::Meta& meta) {
  Json object = target_of(kind, meta);
  Json& metadata = object["metadata"];
  put(metadata, "labels", meta.labels);
  if (meta.generation != 0) metadata["generation"] = meta.generation;
  if (meta.created != Timestamp{}) metadata["creationTimestamp"] = to_json(meta.created);
  put(metadata, "deletionTimestamp", meta.deleted);
  return object;
}

std::string text_of(const Json& document) { return document.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace verl::codec
