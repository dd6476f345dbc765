// Reads a text as people would give it and finds things in the answer.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "diagnosis/diagnose.h"

namespace verl::diagnosis {

inline ReadDocument read(std::string_view text, std::string_view format = {}, const ReadOptions& options = {}) {
  return read_document("text", "", text, format, options);
}

inline const topology::Facts& topology_of(const ReadDocument& document) {
  static const topology::Facts kNothing{};
  return document.reading.nodes.empty() ? kNothing : document.reading.nodes.front().second.topology;
}

// A value as text: "7", "1.5", "true", "PIX"; "-" when it is not there.
inline std::string value(const ReadDocument& document, std::string_view name) {
  for (const Value& one : document.reading.values) {
    if (one.name != name) continue;
    if (const auto* text = std::get_if<std::string>(&one.value)) return *text;
    if (const auto* number = std::get_if<std::int64_t>(&one.value)) return std::to_string(*number);
    if (const auto* real = std::get_if<double>(&one.value)) return std::to_string(*real);
    if (const auto* flag = std::get_if<bool>(&one.value)) return *flag ? "true" : "false";
  }
  return "-";
}

// "id subject severity" of all findings of a diagnosis at or above Warning.
inline std::vector<std::string> complaints(const std::vector<ReadDocument>& documents, const Policy& policy = {}, Severity least = Severity::Warning) {
  std::vector<std::string> all;
  for (const Finding& one : diagnose(documents, policy).findings) {
    if (one.severity >= least) all.push_back(one.id + " " + one.subject + " " + std::string(to_string(one.severity)));
  }
  return all;
}

using Complaints = std::vector<std::string>;

}  // namespace verl::diagnosis
