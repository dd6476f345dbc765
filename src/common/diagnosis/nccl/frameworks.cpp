// Ray, verl and the plugins around NCCL, and what the environments of one node say together.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "diagnosis/nccl/gpu_kind.h"
#include "diagnosis/nccl/linted.h"
#include "diagnosis/nccl/read_value.h"
#include "diagnosis/rdma/address.h"
#include "diagnosis/rule.h"

namespace verl::nccl {
namespace {

using diagnosis::Finding;
using diagnosis::Findings;
using diagnosis::Severity;

bool is_text(EnvironmentKind kind) { return kind == EnvironmentKind::PodSpec || kind == EnvironmentKind::VerlJob; }

bool loopback(std::string_view host) {
  if (host == "localhost" || host.starts_with("localhost.")) return true;
  const auto address = rdma::parse_address(host);
  return address && rdma::is_loopback(*address);
}

void lint_rendezvous(const Linted& linted, Findings& out) {
  if (const EffectiveSetting* one = setting_named(linted.environment, "NCCL_COMM_ID"); one && !one->setting.value.empty()) {
    out.push_back(about("NCCL502", *one, "every communicator of the job would meet at this one address"));
  }
  const EffectiveSetting* master = setting_named(linted.environment, "MASTER_ADDR");
  if (master && linted.policy.multi_node != false && loopback(meant_text(*master))) {
    out.push_back(about("NCCL523", *master, fmt::format("{} is every node's own: ranks of other nodes do not meet there", escape_controls(meant_text(*master)))));
  }
}

void lint_connections(const Linted& linted, Findings& out) {
  const EffectiveSetting* setting = setting_named(linted.environment, "CUDA_DEVICE_MAX_CONNECTIONS");
  const auto number = setting ? number_of(meant_text(*setting)) : std::nullopt;
  if (!number) return;
  const std::string_view origin = linted.environment.origin;
  const Generation generation = generation_of(linted.node.topology);
  const bool serial = *number == 1;
  std::string message;
  if (serial && generation == Generation::Blackwell) message = "1 costs overlap on Blackwell";
  if (serial && origin.find("fsdp") != std::string_view::npos) message = "1 costs FSDP its overlap";
  const bool needs_one = generation == Generation::Ampere || generation == Generation::Hopper;
  if (!serial && needs_one && origin.find("megatron") != std::string_view::npos) {
    message = fmt::format("{} breaks the order of launches that Megatron relies on with this GPU", *number);
  }
  if (!message.empty()) out.push_back(about("NCCL516", *setting, std::move(message)));
}

void lint_overwritten(const Linted& linted, Findings& out) {
  if (!is_text(linted.environment.kind) || linted.environment.origin.find("sglang") == std::string::npos) return;
  for (const std::string_view name : {"NCCL_NVLS_ENABLE", "NCCL_CUMEM_ENABLE", "CUDA_DEVICE_MAX_CONNECTIONS"}) {
    if (const EffectiveSetting* one = setting_named(linted.environment, name)) out.push_back(about("NCCL520", *one, "the engine overwrites it in the process"));
  }
}

void lint_dedup(const Linted& linted, Findings& out) {
  const EffectiveSetting* dedup = setting_named(linted.environment, "RAY_DEDUP_LOGS");
  const auto level = value_of(linted.environment, "NCCL_DEBUG").value_or("");
  const bool verbose = equal_ignoring_case(level, "INFO") || equal_ignoring_case(level, "TRACE");
  if (dedup && verbose && dedup->setting.value != "0") out.push_back(about("NCCL522", *dedup, "Ray folds equal lines, so NCCL's lines of several ranks become one"));
}

void lint_aws(const Linted& linted, Findings& out) {
  for (const std::string_view name : {"OFI_NCCL_PROTOCOL", "OFI_NCCL_TUNER_TYPE"}) {
    const EffectiveSetting* setting = setting_named(linted.environment, name);
    if (!setting) continue;
    const auto words = split(variable_named(name)->tokens, '|');
    if (std::any_of(words.begin(), words.end(), [&](std::string_view word) { return equal_ignoring_case(word, meant_text(*setting)); })) continue;
    Finding finding = about("NCCL524", *setting, fmt::format("the plugin does not know \"{}\" and fails to initialise", escape_controls(meant_text(*setting))));
    finding.wanted = fmt::format("{}", fmt::join(words, ", "));
    out.push_back(std::move(finding));
  }
  const EffectiveSetting* check = setting_named(linted.environment, "OFI_NCCL_DISABLE_GDR_REQUIRED_CHECK");
  if (check && (meant_text(*check) == "1" || equal_ignoring_case(meant_text(*check), "true"))) {
    out.push_back(about("NCCL525", *check, "an instance that has GPUDirect may run without it, and nobody says so"));
  }
}

bool deterministic(const Effective& environment) {
  return equal_ignoring_case(value_of(environment, "NCCL_ALGO").value_or(""), "Ring") && equal_ignoring_case(value_of(environment, "NCCL_PROTO").value_or(""), "Simple");
}

// Processes of a node; texts of pods and jobs say what was wanted, not what is.
std::vector<const Effective*> processes(const std::vector<Effective>& all) {
  std::vector<const Effective*> found;
  for (const Effective& one : all) {
    if (one.kind == EnvironmentKind::Process || one.kind == EnvironmentKind::EnvFile) found.push_back(&one);
  }
  return found;
}

void lint_determinism(const std::vector<Effective>& all, Findings& out) {
  const auto own = processes(all);
  const auto count = std::count_if(own.begin(), own.end(), [](const Effective* one) { return deterministic(*one); });
  if (count == 0) return;
  const Effective& first = **std::find_if(own.begin(), own.end(), [](const Effective* one) { return deterministic(*one); });
  const bool everywhere = static_cast<size_t>(count) == own.size();
  Finding finding = about("NCCL518", *setting_named(first, "NCCL_ALGO"),
                          everywhere ? std::string("Ring with Simple is deterministic and slower")
                                     : fmt::format("{} of {} processes have Ring with Simple: ranks that choose differently hang", count, own.size()));
  if (everywhere) finding.severity = Severity::Info;
  out.push_back(std::move(finding));
}

bool is_rollout(const Effective& environment) {
  return environment.origin.find("rollout") != std::string::npos || environment.origin.find("sglang") != std::string::npos || environment.origin.find("vllm") != std::string::npos;
}

void lint_cumem(const std::vector<Effective>& all, Findings& out) {
  const auto rollout = std::find_if(all.begin(), all.end(), [](const Effective& one) { return is_rollout(one) && setting_named(one, "NCCL_CUMEM_ENABLE"); });
  if (rollout == all.end()) return;
  const EffectiveSetting& there = *setting_named(*rollout, "NCCL_CUMEM_ENABLE");
  for (const Effective& trainer : all) {
    if (is_rollout(trainer) || value_of(trainer, "NCCL_CUMEM_ENABLE").value_or("1") == there.setting.value) continue;
    out.push_back(about("NCCL517", there, fmt::format("{} has {}, {} {}", rollout->origin, there.setting.value, trainer.origin.empty() ? "the trainer" : trainer.origin,
                                                      value_of(trainer, "NCCL_CUMEM_ENABLE").value_or("the default"))));
    return;
  }
}

void lint_masters(const std::vector<Effective>& all, Findings& out) {
  const EffectiveSetting* first = nullptr;
  for (const Effective& one : all) {
    const EffectiveSetting* master = setting_named(one, "MASTER_ADDR");
    if (!master) continue;
    if (!first) first = master;
    if (master->setting.value == first->setting.value) continue;
    Finding finding = about("NCCL523", *master, fmt::format("processes of one node have {} and {}: they do not meet", escape_controls(first->setting.value), escape_controls(master->setting.value)));
    finding.evidence.push_back(evidence_of(*first));
    out.push_back(std::move(finding));
    return;
  }
}

void lint_level(const std::vector<Effective>& all, Findings& out) {
  const auto wanted = std::find_if(all.begin(), all.end(), [](const Effective& one) { return is_text(one.kind) && setting_named(one, "NCCL_DEBUG"); });
  if (wanted == all.end()) return;
  const EffectiveSetting& request = *setting_named(*wanted, "NCCL_DEBUG");
  for (const Effective& one : all) {
    const EffectiveSetting* own = one.kind == EnvironmentKind::Process ? setting_named(one, "NCCL_DEBUG") : nullptr;
    if (!own || equal_ignoring_case(own->setting.value, request.setting.value)) continue;
    Finding finding = about("NCCL519", *own, fmt::format("{} was asked for, the process has {}", escape_controls(request.setting.value), escape_controls(own->setting.value)));
    finding.evidence.push_back(evidence_of(request));
    out.push_back(std::move(finding));
    return;
  }
}

}  // namespace

void lint_frameworks(const Linted& linted, Findings& out) {
  lint_rendezvous(linted, out);
  lint_connections(linted, out);
  lint_overwritten(linted, out);
  lint_dedup(linted, out);
  lint_aws(linted, out);
}

void lint_environments(const std::vector<Effective>& all, Findings& out) {
  const bool text_only = !all.empty() && std::all_of(all.begin(), all.end(), [](const Effective& one) { return is_text(one.kind); });
  if (text_only) out.push_back(diagnosis::finding_of("NCCL501", "environment"));
  lint_determinism(all, out);
  lint_cumem(all, out);
  lint_masters(all, out);
  lint_level(all, out);
}

}  // namespace verl::nccl
