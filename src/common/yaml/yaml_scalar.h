// For the .cpp files of codec only: what a plain YAML scalar means.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace verl {

// Null, true, false, a number, or the text itself. Nothing for .inf and .nan, which JSON cannot say.
std::optional<nlohmann::json> plain_scalar(const std::string& text);

}  // namespace verl
