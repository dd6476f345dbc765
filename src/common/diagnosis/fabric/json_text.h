// The few cuts that readers of JSON in this family make. The only header of it that names a type of the JSON library, so it is
// for .cpp files alone.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/text.h"
#include "diagnosis/fabric/store.h"

namespace verl::fabric {

using Json = nlohmann::json;

// Nothing when it is not JSON or nested deeper than any tool's answer.
std::optional<Json> parse_json(std::string_view text);

// A member as text: strings as they are, numbers printed; empty when absent or of another type.
std::string text_of(const Json& object, const char* key);
std::optional<std::int64_t> integer_of(const Json& object, const char* key);  // numbers, and strings of digits
const Json* member(const Json& object, const char* key);                      // nullptr when absent

// One object of `ip -j address`, to facts. False when it names no interface.
bool take_ip_object(Store& store, const Json& object);

}  // namespace verl::fabric
