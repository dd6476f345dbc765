// The narrow pod template: what a user may add to the pods of a pool. It is an allow-list; everything else is refused by
// name, because a field that is accepted and ignored, or one that undoes what the operator relies on, costs hours.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/verl_job.h"

namespace verl::core {

// One sentence per fault with the field's path below `field` ("spec.pools[0].template"). `allowed_host_paths` are prefixes
// from the policy; none by default. Text that is no JSON object is a fault too.
std::vector<std::string> template_problems(std::string_view template_json, std::string_view field,
                                           const std::vector<std::string>& allowed_host_paths);

// What the template itself asks for container `ray`, in thousandths; absent when it does not say.
struct TemplateResources {
  std::optional<std::int64_t> cpu{};
  std::optional<std::int64_t> memory{};
  bool operator==(const TemplateResources&) const = default;
};
TemplateResources template_resources(std::string_view template_json);

}  // namespace verl::core
