// Readiness policies that the chart brings as files: each is created once; from then on it belongs to whoever edits it.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "kube/protocol/http.h"

namespace verl::controller {

// True when every one exists. `texts` are YAML documents of kind ReadinessPolicy, each with the file it came from.
bool create_presets(kube::Api& api, const std::vector<std::pair<std::string, std::string>>& texts,
                    const std::function<void(std::string_view)>& log, const std::stop_token& stop);

}  // namespace verl::controller
