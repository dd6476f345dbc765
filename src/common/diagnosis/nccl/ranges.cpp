// Numbers that are read well and mean nothing, or something else.
#include <fmt/format.h>

#include <algorithm>

#include "diagnosis/nccl/linted.h"
#include "diagnosis/nccl/read_value.h"

namespace verl::nccl {
namespace {

using diagnosis::Finding;
using diagnosis::Findings;

// The number NCCL uses for it; nothing when it is not set or the default.
std::optional<std::int64_t> number_in(const Linted& linted, std::string_view name) { return number_of(value_of(linted.environment, name)); }

void say(const Linted& linted, std::string_view id, std::string_view name, std::string message, std::string wanted, Findings& out) {
  Finding finding = about(id, *setting_named(linted.environment, name), std::move(message));
  finding.wanted = std::move(wanted);
  out.push_back(std::move(finding));
}

void lint_traffic_class(const Linted& linted, Findings& out) {
  const auto value = number_in(linted, "NCCL_IB_TC");
  const auto dscp = linted.node.nccl.host.lossless_dscp;
  if (!value || !dscp || *value < 1 || *value > 63 || *value != *dscp) return;
  say(linted, "NCCL024", "NCCL_IB_TC", fmt::format("{} is the DSCP of the lossless queue; as a traffic class it is DSCP {}", *value, *value >> 2),
      std::to_string(*dscp * 4 + 2), out);
}

void lint_partition(const Linted& linted, Findings& out) {
  constexpr std::int64_t kFullMember = 0x7fff;  // keys begin here; tables are short
  const auto value = number_in(linted, "NCCL_IB_PKEY");
  if (!value) return;
  if (*value >= kFullMember) {
    say(linted, "NCCL025", "NCCL_IB_PKEY", fmt::format("{} (0x{:x}) is a key; NCCL takes it for an index and ibv_modify_qp fails", *value, *value), "an index", out);
    return;
  }
  for (const auto& [port, keys] : linted.node.nccl.host.partitions) {
    if (*value < static_cast<std::int64_t>(keys.size())) continue;
    say(linted, "NCCL025", "NCCL_IB_PKEY", fmt::format("the P_Key table of {} has {} entries: index {} does not exist", port, keys.size(), *value),
        fmt::format("0 to {}", keys.empty() ? 0 : keys.size() - 1), out);
    return;
  }
}

void lint_timeout(const Linted& linted, Findings& out) {
  const auto timeout = number_in(linted, "NCCL_IB_TIMEOUT");
  if (timeout && (*timeout <= 0 || *timeout > 31)) {
    say(linted, "NCCL026", "NCCL_IB_TIMEOUT", fmt::format("{} means no timeout: a lost peer is waited for without end", *timeout), "18 to 22", out);
  }
  const auto retries = number_in(linted, "NCCL_IB_RETRY_CNT");
  if (retries && (*retries < 0 || *retries > 7)) {
    say(linted, "NCCL026", "NCCL_IB_RETRY_CNT", fmt::format("the field has three bits: {} becomes {}", *retries, *retries & 7), "0 to 7", out);
  }
}

void lint_threads(const Linted& linted, Findings& out) {
  const auto threads = number_in(linted, "NCCL_NTHREADS");
  if (!threads || *threads == -2) return;  // -2 is the default's own number
  const bool multiple = *threads % 32 == 0;
  if (multiple && *threads >= 64 && *threads <= 512) return;
  const int used = !multiple || *threads > 512 ? 512 : 64;
  say(linted, "NCCL027", "NCCL_NTHREADS", fmt::format("{} is {}: NCCL uses {}", *threads, multiple ? "outside 64 to 512" : "not a multiple of 32", used),
      "64, 128, 256 or 512", out);
}

void lint_channels(const Linted& linted, Findings& out) {
  const auto channels = number_in(linted, "NCCL_MAX_NCHANNELS");
  if (channels && *channels < 1 && *channels != -2) {
    say(linted, "NCCL028", "NCCL_MAX_NCHANNELS", fmt::format("NCCL takes {} for 1 channel, not for \"no limit\"", *channels), "unset", out);
  }
  const auto blocks = number_in(linted, "NCCL_MAX_CTAS");
  if (blocks && *blocks <= 0) say(linted, "NCCL028", "NCCL_MAX_CTAS", fmt::format("{} is too low: NCCL ignores it", *blocks), "unset", out);
  for (const auto& [low, high] : {std::pair{"NCCL_MIN_NCHANNELS", "NCCL_MAX_NCHANNELS"}, std::pair{"NCCL_MIN_CTAS", "NCCL_MAX_CTAS"}}) {
    const auto least = number_in(linted, low);
    const auto most = number_in(linted, high);
    if (!least || !most || *most < 1 || *least <= *most) continue;
    say(linted, "NCCL028", low, fmt::format("{}={} is above {}={}: NCCL forces both to be equal", low, *least, high, *most), fmt::format("at most {}", *most), out);
  }
}

void lint_sockets(const Linted& linted, Findings& out) {
  constexpr std::int64_t kThreads = 16;
  constexpr std::int64_t kSockets = 64;
  const auto threads = number_in(linted, "NCCL_SOCKET_NTHREADS");
  const auto each = number_in(linted, "NCCL_NSOCKS_PERTHREAD");
  if (threads && *threads > kThreads) {
    say(linted, "NCCL029", "NCCL_SOCKET_NTHREADS", fmt::format("NCCL allows {} threads: {} are reduced", kThreads, *threads), "at most 16", out);
    return;
  }
  if (!threads || !each || *threads < 1 || *each <= kSockets / *threads) return;
  say(linted, "NCCL029", "NCCL_NSOCKS_PERTHREAD", fmt::format("{} threads with {} sockets are more than {}: NCCL reduces them", *threads, *each, kSockets),
      fmt::format("at most {}", kSockets / *threads), out);
}

}  // namespace

void lint_ranges(const Linted& linted, Findings& out) {
  lint_traffic_class(linted, out);
  lint_partition(linted, out);
  lint_timeout(linted, out);
  lint_threads(linted, out);
  lint_channels(linted, out);
  lint_sockets(linted, out);
}

}  // namespace verl::nccl
