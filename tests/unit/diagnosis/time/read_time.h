// Reads texts of time tools as a user gives them: recognised by content, one node or several.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "diagnosis/diagnose.h"

namespace verl::diagnosis {

inline ReadDocument read_time(std::string_view text, std::string node = "", const Policy& policy = {}) {
  ReadOptions options;
  options.policy = policy;
  return read_document("given", std::move(node), text, "", options);
}

// "id severity" of every finding, gravest first; lines left unread apart.
inline std::vector<std::string> ids(const std::vector<ReadDocument>& documents, const Policy& policy = {}) {
  std::vector<std::string> all;
  for (const Finding& one : diagnose(documents, policy).findings) {
    if (one.id != "document-lines-unread") all.push_back(one.id + " " + std::string(to_string(one.severity)));
  }
  return all;
}

inline const Value* value_of(const ReadDocument& document, std::string_view name) {
  for (const Value& one : document.reading.values) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

inline double number_of(const ReadDocument& document, std::string_view name) {
  const Value* value = value_of(document, name);
  if (!value) {
    ADD_FAILURE() << "no value " << name;
    return 0;
  }
  if (const auto* real = std::get_if<double>(&value->value)) return *real;
  if (const auto* whole = std::get_if<std::int64_t>(&value->value)) return static_cast<double>(*whole);
  ADD_FAILURE() << name << " is no number";
  return 0;
}

inline std::string text_of(const ReadDocument& document, std::string_view name) {
  const Value* value = value_of(document, name);
  const auto* text = value ? std::get_if<std::string>(&value->value) : nullptr;
  if (!text) ADD_FAILURE() << "no text " << name;
  return text ? *text : "";
}

inline const clock::Facts& clock_of(const ReadDocument& document) {
  static const clock::Facts kNothing{};
  if (document.reading.nodes.empty()) return kNothing;
  return document.reading.nodes.front().second.clock;
}

using Ids = std::vector<std::string>;

}  // namespace verl::diagnosis
