// What PyTorch reads: its switches and numbers are parsed strictly (torch/csrc/distributed/c10d/Utils.hpp).
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "diagnosis/nccl/linted.h"
#include "diagnosis/nccl/read_value.h"

namespace verl::nccl {
namespace {

using diagnosis::Finding;
using diagnosis::Findings;
using diagnosis::Severity;

std::optional<bool> read_switch(std::string_view text) {
  constexpr std::array<std::string_view, 5> kTrue{"y", "yes", "1", "t", "true"};
  constexpr std::array<std::string_view, 5> kFalse{"n", "no", "0", "f", "false"};
  const auto is = [&](std::string_view one) { return equal_ignoring_case(one, text); };
  if (std::any_of(kTrue.begin(), kTrue.end(), is)) return true;
  if (std::any_of(kFalse.begin(), kFalse.end(), is)) return false;
  return std::nullopt;
}

// std::stoi: leading blanks, a sign, decimal digits; the rest is left.
std::optional<std::int64_t> read_stoi(std::string_view text) {
  std::string_view digits = text.substr(std::min(text.find_first_not_of(" \t\n\v\f\r"), text.size()));
  const bool sign = digits.starts_with('-') || digits.starts_with('+');
  const size_t end = std::min(digits.find_first_not_of("0123456789", sign ? 1 : 0), digits.size());
  digits = digits.substr(digits.starts_with('+') ? 1 : 0, end - (digits.starts_with('+') ? 1 : 0));
  const auto number = parse_int<std::int32_t>(digits);
  return number ? std::optional<std::int64_t>{*number} : std::nullopt;
}

bool torch_reads(const Variable& variable) {
  return (variable.layer == Layer::PyTorch && (variable.name.starts_with("TORCH_NCCL_") || variable.name.starts_with("TORCH_FR_"))) || variable.layer == Layer::PyTorchLegacy;
}

void lint_text(const EffectiveSetting& setting, const Variable& variable, Findings& out) {
  const std::string_view text = meant_text(setting);
  if (variable.type == Type::Bool && !read_switch(text)) {
    out.push_back(about("NCCL503", setting, fmt::format("PyTorch throws at start: \"{}\" is no switch", escape_controls(text))));
  } else if (variable.type == Type::Int && !read_stoi(text)) {
    out.push_back(about("NCCL504", setting, fmt::format("PyTorch throws at start: \"{}\" does not begin with a number that fits", escape_controls(text))));
  }
}

// The first of these names that is set.
const EffectiveSetting* first_set(const Effective& environment, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (const EffectiveSetting* one = setting_named(environment, name)) return one;
  }
  return nullptr;
}

void lint_errors(const Effective& environment, Findings& out) {
  if (const EffectiveSetting* one = first_set(environment, {"TORCH_NCCL_ASYNC_ERROR_HANDLING", "NCCL_ASYNC_ERROR_HANDLING"})) {
    const auto mode = read_stoi(meant_text(*one));
    if (mode && *mode >= 0 && *mode <= 2) {
      constexpr std::array<std::string_view, 3> kWhat{"errors are not handled: a hang is never reported", "communicators are aborted, which may itself hang",
                                                      "communicators are cleaned up, which may itself hang"};
      constexpr std::array kGravity{Severity::Error, Severity::Info, Severity::Warning};
      Finding finding = about("NCCL505", *one, fmt::format("mode {}: {}; the default is 3", *mode, kWhat[static_cast<size_t>(*mode)]));
      finding.severity = kGravity[static_cast<size_t>(*mode)];
      finding.wanted = "3";
      out.push_back(std::move(finding));
    }
  }
  if (const EffectiveSetting* one = first_set(environment, {"TORCH_NCCL_BLOCKING_WAIT", "NCCL_BLOCKING_WAIT"}); one && read_switch(meant_text(*one)) == true) {
    out.push_back(about("NCCL506", *one, "wait() blocks the CPU until the collective has ended"));
  }
  if (const EffectiveSetting* one = setting_named(environment, "TORCH_DISTRIBUTED_DEBUG"); one && equal_ignoring_case(trim(meant_text(*one)), "DETAIL")) {
    out.push_back(about("NCCL507", *one, "every collective is preceded by one that compares the ranks"));
  }
}

void lint_recorder(const Effective& environment, Findings& out) {
  if (const EffectiveSetting* one = first_set(environment, {"TORCH_FR_BUFFER_SIZE", "TORCH_NCCL_TRACE_BUFFER_SIZE"}); one && read_stoi(meant_text(*one)) == 0) {
    out.push_back(about("NCCL508", *one, "the flight recorder keeps nothing"));
  }
  if (const EffectiveSetting* one = setting_named(environment, "TORCH_NCCL_DUMP_ON_TIMEOUT"); one && read_switch(meant_text(*one)) == false) {
    out.push_back(about("NCCL508", *one, "the flight recorder writes nothing after a timeout"));
  }
  constexpr std::array<std::string_view, 5> kLayer{"/tmp/", "/var/tmp/", "/root/", "/opt/", "/usr/"};
  if (const EffectiveSetting* one = first_set(environment, {"TORCH_FR_DUMP_TEMP_FILE", "TORCH_NCCL_DEBUG_INFO_TEMP_FILE"})) {
    const std::string_view path = meant_text(*one);
    const bool relative = !path.empty() && path.front() != '/';
    if (relative || std::any_of(kLayer.begin(), kLayer.end(), [&](std::string_view prefix) { return path.starts_with(prefix); })) {
      out.push_back(about("NCCL509", *one, fmt::format("{} lies in the container's own layer unless a volume is mounted there", escape_controls(path))));
    }
  }
  constexpr std::int64_t kOwn = 480;  // PyTorch's default, seconds
  if (const EffectiveSetting* one = setting_named(environment, "TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC")) {
    const auto seconds = read_stoi(meant_text(*one));
    if (seconds && *seconds < kOwn) out.push_back(about("NCCL510", *one, fmt::format("{} s are less than PyTorch's own {} s: the monitor may kill workers that are only slow", *seconds, kOwn)));
  }
}

// NCCL_COMM_BLOCKING overrides what PyTorch asks for; PyTorch goes on as it asked.
void lint_blocking(const Linted& linted, Findings& out) {
  const EffectiveSetting* blocking = setting_named(linted.environment, "NCCL_COMM_BLOCKING");
  if (!blocking) return;
  const auto value = number_of(meant_text(*blocking));
  if (!value || *value < 0 || *value > 1) return;
  const auto nonblocking = value_of(linted.environment, "TORCH_NCCL_USE_COMM_NONBLOCKING");
  const bool asked = nonblocking && read_switch(*nonblocking).value_or(false);
  if ((*value == 0) == asked) return;
  Finding finding = about("NCCL515", *blocking, fmt::format("NCCL is {}blocking and PyTorch {}", *value == 0 ? "non-" : "", asked ? "asked for non-blocking" : "expects it to be blocking"));
  if (const EffectiveSetting* other = setting_named(linted.environment, "TORCH_NCCL_USE_COMM_NONBLOCKING")) finding.evidence.push_back(evidence_of(*other));
  out.push_back(std::move(finding));
}

}  // namespace

void lint_torch(const Linted& linted, Findings& out) {
  for (const EffectiveSetting& setting : linted.environment.settings) {
    const Variable* variable = variable_named(setting.setting.name);
    if (variable && torch_reads(*variable)) lint_text(setting, *variable, out);
  }
  lint_errors(linted.environment, out);
  lint_recorder(linted.environment, out);
  lint_blocking(linted, out);
}

}  // namespace verl::nccl
