// Shared by the scanners of this folder only: field-by-field reading with simdjson, no exceptions.
#pragma once

#include <simdjson.h>

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/text.h"
#include "kube/protocol/object_head.h"

namespace verl::kube::json_scan {

inline tl::unexpected<Error> invalid(std::string_view what, simdjson::error_code code) {
  return failure(ErrorCode::Invalid, std::string(what) + ": " + simdjson::error_message(code));
}

inline simdjson::padded_string_view padded(std::string_view json) {
  static_assert(kJsonPadding >= simdjson::SIMDJSON_PADDING);
  return simdjson::padded_string_view(json.data(), json.size(), json.size() + simdjson::SIMDJSON_PADDING);
}

// The string, or empty when the field is null or of another type.
inline std::string string_or_empty(simdjson::ondemand::value value) {
  std::string_view text;
  if (value.get_string().get(text) != simdjson::SUCCESS) return {};
  return std::string(text);
}

// Calls visit(key, value) for each field of `object`; visit returns an error_code.
template <class Visit>
simdjson::error_code each_field(simdjson::ondemand::object& object, Visit visit) {
  for (auto field : object) {
    std::string_view key;
    if (const auto error = field.unescaped_key().get(key)) return error;
    simdjson::ondemand::value value;
    if (const auto error = field.value().get(value)) return error;
    if (const auto error = visit(key, value)) return error;
  }
  return simdjson::SUCCESS;
}

// The text of an object or array value, without what surrounds it.
inline simdjson::error_code raw_object(simdjson::ondemand::value value, std::string_view& raw) {
  simdjson::ondemand::object object;
  if (const auto error = value.get_object().get(object)) return error;
  if (const auto error = object.raw_json().get(raw)) return error;
  raw = trim(raw);
  return simdjson::SUCCESS;
}

// Once the root's fields are read: whether something but space stands behind it.
inline bool has_more(simdjson::ondemand::document& document) {
  const char* where = nullptr;
  return document.current_location().get(where) == simdjson::SUCCESS;
}

}  // namespace verl::kube::json_scan
