// Settings that do what they say and cost bandwidth, evidence or safety in production.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "base/broken_invariant.h"
#include "base/text.h"
#include "diagnosis/nccl/algorithm_list.h"
#include "diagnosis/nccl/gpu_kind.h"
#include "diagnosis/nccl/linted.h"
#include "diagnosis/nccl/read_value.h"
#include "diagnosis/rule.h"

namespace verl::nccl {
namespace {

using diagnosis::Finding;
using diagnosis::Findings;
using diagnosis::Severity;

// Vendors' images and plugins set these on purpose (aws-ofi-nccl src/platform-aws.cpp, GKE manifests).
bool set_by_platform(const diagnosis::Policy& policy, std::string_view name) {
  constexpr std::array<std::string_view, 9> kNames{"NCCL_ALGO",        "NCCL_PROTO",     "NCCL_BUFFSIZE",           "NCCL_CROSS_NIC",      "NCCL_TOPO_FILE",
                                                   "NCCL_NVLS_ENABLE", "NCCL_MAX_CTAS", "NCCL_P2P_NET_CHUNKSIZE", "NCCL_MAX_NCHANNELS"};
  return !policy.platform.empty() && std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

struct VerlSetting {
  std::string_view name{};
  std::string_view value{};
};

// As verl and its recipes set them (verl/trainer/constants_ppo.py, examples).
constexpr std::array kByVerl{VerlSetting{"NCCL_NVLS_ENABLE", "1"}, VerlSetting{"NCCL_CUMEM_ENABLE", "1"}};

bool set_by_verl(const EffectiveSetting& setting) {
  return std::any_of(kByVerl.begin(), kByVerl.end(), [&](const VerlSetting& one) { return one.name == setting.setting.name && one.value == setting.setting.value; });
}

// Integer variables where one kind of number is what the rule is about.
enum class When { One, Zero, NotZero };

struct NumberRule {
  std::string_view id{};
  std::string_view name{};
  When when{When::One};
  std::string_view message{};
};

constexpr std::array kNumbers{
    NumberRule{"NCCL209", "NCCL_GDR_FLUSH_DISABLE", When::NotZero, "the flush after GPUDirect writes is off: data may be read before it has arrived"},
    NumberRule{"NCCL210", "NCCL_CHECK_POINTERS", When::One, "every call checks its pointers"},
    NumberRule{"NCCL212", "NCCL_IGNORE_DISABLED_P2P", When::NotZero, "faults of NVLink, ACS or NVML are not reported"},
    NumberRule{"NCCL213", "CUDA_LAUNCH_BLOCKING", When::NotZero, "every launch waits for its end: slow, and ranks can deadlock"},
    NumberRule{"NCCL215", "NCCL_PXN_DISABLE", When::NotZero, "GPUs no longer send through the NIC of a neighbour: all-to-all crosses rails"},
    NumberRule{"NCCL218", "NCCL_SHM_DISABLE", When::One, "GPUs of one node without P2P talk over the network"},
    NumberRule{"NCCL220", "NCCL_IB_RETURN_ASYNC_EVENTS", When::Zero, "port errors are not reported"},
};

bool holds(When when, std::int64_t number) {
  switch (when) {
    case When::One: return number == 1;
    case When::Zero: return number == 0;
    case When::NotZero: return number != 0;
  }
  return false;
}

void lint_numbers(const Linted& linted, Findings& out) {
  for (const NumberRule& rule : kNumbers) {
    const EffectiveSetting* setting = setting_named(linted.environment, rule.name);
    const auto number = setting ? number_of(meant_text(*setting)) : std::nullopt;
    if (number && holds(rule.when, *number)) out.push_back(about(rule.id, *setting, fmt::format("{}={}: {}", rule.name, *number, rule.message)));
  }
}

void lint_pinned(const Linted& linted, Findings& out) {
  for (const std::string_view name : {"NCCL_ALGO", "NCCL_PROTO"}) {
    const EffectiveSetting* setting = setting_named(linted.environment, name);
    if (!setting || meant_text(*setting).empty()) continue;
    const std::string_view text = meant_text(*setting);
    if (read_algorithms(name, text, linted.version).forces_ll128) {
      out.push_back(about("NCCL203", *setting, fmt::format("NCCL_PROTO={} switches LL128 on without the check of the hardware", escape_controls(text))));
    } else if (!set_by_platform(linted.policy, name)) {
      out.push_back(about("NCCL202", *setting, fmt::format("{} is pinned to {}: the tuner cannot choose", name, escape_controls(text))));
    }
  }
}

bool is_verbose(std::string_view level) { return equal_ignoring_case(level, "INFO") || equal_ignoring_case(level, "TRACE"); }

void lint_logging(const Linted& linted, Findings& out) {
  const Effective& environment = linted.environment;
  const EffectiveSetting* level = setting_named(environment, "NCCL_DEBUG");
  const bool verbose = level && is_verbose(trim(meant_text(*level)));
  if (verbose) out.push_back(about("NCCL204", *level, fmt::format("NCCL_DEBUG={}: every rank writes its whole start and more", trim(meant_text(*level)))));
  if (const EffectiveSetting* subsystems = setting_named(environment, "NCCL_DEBUG_SUBSYS"); subsystems && !meant_text(*subsystems).starts_with('^')) {
    for (const std::string_view word : split(meant_text(*subsystems), ',')) {
      constexpr std::array<std::string_view, 4> kEachOperation{"COLL", "CALL", "PROXY", "ALL"};
      if (std::none_of(kEachOperation.begin(), kEachOperation.end(), [&](std::string_view one) { return equal_ignoring_case(one, trim(word)); })) continue;
      Finding finding = about("NCCL204", *subsystems, fmt::format("the subsystem {} writes for every operation{}", trim(word), verbose ? "" : ", once NCCL_DEBUG is INFO"));
      if (!verbose) finding.severity = Severity::Info;
      out.push_back(std::move(finding));
      break;
    }
  }
  const bool own = std::any_of(environment.settings.begin(), environment.settings.end(), [](const EffectiveSetting& one) {
    const Variable* variable = variable_named(one.setting.name);
    return variable && of_libnccl(*variable) && variable->name.starts_with("NCCL_");
  });
  if (!level && own) out.push_back(diagnosis::finding_of("NCCL205", "NCCL_DEBUG"));
}

void lint_debug_file(const Linted& linted, Findings& out) {
  constexpr std::array<std::string_view, 12> kShared{"/mnt/", "/nfs", "/lustre", "/gpfs", "/shared", "/home/", "/scratch", "/efs", "/fsx", "/data/", "/workspace", "/vast"};
  const EffectiveSetting* setting = setting_named(linted.environment, "NCCL_DEBUG_FILE");
  if (!setting || meant_text(*setting).empty()) return;
  const std::string_view path = meant_text(*setting);
  if (path.starts_with("/dev/")) return;
  const bool process = path.find("%p") != std::string_view::npos;
  const bool host = path.find("%h") != std::string_view::npos;
  const bool shared = std::any_of(kShared.begin(), kShared.end(), [&](std::string_view prefix) { return path.starts_with(prefix); });
  if (process && (host || !shared)) return;
  Finding finding = about("NCCL206", *setting, process ? fmt::format("{} has no %h: if the folder is shared, processes of two nodes overwrite each other", escape_controls(path))
                                                       : fmt::format("{} has no %p: the ranks of a node overwrite each other's log", escape_controls(path)));
  finding.wanted = process ? "%h and %p in the name" : "%p in the name";
  if (process) finding.severity = Severity::Warning;
  out.push_back(std::move(finding));
}

void lint_channels(const Linted& linted, Findings& out) {
  constexpr std::int64_t kFew = 16;
  if (linted.node.topology.nvswitch != true) return;
  for (const std::string_view name : {"NCCL_MAX_CTAS", "NCCL_MAX_NCHANNELS"}) {
    const EffectiveSetting* setting = setting_named(linted.environment, name);
    const auto number = setting ? number_of(meant_text(*setting)) : std::nullopt;
    if (!number || *number < 1 || *number >= kFew || set_by_platform(linted.policy, name)) continue;
    out.push_back(about("NCCL207", *setting, fmt::format("{} channels do not fill NVSwitch; below {} bandwidth is lost", *number, kFew)));
  }
}

void lint_buffers(const Linted& linted, Findings& out) {
  constexpr std::int64_t kSmall = 64 * 1024;
  const EffectiveSetting* setting = setting_named(linted.environment, "NCCL_BUFFSIZE");
  const auto number = setting ? number_of(meant_text(*setting)) : std::nullopt;
  if (number && (*number < kSmall || !std::has_single_bit(static_cast<std::uint64_t>(*number)))) {
    out.push_back(about("NCCL208", *setting, fmt::format("{} bytes are {}", *number, *number < kSmall ? "less than 64 KiB" : "no power of two")));
  }
  for (const std::string_view name : {"NCCL_SOCKET_RCVBUF", "NCCL_SOCKET_SNDBUF"}) {
    const EffectiveSetting* socket = setting_named(linted.environment, name);
    const auto size = socket ? number_of(meant_text(*socket)) : std::nullopt;
    if (size && *size >= 0) out.push_back(about("NCCL222", *socket, fmt::format("{} fixes the buffer at {} bytes", name, *size)));
  }
}

void lint_checks_and_files(const Linted& linted, Findings& out) {
  const EffectiveSetting* mode = setting_named(linted.environment, "NCCL_CHECK_MODE");
  if (mode && !meant_text(*mode).empty() && !equal_ignoring_case(meant_text(*mode), "DEFAULT")) {
    out.push_back(about("NCCL210", *mode, fmt::format("NCCL_CHECK_MODE={}: every call is checked", escape_controls(meant_text(*mode)))));
  }
  for (const std::string_view name : {"NCCL_GRAPH_FILE", "NCCL_GRAPH_DUMP_FILE", "NCCL_TOPO_DUMP_FILE"}) {
    const EffectiveSetting* file = setting_named(linted.environment, name);
    if (file && !meant_text(*file).empty()) out.push_back(about("NCCL214", *file, fmt::format("{} is for debugging", name)));
  }
  const EffectiveSetting* service = setting_named(linted.environment, "NCCL_RAS_ADDR");
  if (!service || meant_text(*service).empty()) return;
  const std::string_view address = meant_text(*service);
  const bool local = address.starts_with(':') || address.starts_with("localhost") || address.starts_with("127.") || address.starts_with("[::1]");
  if (!local) out.push_back(about("NCCL211", *service, fmt::format("{} is not loopback: anybody there can ask the service", escape_controls(address))));
}

bool is_rollout(std::string_view origin) {
  constexpr std::array<std::string_view, 4> kWords{"rollout", "vllm", "sglang", "generation"};
  return std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) { return origin.find(word) != std::string_view::npos; });
}

void lint_features(const Linted& linted, Findings& out) {
  const Effective& environment = linted.environment;
  if (is_number(environment, "NCCL_CUMEM_ENABLE", 0) && !is_rollout(environment.origin)) {
    out.push_back(about("NCCL216", *setting_named(environment, "NCCL_CUMEM_ENABLE"), "without cuMem there is no multi-node NVLink, no NVLS registration and no window"));
  }
  const Generation generation = generation_of(linted.node.topology);
  const bool multicast = linted.node.topology.nvswitch == true && (generation == Generation::Hopper || generation == Generation::Blackwell);
  if (multicast && is_number(environment, "NCCL_NVLS_ENABLE", 0) && !set_by_platform(linted.policy, "NCCL_NVLS_ENABLE")) {
    out.push_back(about("NCCL217", *setting_named(environment, "NCCL_NVLS_ENABLE"), "NVLS is off on GPUs with NVSwitch: all-reduce loses bandwidth"));
  }
  const bool preflight = environment.origin.find("preflight") != std::string::npos;
  if (preflight && linted.version && *linted.version >= version(2, 30) && !is_number(environment, "NCCL_IGNORE_NET_MISMATCH", 0)) {
    out.push_back(diagnosis::finding_of("NCCL221", "NCCL_IGNORE_NET_MISMATCH"));
  }
}

// 4.096 us * 2^timeout * retries (InfiniBand specification), against half of PyTorch's 10 minutes for a collective.
void lint_wait(const Linted& linted, Findings& out) {
  constexpr double kHalf = 300;
  const EffectiveSetting* timeout = setting_named(linted.environment, "NCCL_IB_TIMEOUT");
  const EffectiveSetting* retries = setting_named(linted.environment, "NCCL_IB_RETRY_CNT");
  if (!timeout && !retries) return;
  const auto number = [&](std::string_view name, std::int64_t standard) { return number_of(value_of(linted.environment, name)).value_or(standard); };
  const std::int64_t exponent = number("NCCL_IB_TIMEOUT", 20);
  const std::int64_t count = number("NCCL_IB_RETRY_CNT", 7);
  if (exponent < 1 || exponent > 31 || count < 1 || count > 7) return;
  const double seconds = std::ldexp(4.096e-6, static_cast<int>(exponent)) * static_cast<double>(count);
  if (seconds < kHalf) return;
  out.push_back(about("NCCL219", timeout ? *timeout : *retries,
                      fmt::format("timeout {} and {} retries wait {:.0f} s for a lost peer; the framework gives up after 600 s", exponent, count, seconds)));
}

void lint_debugging(const Linted& linted, size_t before, Findings& out) {
  for (const EffectiveSetting& setting : linted.environment.settings) {
    const Variable* variable = variable_named(setting.setting.name);
    if (!variable || variable->section != Section::Debugging || variable->status == Status::Removed || says_the_default(*variable, meant_text(setting), linted.version)) continue;
    const bool said = std::any_of(out.begin() + static_cast<std::ptrdiff_t>(before), out.end(), [&](const Finding& one) { return one.subject == variable->name; });
    if (said || set_by_platform(linted.policy, variable->name)) continue;
    Finding finding = about("NCCL201", setting, fmt::format("{} is meant for debugging and as a temporary workaround", variable->name));
    if (set_by_verl(setting)) {
      finding.severity = Severity::Info;
      finding.message = fmt::format("{}={} is a debugging setting that verl's recipes make", variable->name, setting.setting.value);
    }
    out.push_back(std::move(finding));
  }
}

}  // namespace

void lint_hygiene(const Linted& linted, Findings& out) {
  const size_t before = out.size();
  lint_numbers(linted, out);
  lint_pinned(linted, out);
  lint_logging(linted, out);
  lint_debug_file(linted, out);
  lint_channels(linted, out);
  lint_buffers(linted, out);
  lint_checks_and_files(linted, out);
  lint_features(linted, out);
  lint_wait(linted, out);
  lint_debugging(linted, before, out);
}

}  // namespace verl::nccl
