// Clocks of several nodes against each other: what ties them together, and how far apart they are.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/text.h"
#include "diagnosis/judge.h"
#include "diagnosis/rule.h"
#include "diagnosis/time/text_lines.h"

namespace verl::diagnosis {
namespace {

using time_text::span_text;

double seconds(Microseconds limit) { return static_cast<double>(limit.count()) / 1e6; }

// Whether this node is the server that others name: by its name, or by an address of its interfaces.
bool is_called(const std::string& name, const NodeFacts& facts, const std::string& reference) {
  if (reference.empty()) return false;
  if (reference == name || reference.starts_with(name + ".")) return true;
  for (const fabric::Interface& one : facts.fabric.interfaces) {
    for (const std::string& address : one.addresses) {
      if (address.substr(0, address.find('/')) == reference) return true;
    }
  }
  return false;
}

// What a clock hangs on in the end: "" the outside world, else the local clock of a node or of a server.
std::map<std::string, std::vector<std::string>> roots(const Fleet& fleet) {
  std::map<std::string, std::vector<std::string>> by_root;
  for (const auto& [name, facts] : fleet) {
    const clock::Facts& clock = facts.clock;
    if (!clock.synchronised && !clock.local_only) continue;
    std::string root;
    if (clock.local_only.value_or(false)) {
      root = "the own clock of " + name;
    } else if (!clock.synchronised.value_or(false)) {
      continue;  // follows nothing; judged by itself
    } else if (clock.server_is_local.value_or(false)) {
      root = "the own clock of " + (clock.reference.empty() ? "a server" : clock.reference);
      const auto server = std::find_if(fleet.begin(), fleet.end(), [&](const auto& one) { return is_called(one.first, one.second, clock.reference); });
      if (server != fleet.end()) root = "the own clock of " + server->first;
    }
    by_root[root].push_back(name);
  }
  return by_root;
}

void compare_roots(const Fleet& fleet, Findings& out) {
  const auto by_root = roots(fleet);
  const bool local = std::any_of(by_root.begin(), by_root.end(), [](const auto& one) { return !one.first.empty(); });
  if (!local || by_root.size() < 2) return;
  Finding finding = finding_of("clock-untied", "clock");
  std::vector<std::string> parts;
  for (const auto& [root, names] : by_root) {
    parts.push_back(fmt::format("{} on {}", join_some(names, 3), root.empty() ? "outside servers" : root));
    finding.nodes.insert(finding.nodes.end(), names.begin(), names.end());
  }
  std::sort(finding.nodes.begin(), finding.nodes.end());
  finding.seen = fmt::format("{} clocks without a common source", by_root.size());
  finding.message = fmt::format("nothing ties the clocks together: {}", join_some(parts, 4));
  out.push_back(std::move(finding));
}

struct Measured {
  const std::string* name{nullptr};
  double offset{0};
  std::optional<double> bound{};
};

void compare_offsets(const Fleet& fleet, const Policy& policy, Findings& out) {
  std::vector<Measured> all;
  for (const auto& [name, facts] : fleet) {
    if (facts.clock.offset_s && !facts.clock.local_only.value_or(false)) all.push_back({&name, *facts.clock.offset_s, facts.clock.error_bound_s});
  }
  if (all.size() < 2) return;
  const auto less = [](const Measured& a, const Measured& b) { return a.offset < b.offset; };
  const Measured& low = *std::min_element(all.begin(), all.end(), less);
  const Measured& high = *std::max_element(all.begin(), all.end(), less);
  const double skew = high.offset - low.offset;
  const Measured& other = &low == &high ? all[1] : low;
  std::optional<double> bound;
  if (high.bound && other.bound) bound = *high.bound + *other.bound;
  const double certain = skew - bound.value_or(0);
  Finding finding = finding_of("clock-skew", "clock");
  finding.severity = certain > seconds(policy.clock_fail) ? Severity::Error : certain > seconds(policy.clock_warn) ? Severity::Warning : Severity::Info;
  finding.nodes = {*other.name, *high.name};
  std::sort(finding.nodes.begin(), finding.nodes.end());
  finding.seen = fmt::format("{:.9f} s", skew);
  finding.wanted = fmt::format("within {} (not ready beyond {})", span_text(seconds(policy.clock_warn)), span_text(seconds(policy.clock_fail)));
  finding.message = fmt::format("estimated skew of {:.6f} ms between {} ({:+.9f} s) and {} ({:+.9f} s), {}", skew * 1e3, *high.name, high.offset, *other.name, other.offset,
                                bound ? fmt::format("known to {}", span_text(*bound)) : "without a bound of the error");
  if (std::abs(skew - 37) < 1) finding.message += "; 37 s is the difference of TAI and UTC";
  if (finding.severity == Severity::Info) finding.remedy.clear();
  out.push_back(std::move(finding));
}

}  // namespace

void compare_time(const Fleet& fleet, const Policy& policy, Findings& out) {
  compare_roots(fleet, out);
  compare_offsets(fleet, policy, out);
}

}  // namespace verl::diagnosis
