// Reads a text as a user would have it read: the format found out by content.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "diagnosis/diagnose.h"

namespace verl::benchmark {

inline diagnosis::ReadDocument read(std::string_view text, std::string name = "document", const diagnosis::Policy& policy = {}) {
  diagnosis::ReadOptions options;
  options.policy = policy;
  return diagnosis::read_document(std::move(name), "node-a", text, {}, options);
}

inline Facts facts_of(const diagnosis::ReadDocument& document) {
  EXPECT_FALSE(document.error) << document.error->message;
  return document.reading.nodes.empty() ? Facts{} : document.reading.nodes.front().second.benchmark;
}

inline diagnosis::Scalar value_of(const diagnosis::ReadDocument& document, std::string_view name) {
  const auto& values = document.reading.values;
  const auto found = std::find_if(values.begin(), values.end(), [&](const diagnosis::Value& one) { return one.name == name; });
  if (found != values.end()) return found->value;
  ADD_FAILURE() << "no value " << name;
  return {};
}

inline std::string unit_of(const diagnosis::ReadDocument& document, std::string_view name) {
  const auto& values = document.reading.values;
  const auto found = std::find_if(values.begin(), values.end(), [&](const diagnosis::Value& one) { return one.name == name; });
  return found == values.end() ? "no value" : found->unit;
}

}  // namespace verl::benchmark
