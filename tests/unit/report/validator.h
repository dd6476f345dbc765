// Checks documents against the schemas in docs/schemas with as much of JSON Schema as those use; a keyword it does not know is a
// failure, so that a schema cannot promise what nobody checks.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "base/time.h"

namespace verl::report {

using nlohmann::json;

class Validator {
 public:
  explicit Validator(json schema) : root_(std::move(schema)) {}

  std::vector<std::string> check(const json& document) {
    problems_.clear();
    check(document, root_, "");
    return problems_;
  }

 private:
  void fault(const std::string& at, const std::string& what) { problems_.push_back((at.empty() ? "/" : at) + ": " + what); }

  static bool is(const json& value, const std::string& type) {
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "string") return value.is_string();
    if (type == "boolean") return value.is_boolean();
    return type == "integer" && value.is_number_integer();
  }

  void check(const json& value, const json& schema, const std::string& at) {
    if (const auto ref = schema.find("$ref"); ref != schema.end()) {
      return check(value, root_.at(json::json_pointer(ref->get<std::string>().substr(1))), at);
    }
    if (const auto any = schema.find("oneOf"); any != schema.end()) {
      int fitting = 0;
      for (const json& one : *any) {
        Validator inner(root_);
        inner.check(value, one, at);
        fitting += inner.problems_.empty() ? 1 : 0;
      }
      if (fitting != 1) fault(at, std::to_string(fitting) + " of the alternatives fit");
      return;
    }
    static const std::set<std::string> kKnown{"$schema", "$id", "$defs", "title", "description", "type", "const", "enum", "format", "minimum",
                                              "required", "properties", "additionalProperties", "items"};
    for (const auto& entry : schema.items()) {
      if (!kKnown.contains(entry.key())) fault(at, "the schema uses " + entry.key());
    }
    if (const auto type = schema.find("type"); type != schema.end() && !is(value, type->get<std::string>())) return fault(at, "is no " + type->get<std::string>());
    if (const auto only = schema.find("const"); only != schema.end() && value != *only) fault(at, "is not " + only->dump());
    if (const auto words = schema.find("enum"); words != schema.end() && std::find(words->begin(), words->end(), value) == words->end()) fault(at, "is not one of " + words->dump());
    if (const auto least = schema.find("minimum"); least != schema.end() && value < *least) fault(at, "is below " + least->dump());
    if (schema.value("format", "") == "date-time" && !parse_rfc3339(value.get<std::string>())) fault(at, "is no time");
    for (const json& name : schema.value("required", json::array())) {
      if (!value.contains(name.get<std::string>())) fault(at, "lacks " + name.get<std::string>());
    }
    const json properties = schema.value("properties", json::object());
    if (value.is_object()) {
      for (const auto& entry : value.items()) {
        const auto known = properties.find(entry.key());
        if (known != properties.end()) {
          check(entry.value(), *known, at + "/" + entry.key());
        } else if (!schema.value("additionalProperties", true)) {
          fault(at, "has the unknown field " + entry.key());
        }
      }
    }
    if (const auto items = schema.find("items"); items != schema.end()) {
      for (size_t i = 0; i < value.size(); ++i) check(value[i], *items, at + "/" + std::to_string(i));
    }
  }

  json root_;
  std::vector<std::string> problems_{};
};

inline Validator published_schema(const std::string& name) {
  const char* source = std::getenv("VERL_SOURCE");
  std::ifstream file(std::string(source == nullptr ? "." : source) + "/docs/schemas/" + name);
  return Validator(json::parse(file));
}

}  // namespace verl::report
