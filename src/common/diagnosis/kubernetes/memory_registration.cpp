#include "diagnosis/kubernetes/memory_registration.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/text.h"

namespace verl::kubernetes {
namespace {

constexpr std::int64_t kUnlimited = -1;
constexpr std::int64_t kFewGibibytes = std::int64_t{64} << 30;  // registrations of one job: buffers of all its channels
constexpr double kLowShare = 0.05;                              // of the memory left free: pinning has to move pages first

double gibibytes(std::int64_t bytes) { return static_cast<double>(bytes) / (1 << 30); }

RankedCause locked(const MemoryState& state) {
  RankedCause out;
  out.cause = RegistrationCause::LockedMemoryLimit;
  if (!state.memlock_bytes) {
    out.why = "the limit of locked memory is not known (ulimit -l in the container)";
  } else if (*state.memlock_bytes == kUnlimited) {
    out.why = "the limit of locked memory is unlimited, so it is unlikely";
  } else {
    out.supported = *state.memlock_bytes < kFewGibibytes;
    out.why = fmt::format("the limit of locked memory is {} KiB", *state.memlock_bytes / 1024);
  }
  return out;
}

RankedCause low_memory(const MemoryState& state) {
  RankedCause out;
  out.cause = RegistrationCause::LowFreeMemory;
  if (!state.free_bytes || !state.total_bytes || *state.total_bytes <= 0) {
    out.why = "free memory is not known (/proc/meminfo)";
    return out;
  }
  out.supported = static_cast<double>(*state.free_bytes) < kLowShare * static_cast<double>(*state.total_bytes);
  out.why = fmt::format("{:.1f} GiB free of {:.0f} GiB", gibibytes(*state.free_bytes), gibibytes(*state.total_bytes));
  if (state.cma_free_bytes && state.cma_total_bytes && *state.cma_total_bytes > 0) {
    out.why += fmt::format(", of which {:.1f} GiB in CMA pages, which cannot be pinned for long", gibibytes(*state.cma_free_bytes));
  }
  return out;
}

}  // namespace

MemoryState memory_state(std::string_view meminfo, std::optional<std::int64_t> memlock_bytes) {
  MemoryState out;
  out.memlock_bytes = memlock_bytes;
  for (const std::string_view line : split(meminfo, '\n')) {
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view name = trim(line.substr(0, colon));
    const std::vector<std::string_view> words = split_whitespace(line.substr(colon + 1));
    const auto kibibytes = words.empty() ? std::nullopt : parse_int(words[0]);
    if (!kibibytes || *kibibytes < 0 || *kibibytes > std::numeric_limits<std::int64_t>::max() / 1024) continue;
    if (name == "MemTotal") out.total_bytes = *kibibytes * 1024;
    if (name == "MemFree") out.free_bytes = *kibibytes * 1024;
    if (name == "CmaTotal") out.cma_total_bytes = *kibibytes * 1024;
    if (name == "CmaFree") out.cma_free_bytes = *kibibytes * 1024;
  }
  return out;
}

std::vector<RankedCause> registration_causes(const MemoryState& state) {
  RankedCause device;
  device.cause = RegistrationCause::DeviceLimits;
  device.why = "the device may be out of memory regions or queues";
  std::vector<RankedCause> all{locked(state), low_memory(state), device};
  const bool unlimited = state.memlock_bytes && *state.memlock_bytes == kUnlimited;
  std::stable_sort(all.begin(), all.end(), [&](const RankedCause& a, const RankedCause& b) {
    const auto rank = [&](const RankedCause& one) { return one.supported ? 0 : unlimited && one.cause == RegistrationCause::LockedMemoryLimit ? 2 : 1; };
    return rank(a) < rank(b);
  });
  return all;
}

}  // namespace verl::kubernetes
