// Counters: the ones that stand at their width and cannot move, and what moved between two looks. Absolute values are history
// and are never judged.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/text.h"
#include "diagnosis/fabric/judge.h"
#include "diagnosis/fabric/lines.h"
#include "diagnosis/fabric/store.h"
#include "diagnosis/rule.h"

namespace verl::fabric {
namespace {

using diagnosis::Finding;
using diagnosis::Severity;

struct Width {
  std::string_view name{};
  std::int32_t bits{0};
};

// InfiniBand Architecture 16.1.3.5, PortCounters.
constexpr std::array<Width, 14> kWidths{{{"link_downed", 8},
                                         {"link_error_recovery", 8},
                                         {"port_xmit_constraint_errors", 8},
                                         {"port_rcv_constraint_errors", 8},
                                         {"symbol_error", 16},
                                         {"port_rcv_errors", 16},
                                         {"port_rcv_remote_physical_errors", 16},
                                         {"port_rcv_switch_relay_errors", 16},
                                         {"port_xmit_discards", 16},
                                         {"VL15_dropped", 16},
                                         {"excessive_buffer_overrun_errors", 4},
                                         {"local_link_integrity_errors", 4},
                                         {"port_xmit_wait", 32},
                                         {"qp1_dropped", 16}}};

// The largest value of a counter of that name, when it is one that stops there.
std::optional<Width> saturated(std::string_view name, std::uint64_t value) {
  const auto known = std::find_if(kWidths.begin(), kWidths.end(), [&](const Width& one) { return one.name == name; });
  if (known == kWidths.end() || value != (std::uint64_t{1} << known->bits) - 1) return std::nullopt;
  return *known;
}

enum class Group { Drops, Flap, Crc, Errors, Oversize, PauseGlobal, PausePriority, None };

struct Meaning {
  std::string_view name{};  // '*' stands for the number of a priority or queue
  Group group{Group::None};
};

constexpr std::array<Meaning, 49> kMeanings{{{"rx_discards_phy", Group::Drops},
                                             {"rx_out_of_buffer", Group::Drops},
                                             {"rx_prio*_discards", Group::Drops},
                                             {"rx_prio*_buf_discard", Group::Drops},
                                             {"rx_steer_missed_packets", Group::None},
                                             {"rx_missed_errors", Group::Drops},
                                             {"rx_no_buffer_count", Group::Drops},
                                             {"rx_fifo_errors", Group::Drops},
                                             {"rx_no_dma_resources", Group::Drops},
                                             {"rx_dropped.nic", Group::Drops},
                                             {"port.rx_dropped", Group::Drops},
                                             {"rx_buf_alloc_fail", Group::Drops},
                                             {"rx_total_discard_pkts", Group::Drops},
                                             {"rx_drops", Group::Drops},
                                             {"out_of_buffer", Group::Drops},
                                             {"link_down_events_phy", Group::Flap},
                                             {"link_downed", Group::Flap},
                                             {"carrier_changes", Group::Flap},
                                             {"rx_crc_errors_phy", Group::Crc},
                                             {"rx_crc_errors", Group::Crc},
                                             {"rx_crc_errors.nic", Group::Crc},
                                             {"rx_fcs_err_frames", Group::Crc},
                                             {"rx_icrc_encapsulated", Group::Crc},
                                             {"rx_symbol_err_phy", Group::Errors},
                                             {"symbol_error", Group::Errors},
                                             {"link_error_recovery", Group::Errors},
                                             {"port_rcv_errors", Group::Errors},
                                             {"port_xmit_discards", Group::Errors},
                                             {"excessive_buffer_overrun_errors", Group::Errors},
                                             {"local_link_integrity_errors", Group::Errors},
                                             {"tx_discards_phy", Group::Errors},
                                             {"out_of_sequence", Group::Errors},
                                             {"packet_seq_err", Group::Errors},
                                             {"implied_nak_seq_err", Group::Errors},
                                             {"local_ack_timeout_err", Group::Errors},
                                             {"roce_adp_retrans_to", Group::Errors},
                                             {"req_transport_retries_exceeded", Group::Errors},
                                             {"rnr_nak_retry_err", Group::Errors},
                                             {"rp_cnp_ignored", Group::Errors},
                                             {"rx_oversize_pkts_phy", Group::Oversize},
                                             {"rx_oversize_pkts_sw_drop", Group::Oversize},
                                             {"rx_oversize_pkts_buffer", Group::Oversize},
                                             {"rx_out_of_range_len_phy", Group::Oversize},
                                             {"rx_oversize", Group::Oversize},
                                             {"rx_global_pause", Group::PauseGlobal},
                                             {"tx_global_pause", Group::PauseGlobal},
                                             {"rx_prio*_pause", Group::PausePriority},
                                             {"tx_prio*_pause", Group::PausePriority},
                                             {"tx_pause_storm_error_events", Group::Errors}}};

bool matches(std::string_view pattern, std::string_view name) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == name;
  const std::string_view head = pattern.substr(0, star);
  const std::string_view tail = pattern.substr(star + 1);
  if (name.size() <= head.size() + tail.size() || !name.starts_with(head) || !name.ends_with(tail)) return false;
  return parse_int(name.substr(head.size(), name.size() - head.size() - tail.size())).has_value();
}

Group group_of(std::string_view name) {
  const auto known = std::find_if(kMeanings.begin(), kMeanings.end(), [&](const Meaning& one) { return matches(one.name, name); });
  return known == kMeanings.end() ? Group::None : known->group;
}

struct Moved {
  std::string name{};
  std::uint64_t by{0};
};

struct Difference {
  std::map<Group, std::vector<Moved>> moved{};
  std::vector<std::string> backwards{};
  std::size_t common{0};
};

Difference difference(const CounterSnapshot& before, const CounterSnapshot& after) {
  Difference all;
  for (const auto& [name, value] : after.counters) {
    const auto old = before.counters.find(name);
    if (old == before.counters.end()) continue;
    ++all.common;
    if (value < old->second) {
      all.backwards.push_back(name);
      continue;
    }
    if (value == old->second || saturated(name, value)) continue;
    Moved one;
    one.name = name;
    one.by = value - old->second;
    all.moved[group_of(name)].push_back(std::move(one));
  }
  return all;
}

// The tool names no interface: nearly the same counters are those of one interface.
bool one_owner(const CounterSnapshot& a, const CounterSnapshot& b) {
  if (a.owner != b.owner) return false;
  if (!a.owner.empty()) return true;
  const auto shared = static_cast<std::size_t>(std::count_if(a.counters.begin(), a.counters.end(), [&](const auto& one) { return b.counters.contains(one.first); }));
  return shared * 10 >= 8 * std::max(a.counters.size(), b.counters.size());
}

std::string spoken(const std::vector<Moved>& moved) {
  std::vector<std::string> parts;
  for (const Moved& one : moved) parts.push_back(fmt::format("{} +{}", one.name, one.by));
  return join_some(parts, 8);
}

struct Report {
  Group group{Group::None};
  std::string_view id{};
  Severity severity{Severity::Warning};
  std::string_view message{};
};

constexpr std::array<Report, 7> kReports{{{Group::Drops, "packet-drops", Severity::Warning, "the host cannot drain what arrives, there are no receive buffers"},
                                          {Group::Flap, "rdma-port-flap", Severity::Error, "the link went down and came back"},
                                          {Group::Crc, "rdma-error-counters", Severity::Error, "frames arrive damaged"},
                                          {Group::Errors, "rdma-error-counters", Severity::Warning, "errors or retries on the way"},
                                          {Group::Oversize, "mtu-peer", Severity::Warning, "frames arrive that are larger than this side takes"},
                                          {Group::PauseGlobal, "pause-global", Severity::Info, "link-level flow control is at work, not PFC: no pause counter of a priority moved"},
                                          {Group::PausePriority, "pause-priority", Severity::Info, "PFC is at work"}}};

void report(const CounterSnapshot& before, const CounterSnapshot& after, Findings& out) {
  const std::string subject = after.owner.empty() ? "counters" : after.owner;
  const Difference all = difference(before, after);
  if (!all.backwards.empty()) {
    Finding finding = diagnosis::finding_of("counter-backwards", subject);
    finding.seen = join_some(all.backwards, 6);
    finding.message = fmt::format("{} of {} counters went backwards ({}): no difference can be told", all.backwards.size(), all.common, finding.seen);
    out.push_back(std::move(finding));
    if (all.backwards.size() * 10 > all.common) return;  // these two do not belong together
  }
  for (const Report& one : kReports) {
    const auto moved = all.moved.find(one.group);
    if (moved == all.moved.end() || (one.group == Group::PauseGlobal && all.moved.contains(Group::PausePriority))) continue;
    Finding finding = diagnosis::finding_of(one.id, subject);
    finding.severity = one.severity;
    finding.seen = spoken(moved->second);
    finding.message = fmt::format("between two looks {}: {}", finding.seen, one.message);
    if (!after.document.empty()) {
      diagnosis::Evidence where;
      where.source = after.document;
      finding.evidence.push_back(std::move(where));
    }
    out.push_back(std::move(finding));
  }
}

void judge_saturation(const Facts& facts, Findings& out) {
  for (const Port& port : facts.ports) {
    for (const auto& [name, value] : port.counters) {
      const auto width = saturated(name, value);
      if (!width) continue;
      Finding finding = fabric::about("rdma-counter-saturated", port_name(port) + " " + name, port.lines, "counter " + name);
      finding.seen = std::to_string(value);
      finding.message = fmt::format("{} of {} stands at {}, the most a counter of {} bits can hold: a difference cannot be measured", name, port_name(port), value, width->bits);
      out.push_back(std::move(finding));
    }
  }
}

}  // namespace

void judge_counters(const Facts& facts, const Policy&, Findings& out) {
  judge_saturation(facts, out);
  constexpr std::size_t kMost = 256;  // looks at one node
  const auto& all = facts.snapshots;
  for (std::size_t i = 1; i < all.size() && i < kMost; ++i) {
    for (std::size_t j = i; j-- > 0;) {
      if (!one_owner(all[j], all[i])) continue;
      report(all[j], all[i], out);
      break;
    }
  }
}

}  // namespace verl::fabric
