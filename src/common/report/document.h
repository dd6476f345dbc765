// For the .cpp files that print JSON and YAML: one document, two spellings, both safe to show on a terminal.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace verl::report {

// Two spaces deep, a newline at the end. Control characters beyond JSON's own and those that turn or hide text are \u escapes.
std::string json_text(const nlohmann::ordered_json& document);

// Text keeps its quotes, so that "1500" and "yes" stay text.
std::string yaml_text(const nlohmann::ordered_json& document);

}  // namespace verl::report
