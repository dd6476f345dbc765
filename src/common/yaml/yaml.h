// YAML files that people write → JSON text, with the meaning that kubectl gives them (YAML 1.1 words such as yes and off
// are true and false unless quoted, 010 is eight). Refused: equal keys in one mapping, more than 4 MiB of text, 64 levels or
// 200,000 values, aliases counted as often as they are used.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace verl {

// One JSON text per document; documents without content are left out. JSON is YAML too.
Result<std::vector<std::string>> yaml_documents_to_json(std::string_view yaml);

}  // namespace verl
