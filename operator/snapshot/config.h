// The operator's configuration file, as the chart writes it into a ConfigMap.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "operator/core/model.h"

namespace verl::snapshot {

struct OperatorFile {
  core::Config config{};
  std::vector<std::string> presets{};  // files with ReadinessPolicies that are created once
  std::string docs_url{};
  bool operator==(const OperatorFile&) const = default;
};

// Keys: levels [{name, key}], gpuResource, ports {first, last}, heartbeat {idleSeconds, busySeconds}, presets, docsUrl.
// Unknown keys, wrong types and ranges that make no sense are refused by name: a misspelt key would be a silent default.
Result<OperatorFile> parse_config(std::string_view yaml);

}  // namespace verl::snapshot
