#include "node-agent/agent/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "api/check_catalogue.h"
#include "api/readiness_policy.h"
#include "base/text.h"
#include "codec/decode.h"
#include "codec/encode.h"
#include "codec/yaml.h"
#include "host/live_host.h"
#include "host/tree_host.h"
#include "node-agent/agent/version.h"
#include "node-agent/checks/judge.h"
#include "node-agent/checks/observe.h"

namespace verl::agent {
namespace {

// The path of a field below spec that `given` has and `understood` lacks; empty when there is none.
std::string unknown_below(const nlohmann::json& given, const nlohmann::json& understood, const std::string& path) {
  if (given.is_object()) {
    for (const auto& [key, value] : given.items()) {
      const std::string at = path + "." + key;
      if (value.is_null() || value.empty()) continue;  // says nothing, so nothing of it is written back
      if (!understood.is_object() || !understood.contains(key)) return at;
      if (auto found = unknown_below(value, understood[key], at); !found.empty()) return found;
    }
  } else if (given.is_array() && understood.is_array() && given.size() == understood.size()) {
    for (size_t i = 0; i < given.size(); ++i) {
      if (auto found = unknown_below(given[i], understood[i], fmt::format("{}[{}]", path, i)); !found.empty()) return found;
    }
  }
  return {};
}

std::string first_unknown_field(const std::string& given, const std::string& understood) {
  const auto wrote = nlohmann::json::parse(given, nullptr, false);
  const auto read = nlohmann::json::parse(understood, nullptr, false);
  if (!wrote.is_object() || !read.is_object() || !wrote.contains("spec")) return "spec";
  return unknown_below(wrote["spec"], read.value("spec", nlohmann::json::object()), "spec");
}

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
  const auto documents = codec::yaml_documents_to_json(text);
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
  if (const auto unknown = first_unknown_field(documents->front(), codec::encode(*policy)); !unknown.empty()) {
    return failure(ErrorCode::Invalid, fmt::format("{}: unknown field {}", origin, escape_controls(unknown)));
  }
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

int exit_code(const std::vector<Finding>& findings, FailOn fail_on) {
  if (findings.empty()) return kExitFindings;
  const auto counts = [fail_on](const Finding& finding) {
    switch (finding.verdict) {
      case Verdict::Fail:
      case Verdict::Unknown: return true;
      case Verdict::Warn: return fail_on == FailOn::Warning;
      case Verdict::Pass:
      case Verdict::Skipped: return false;
    }
    return true;
  };
  return std::any_of(findings.begin(), findings.end(), counts) ? kExitFindings : kExitWell;
}

std::string print_checks() {
  std::string out;
  for (const api::CheckEntry& check : api::kChecks) {
    out += fmt::format("{:<20} {:<8} {:<6} {}\n", check.id, check.group, api::to_string(check.action), check.title);
  }
  return out;
}

}  // namespace verl::agent
