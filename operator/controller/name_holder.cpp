#include "operator/controller/name_holder.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "operator/core/json_at.h"

namespace verl::controller {
namespace {

using core::json_at;
using nlohmann::json;

bool says(const json& object, const char* field, std::string_view wanted) {
  const json* found = json_at(object, {field});
  return found != nullptr && found->is_string() && found->get_ref<const std::string&>() == wanted;
}

}  // namespace

NameHolder judge_holder(std::string_view pod, const api::VerlJob& job) {
  const json object = json::parse(pod, nullptr, false);
  const json* metadata = json_at(object, {"metadata"});
  if (metadata == nullptr || !metadata->is_object()) return NameHolder::Unknown;
  const json* owners = json_at(*metadata, {"ownerReferences"});
  const auto any = [&](const auto& wanted) { return owners != nullptr && owners->is_array() && std::any_of(owners->begin(), owners->end(), wanted); };
  if (any([&](const json& owner) { return says(owner, "uid", job.meta.uid); })) return NameHolder::Ours;
  const json* deleted = json_at(*metadata, {"deletionTimestamp"});
  if (deleted != nullptr && !deleted->is_null()) return NameHolder::Leaving;
  if (any([&](const json& owner) { return says(owner, "kind", "VerlJob") && says(owner, "name", job.meta.name); })) return NameHolder::Leaving;
  return NameHolder::Stranger;
}

core::DryRun name_taken(std::int64_t job_generation, std::string_view name_space, const std::string& pool, std::string_view pod, Timestamp asked) {
  return {.job_generation = job_generation,
          .asked = asked,
          .pool = pool,
          .refusal_reason = "PodNameTaken",
          .refusal_message = fmt::format("pod {0}/{1} exists and does not belong to this job, which needs its name: kubectl delete pod -n {0} {1}, "
                                         "or give the job another name",
                                         name_space, pod)};
}

}  // namespace verl::controller
