#include "node-agent/agent/check.h"

#include <fmt/format.h>

#include "api/check_catalogue.h"
#include "api/readiness_policy.h"
#include "base/text.h"
#include "codec/decode.h"
#include "codec/unknown_fields.h"
#include "yaml/yaml.h"
#include "host/live_host.h"
#include "host/tree_host.h"
#include "node-agent/agent/version.h"
#include "node-agent/checks/judge.h"
#include "node-agent/checks/observe.h"

namespace verl::agent {
namespace {

Result<bool> is_recorded(const std::string& root) {
  const auto files = host::FileRoot::open(root);
  if (!files) return tl::unexpected(files.error());
  return files->exists("/proc/verl-host.json");
}

}  // namespace

Result<std::unique_ptr<host::Host>> open_host(const std::string& root) {
  const auto recorded = is_recorded(root);
  if (!recorded) return tl::unexpected(recorded.error());
  return *recorded ? host::tree_host(root) : host::live_host({.root = root});
}

Result<std::shared_ptr<const host::Host>> HostSource::open() {
  if (live_) return live_;
  const auto recorded = is_recorded(root_);
  if (!recorded) return tl::unexpected(recorded.error());
  auto host = *recorded ? host::tree_host(root_) : host::live_host({.root = root_});
  if (!host) return tl::unexpected(host.error());
  std::shared_ptr<const host::Host> shared = std::move(*host);
  if (!*recorded) live_ = shared;
  return shared;
}

Result<api::Expectations> policy_expectations(std::string_view text, const std::string& origin) {
  const auto documents = yaml_documents_to_json(text);
  if (!documents) return tl::unexpected(context(origin)(documents.error()));
  if (documents->size() != 1) {
    return failure(ErrorCode::Invalid, fmt::format("{}: holds {} documents, wanted one ReadinessPolicy", origin, documents->size()));
  }
  auto policy = codec::decode_object<api::ReadinessPolicy>(documents->front());
  if (!policy) return tl::unexpected(context(origin)(policy.error()));
  if (!policy->unreadable.empty()) {
    return failure(ErrorCode::Invalid, fmt::format("{}: {}", origin, join_some(policy->unreadable, 4)));
  }
  for (const api::CheckRule& rule : policy->spec.expectations.checks) {
    if (api::find_check(rule.id) != nullptr) continue;
    return failure(ErrorCode::Invalid, fmt::format("{}: spec.expectations.checks: there is no check \"{}\"; verl-node-agent checks lists them",
                                                   origin, escape_controls(rule.id)));
  }
  // What is read must say everything that was written: a misspelt threshold would otherwise never be judged.
  const auto unknown = codec::unknown_fields<api::ReadinessPolicy>(documents->front());
  if (!unknown) return tl::unexpected(context(origin)(unknown.error()));
  if (!unknown->empty()) return failure(ErrorCode::Invalid, fmt::format("{}: unknown field{}: {}", origin, unknown->size() == 1 ? "" : "s", join_some(*unknown, 4)));
  return policy->spec.expectations;
}

api::NodeReadiness check_node(const host::Host& host, const api::Expectations& expectations, const std::string& node_name) {
  const Observation observation = observe(host);
  api::NodeReadiness report;
  report.meta.name = node_name;
  report.spec.expectations = expectations;
  report.status = status_of({.observation = observation, .spec = report.spec, .before = nullptr});
  report.status.agent_version = kVersion;
  report.status.observed_at = host.now();
  return report;
}

std::string print_checks() {
  std::string out;
  for (const api::CheckEntry& check : api::kChecks) {
    out += fmt::format("{:<20} {:<8} {:<6} {}\n", check.id, check.group, api::to_string(check.action), check.title);
  }
  return out;
}

}  // namespace verl::agent
