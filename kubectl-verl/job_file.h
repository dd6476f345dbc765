// A VerlJob out of a manifest, with the defaults that the apiserver would set.
#pragma once

#include <string>
#include <string_view>

#include "api/verl_job.h"
#include "base/result.h"

namespace verl::cli {

// Exactly one document of kind VerlJob. A field that did not decode is an error that names it. What only the apiserver checks
// (bounds, CEL rules, misspelt fields) is not seen here.
Result<api::VerlJob> parse_job(std::string_view yaml, const std::string& default_namespace);

}  // namespace verl::cli
