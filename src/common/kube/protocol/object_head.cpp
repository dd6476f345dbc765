#include "kube/protocol/object_head.h"

#include "kube/protocol/json_scan.h"

namespace verl::kube {
namespace {

using simdjson::error_code;
using simdjson::ondemand::object;
using simdjson::ondemand::value;

error_code read_metadata(value metadata, ObjectHead& head) {
  object fields;
  const auto error = metadata.get_object().get(fields);
  if (error == simdjson::INCORRECT_TYPE) return simdjson::SUCCESS;
  if (error) return error;
  return json_scan::each_field(fields, [&](std::string_view key, value field) {
    if (key == "name") head.key.name = json_scan::string_or_empty(field);
    if (key == "namespace") head.key.name_space = json_scan::string_or_empty(field);
    if (key == "uid") head.uid = json_scan::string_or_empty(field);
    if (key == "resourceVersion") head.resource_version = json_scan::string_or_empty(field);
    return simdjson::SUCCESS;
  });
}

}  // namespace

std::string to_string(const ObjectKey& key) {
  return key.name_space.empty() ? key.name : key.name_space + "/" + key.name;
}

ObjectKey parse_object_key(std::string_view text) {
  const auto slash = text.find('/');
  if (slash == std::string_view::npos) return {.name_space = {}, .name = std::string(text)};
  return {.name_space = std::string(text.substr(0, slash)), .name = std::string(text.substr(slash + 1))};
}

Result<TypedHead> parse_typed_head(std::string_view padded_json) {
  thread_local simdjson::ondemand::parser parser;
  TypedHead result;
  simdjson::ondemand::document document;
  if (const auto error = parser.iterate(json_scan::padded(padded_json)).get(document)) {
    return json_scan::invalid("read an object", error);
  }
  object fields;
  if (const auto error = document.get_object().get(fields)) return json_scan::invalid("read an object", error);
  const auto error = json_scan::each_field(fields, [&](std::string_view key, value field) {
    if (key == "kind") result.kind = json_scan::string_or_empty(field);
    if (key == "apiVersion") result.api_version = json_scan::string_or_empty(field);
    if (key == "metadata") return read_metadata(field, result.head);
    return simdjson::SUCCESS;
  });
  if (error) return json_scan::invalid("read an object", error);
  if (json_scan::has_more(document)) return failure(ErrorCode::Invalid, "read an object: something follows its end");
  return result;
}

bool is_complete(const ObjectHead& head) {
  return !head.key.name.empty() && !head.uid.empty() && !head.resource_version.empty();
}

}  // namespace verl::kube
