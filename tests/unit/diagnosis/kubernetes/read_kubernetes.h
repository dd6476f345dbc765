// Reads Kubernetes texts as a user gives them: recognised by content.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "diagnosis/diagnose.h"

namespace verl::diagnosis {

inline ReadDocument read_text(std::string_view text, const Policy& policy = {}) {
  ReadOptions options;
  options.policy = policy;
  return read_document("given", "", text, "", options);
}

// "id subject severity" of what the text alone shows, in its order.
inline std::vector<std::string> found(const ReadDocument& document) {
  std::vector<std::string> all;
  if (document.error) all.push_back("error: " + document.error->message);
  for (const Finding& one : document.reading.findings) all.push_back(one.id + " " + one.subject + " " + std::string(to_string(one.severity)));
  return all;
}

inline const Scalar* value_of(const ReadDocument& document, std::string_view name) {
  for (const Value& one : document.reading.values) {
    if (one.name == name) return &one.value;
  }
  return nullptr;
}

using Found = std::vector<std::string>;

}  // namespace verl::diagnosis
