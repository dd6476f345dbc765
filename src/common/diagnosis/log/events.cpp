#include "diagnosis/log/events.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/text.h"
#include "diagnosis/rule.h"

namespace verl::log {
namespace {

using diagnosis::Evidence;
using diagnosis::Finding;
using diagnosis::Reading;
using diagnosis::Scalar;
using diagnosis::Severity;

constexpr std::size_t kEvidence = 3;
constexpr std::size_t kHosts = 64;

std::vector<Cause> all_causes() {
  std::vector<Cause> all;
  for (const std::span<const Cause> part : {framework_causes(), ray_causes(), network_causes(), host_causes(), cluster_causes()}) all.insert(all.end(), part.begin(), part.end());
  return all;
}

std::vector<std::string_view> phrases_of(const std::vector<Cause>& causes) {
  std::vector<std::string_view> all;
  for (const Cause& one : causes) all.push_back(one.phrase);
  return all;
}

// Built once: the automaton is the dearest part of a reader.
const std::vector<Cause>& shared_causes() {
  static const std::vector<Cause> kAll = all_causes();
  return kAll;
}

const Words& shared_words() {
  static const Words kWords(phrases_of(shared_causes()));
  return kWords;
}

// A refused registration is judged with the limits of the node: judge.cpp.
bool judged_later(const Sighting& one) { return one.rule == "log-memory-registration"; }

const std::string* value_of(const Sighting& one, std::string_view name) {
  const auto found = std::find_if(one.values.begin(), one.values.end(), [&](const auto& value) { return value.name == name; });
  return found == one.values.end() ? nullptr : std::get_if<std::string>(&found->value);
}

// What came to light on later lines of the same fault.
std::string details_of(const Sighting& one) {
  if (one.rule != "log-shared-memory") return {};
  const std::string* segment = value_of(one, "segment");
  const auto size = std::find_if(one.values.begin(), one.values.end(), [](const auto& value) { return value.name == "size" || value.name == "extended_to"; });
  std::string text = segment ? " (segment " + *segment : "";
  if (size != one.values.end()) text += fmt::format("{}{} bytes", text.empty() ? " (" : ", ", std::get<std::int64_t>(size->value));
  return text.empty() ? text : text + ")";
}

// The same warning with other numbers is the same warning.
std::string without_numbers(std::string_view text) {
  std::string plain;
  for (const char c : text.substr(0, 300)) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit || plain.empty() || plain.back() != '#') plain += digit ? '#' : c;
  }
  return plain;
}

}  // namespace

std::string on_host(const Line& line) {
  if (!line.host.empty()) return fmt::format(" on {}", line.host);
  if (!line.ip.empty()) return line.actor.empty() ? fmt::format(" on {}", line.ip) : fmt::format(" on {} ({})", line.ip, line.actor);
  return {};
}

void add_value(Sighting& out, std::string_view name, Scalar value, std::string_view unit) {
  out.values.push_back({.name = std::string(name), .value = std::move(value), .unit = std::string(unit)});
}

std::string quoted(std::string_view text) { return "\"" + shorten(text, 200) + "\""; }

Events::Events(std::string source) : source_(std::move(source)), causes_(shared_causes()), words_(shared_words()), times_(causes_.size(), 0) {}

Evidence Events::evidence(const Line& line) const {
  return {.source = source_, .line = line.number, .text = shorten(line.text, diagnosis::kEvidenceBytes)};
}

void Events::add_to(Group& group, const Line& line) const {
  group.count += line.times;
  if (!line.host.empty() && group.hosts.size() < kHosts) group.hosts.emplace(line.host);
  if (group.evidence.size() < kEvidence) group.evidence.push_back(evidence(line));
}

bool Events::has_cause(const Line& line) const {
  bool found = false;
  int hits = 0;
  words_.each(line.message, [&](std::size_t index) { found = found || ++hits > 64 || causes_[index].also.empty() || line.message.find(causes_[index].also) != std::string_view::npos; });
  return found;
}

bool Events::find(const Line& line, Sighting& out) {
  // The nearest to the root of those the line has; the table's order among equals.
  constexpr int kHits = 64;
  int hits = 0;
  std::size_t best = causes_.size();
  words_.each(line.message, [&](std::size_t index) {
    const Cause& one = causes_[index];
    if (++hits > kHits || (best < causes_.size() && std::pair(causes_[best].blame, best) <= std::pair(one.blame, index))) return;
    if (one.also.empty() || line.message.find(one.also) != std::string_view::npos) best = index;
  });
  if (best == causes_.size()) return false;
  // Memory and time stay bounded when one fault fills a log: only so many are taken apart.
  constexpr std::int64_t kTakenApart = 65536;
  const Cause& cause = causes_[best];
  if (++times_[best] > kTakenApart) {
    more_[std::string(cause.rule)] += line.times;
    return true;
  }
  Sighting sighting;
  sighting.rule = cause.rule;
  sighting.blame = cause.blame;
  if (cause.read && !cause.read(line, sighting)) return false;
  out = std::move(sighting);
  return true;
}

void Events::add(const Line& line, const std::string& process, Sighting sighting) {
  if (judged_later(sighting)) {
    std::vector<Registration>& known = registrations_[std::string(line.host)];
    const auto same = std::find_if(known.begin(), known.end(), [&](const Registration& one) { return one.call == sighting.subject; });
    if (same != known.end()) {
      same->count += line.times;
    } else if (known.size() < 8 && registrations_.size() <= kGroups) {
      known.push_back({.call = sighting.subject, .process = process, .count = line.times, .at = evidence(line)});
    }
  }
  // What only follows is one group, whoever says it.
  key_ = std::string(sighting.rule);
  if (!is_consequence(sighting.blame)) {
    key_ += '\n';
    key_ += line.host.empty() ? line.ip : line.host;
    key_ += '\n';
    key_ += sighting.subject;
  }
  const auto known = by_key_.find(key_);
  if (known == by_key_.end()) {
    if (groups_.size() >= kGroups) {
      more_[std::string(sighting.rule)] += line.times;
      return;
    }
    by_key_.emplace(key_, groups_.size());
    Group group;
    group.sighting = std::move(sighting);
    group.host = std::string(line.host);
    group.process = process;
    group.line = line.number;
    group.time = std::string(line.time);
    add_to(group, line);
    groups_.push_back(std::move(group));
    return;
  }
  Group& group = groups_[known->second];
  add_to(group, line);
  for (diagnosis::Value& value : sighting.values) {
    const bool said = std::any_of(group.sighting.values.begin(), group.sighting.values.end(), [&](const auto& one) { return one.name == value.name; });
    if (!said && group.sighting.values.size() < 32) group.sighting.values.push_back(std::move(value));
  }
}

void Events::add_unknown_warning(const Line& line, const std::string& process) {
  const std::string text = without_numbers(line.message);
  if (!unknown_.contains(text) && unknown_.size() >= kUnknownWarnings) {
    more_["log-nccl-warning"] += line.times;
    return;
  }
  unknown_.emplace(text, 0);
  Sighting sighting;
  sighting.rule = "log-nccl-warning";
  sighting.subject = shorten(text, 120);
  sighting.message = fmt::format("NCCL warned{}: {}", on_host(line), quoted(line.message));
  add(line, process, std::move(sighting));
}

void Events::write_values(const Group& group, std::size_t index, Reading& reading) const {
  const std::string own = "cause[" + std::to_string(index) + "].";
  const auto value = [&](const std::string& name, Scalar scalar) { reading.values.push_back({.name = own + name, .value = std::move(scalar), .unit = {}}); };
  value("rule", std::string(group.sighting.rule));
  value("line", group.line);
  value("count", group.count);
  if (!group.process.empty()) value("process", group.process);
  if (!group.time.empty()) value("time", group.time);
  std::size_t at = 0;
  for (const std::string& host : group.hosts) value(group.hosts.size() == 1 ? "host" : "host[" + std::to_string(at++) + "]", host);
  for (const diagnosis::Value& one : group.sighting.values) reading.values.push_back({.name = own + one.name, .value = one.value, .unit = one.unit});
}

void Events::finish(const Outlook& outlook, Reading& reading) {
  std::vector<const Group*> order;
  for (const Group& one : groups_) order.push_back(&one);
  // Times are compared where both say one, of the same form; else the order of the lines.
  std::stable_sort(order.begin(), order.end(), [](const Group* a, const Group* b) { return a->sighting.blame < b->sighting.blame; });
  for (auto from = order.begin(); from != order.end();) {
    const auto to = std::find_if(from, order.end(), [&](const Group* one) { return one->sighting.blame != (*from)->sighting.blame; });
    const std::size_t form = (*from)->time.size();
    const bool timed = form == 19 && std::all_of(from, to, [&](const Group* one) { return one->time.size() == form; });
    std::stable_sort(from, to, [&](const Group* a, const Group* b) { return timed && a->time != b->time ? a->time < b->time : a->line < b->line; });
    from = to;
  }

  std::vector<Finding> found;
  std::vector<Severity> severities;
  for (const Group* one : order) {
    Severity severity = one->sighting.severity.value_or(diagnosis::finding_of(one->sighting.rule, "").severity);
    if (one->sighting.rule == "log-connect-retry" && outlook.initialised) severity = Severity::Info;
    severities.push_back(severity);
  }
  std::size_t root = order.size();
  for (std::size_t i = order.size(); i-- > 0;) {
    if (!is_consequence(order[i]->sighting.blame) && severities[i] == Severity::Error) root = i;
  }
  std::int64_t folded = 0;
  std::set<std::string> folded_rules;
  std::size_t root_finding = SIZE_MAX;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Group& group = *order[i];
    const Sighting& sighting = group.sighting;
    write_values(group, i, reading);
    if (root < order.size() && is_consequence(sighting.blame)) {
      folded += group.count;
      folded_rules.emplace(sighting.rule);
      continue;
    }
    if (judged_later(sighting)) continue;
    Finding finding = diagnosis::finding_of(sighting.rule, sighting.subject);
    finding.severity = severities[i];
    finding.seen = sighting.seen;
    finding.wanted = sighting.wanted;
    finding.message = sighting.message.empty() ? fmt::format("{}{}", quoted(group.evidence.front().text), group.host.empty() ? "" : " on " + group.host) : sighting.message;
    finding.message += details_of(sighting);
    if (group.count > 1) finding.message += fmt::format(" ({} times)", group.count);
    if (!sighting.remedy.empty()) finding.remedy = sighting.remedy;
    if (outlook.several_hosts) {
      if (is_consequence(sighting.blame)) {
        finding.nodes.assign(group.hosts.begin(), group.hosts.end());
      } else if (!group.host.empty()) {
        finding.nodes.push_back(group.host);
      }
    }
    finding.evidence = group.evidence;
    if (root < i && order[root]->sighting.blame <= Blame::Setting && sighting.blame >= Blame::Transport && finding.severity == Severity::Error) {
      finding.severity = Severity::Warning;
      finding.message += fmt::format("; it follows from {} on line {}", order[root]->sighting.rule, order[root]->line);
    }
    if (i == root) root_finding = found.size();
    found.push_back(std::move(finding));
  }
  if (root < order.size()) {
    reading.values.push_back({.name = "culprit.rule", .value = std::string(order[root]->sighting.rule), .unit = {}});
    reading.values.push_back({.name = "culprit.line", .value = order[root]->line, .unit = {}});
    if (!order[root]->host.empty()) reading.values.push_back({.name = "culprit.host", .value = order[root]->host, .unit = {}});
    reading.values.push_back({.name = "folded_lines", .value = folded, .unit = {}});
  }
  if (folded > 0 && root_finding < found.size()) {
    found[root_finding].message += fmt::format("; {} more line{} only follow{} from it ({})", folded, folded == 1 ? "" : "s", folded == 1 ? "s" : "",
                                               fmt::join(folded_rules, ", "));
  }
  for (Finding& one : found) reading.findings.push_back(std::move(one));
  for (const auto& [rule, count] : more_) reading.values.push_back({.name = "more[" + rule + "]", .value = count, .unit = {}});
}

}  // namespace verl::log
