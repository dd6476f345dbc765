// The limits of `diagnose --policy FILE`.
#pragma once

#include <string_view>

#include "base/result.h"
#include "diagnosis/policy.h"

namespace verl::cli {

// YAML or JSON, one or both of: a ReadinessPolicy as it is applied to a cluster (its limits are taken), and a mapping of
// kind DiagnosisPolicy, whose fields docs/cli.md lists. A field that is not known is refused with the nearest one that is.
Result<diagnosis::Policy> parse_policy(std::string_view yaml);

}  // namespace verl::cli
