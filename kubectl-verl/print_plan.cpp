#include "kubectl-verl/print_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "report/document.h"

namespace verl::cli {
namespace {

using report::mark;
using report::shown;
using report::Style;

// Nodes that are left out for the same reason stand on one line.
std::string left_out_lines(const DomainAnswer& domain, const Style& style) {
  std::map<std::tuple<bool, std::string, std::string>, std::vector<std::string>> same;  // what is known comes first
  for (const NodeAnswer& node : domain.nodes) {
    if (node.place == Place::LeftOut) same[{node.unknown, node.reason, node.message}].push_back(node.name);
  }
  std::string out;
  for (const auto& entry : same) {
    const auto& [unknown, reason, message] = entry.first;
    const std::string names = style.all ? join(entry.second, ", ") : join_some(entry.second, 8);
    out += fmt::format("    {} {}  {}{}{}\n", mark(unknown ? Verdict::Unknown : Verdict::Fail, style), shown(names, style), shown(reason, style), message.empty() ? "" : ": ",
                       shown(message, style));
  }
  return out;
}

std::string names_line(const DomainAnswer& domain, Place place, const std::string& label, const Style& style) {
  std::vector<std::string> names;
  for (const NodeAnswer& node : domain.nodes) {
    if (node.place == place) names.push_back(node.name);
  }
  if (names.empty()) return "";
  const bool all = style.all || place == Place::Chosen;
  return fmt::format("    {} {}{}\n", mark(Verdict::Pass, style), shown(all ? join(names, ", ") : join_some(names, 16), style), label);
}

std::string domain_lines(const PlanAnswer& answer, const Style& style) {
  std::string out;
  for (const DomainAnswer& domain : answer.domains) {
    const auto usable = std::count_if(domain.nodes.begin(), domain.nodes.end(), [](const NodeAnswer& n) { return n.place != Place::LeftOut; });
    const std::string where = answer.level.empty() ? "cluster" : domain.name.empty() ? "no label for " + answer.level : answer.level + " " + domain.name;
    out += fmt::format("  {}  {} of {} fit\n", shown(where, style), usable, report::plural(static_cast<long long>(domain.nodes.size()), "node"));
    out += names_line(domain, Place::Chosen, "  chosen", style);
    out += names_line(domain, Place::Fit, answer.placement ? "  fit, not needed" : "", style);
    out += left_out_lines(domain, style);
  }
  return out;
}

std::string placement_lines(const PlanAnswer& answer, const Style& style) {
  if (!answer.placement) return "";
  const api::Placement& placement = *answer.placement;
  std::string out;
  if (!answer.level.empty()) {
    const auto proven = [](bool is) { return is ? "proven fewest" : "not proven fewest"; };
    out += fmt::format("  {}s  {} ({}): {}\n", shown(answer.level, style), placement.racks, proven(placement.racks_proven), shown(join(placement.domains, " "), style));
    out += fmt::format("  cross-{} edges  {} ({})\n", shown(answer.level, style), placement.cross_rack_edges, proven(placement.edges_proven));
  }
  std::vector<std::string> nodes;
  for (const api::RankPlacement& rank : placement.ranks) nodes.push_back(rank.node);
  out += fmt::format("  rank order  {}  (by address, as verl sorts)\n", shown(join(nodes, " "), style));
  out += fmt::format("  ports  {}-{}\n", placement.port_base, placement.port_base + 15);
  return out;
}

// `said`: a reason that stands above already.
std::string verdict_of(const PlanAnswer& answer, const std::string& said) {
  const std::string why = answer.reason == said ? ", for the same reason" : ": " + answer.reason;
  if (answer.ended) return "has ended" + why;
  if (answer.refused) return "has nodes, but its pods are not taken" + why;
  if (answer.placement) return answer.placed_before ? "is placed" : "fits";
  if (!answer.searched) return "is not placed" + why;
  return "does not fit" + why + (answer.smallest_change.empty() ? "" : ", fits after mending " + answer.smallest_change);
}

std::string name_of(const PlanAnswer& answer, const Style& style) {
  return fmt::format("VerlJob {}/{}", shown(answer.job.meta.name_space, style), shown(answer.job.meta.name, style));
}

std::string note_lines(const PlanAnswer& answer, const Style& style) {
  std::string out;
  for (const std::string& note : answer.notes) out += "  note: " + shown(note, style) + "\n";
  return out;
}

std::string line(const std::string& text, const Style& style) { return text.empty() ? "" : "  " + shown(text, style) + "\n"; }

// What comes below the verdict. `said` is a message that stands above already.
std::string plan_lines(const PlanAnswer& answer, const std::string& said, const Style& style) {
  std::string out;
  if (!fits(answer) || answer.placed_before) out += said.starts_with(answer.message) ? "" : line(answer.message, style);
  out += placement_lines(answer, style);
  out += domain_lines(answer, style);
  if (!answer.smallest_change.empty()) out += "  smallest change: mend " + shown(answer.smallest_change, style) + "\n";
  return out + note_lines(answer, style);
}

std::string plan_table(const PlanAnswer& answer, const Style& style) {
  return name_of(answer, style) + ": " + shown(verdict_of(answer, ""), style) + "\n" + plan_lines(answer, "", style);
}

// A condition's time is that of its status: its reason may be younger.
std::string condition_lines(const api::VerlJobStatus& status, const OwnWords& own, const Style& style) {
  std::string out = status.conditions.empty() ? "" : "\nconditions\n";
  for (const api::Condition& condition : status.conditions) {
    out += fmt::format("  {} {} since {}", report::pad(shown(condition.type, style), 16), report::pad(std::string(api::to_string(condition.status)), 7),
                       format_rfc3339(condition.last_transition));
    // What stands at the top is not said again.
    const bool message_said = condition.message.empty() || condition.message == own.message;
    if (!message_said || condition.reason != own.reason) out += "  " + shown(condition.reason, style);
    if (!message_said) out += ": " + shown(condition.message, style);
    out += "\n";
  }
  return out;
}

// Those whose time has not run out; all of them where the time is not known.
std::vector<api::RejectedNode> rejected_now(const PlanAnswer& answer) {
  std::vector<api::RejectedNode> out;
  for (const api::RejectedNode& node : answer.job.status.rejected_nodes) {
    if (!answer.time || node.until > *answer.time) out.push_back(node);
  }
  return out;
}

std::string history_table(const PlanAnswer& answer, const Style& style) {
  const api::VerlJobStatus& status = answer.job.status;
  std::string out = condition_lines(status, own_words(answer.job), style);
  const api::Attempts& attempts = status.attempts;
  if (attempts.started > 0) {
    out += fmt::format("\nattempts  {} started, {} after infrastructure faults, {} after the job's own\n", attempts.started, attempts.infrastructure_restarts, attempts.user_restarts);
    if (!attempts.last_reason.empty()) out += fmt::format("  the last one ended: {}: {}\n", shown(attempts.last_reason, style), shown(attempts.last_message, style));
  }
  const std::vector<api::RejectedNode> rejected = rejected_now(answer);
  if (!rejected.empty()) out += "\nrejected nodes\n";
  for (const api::RejectedNode& node : rejected) {
    out += fmt::format("  {}  {}, {}, until {}\n", shown(node.node, style), shown(node.reason, style), report::plural(node.times, "time"), format_rfc3339(node.until));
  }
  return out;
}

using Json = nlohmann::ordered_json;

void put(Json& object, const char* key, const std::string& text) {
  if (!text.empty()) object[key] = text;
}

const char* word(Place place, bool unknown) {
  if (place == Place::Chosen) return "Chosen";
  if (place == Place::Fit) return "Fit";
  return unknown ? "Unknown" : "Unfit";
}

Json head_of(const PlanAnswer& answer, const char* kind) {
  Json out{{"schemaVersion", report::kSchemaVersion}, {"kind", kind}};
  if (answer.time) out["time"] = format_rfc3339(*answer.time);
  put(out, "source", answer.source);
  out["namespace"] = answer.job.meta.name_space;
  out["name"] = answer.job.meta.name;
  return out;
}

void add_plan(Json& out, const PlanAnswer& answer) {
  out["fits"] = fits(answer);
  out["placedBefore"] = answer.placed_before;
  out["ended"] = answer.ended;
  put(out, "reason", answer.reason);
  put(out, "message", answer.message);
  put(out, "smallestChange", answer.smallest_change);
  out["placement"] = Json::parse(placement_json(answer.job, answer.placement), nullptr, false);
  put(out, "level", answer.level);
  Json domains = Json::array();
  for (const DomainAnswer& domain : answer.domains) {
    Json nodes = Json::array();
    for (const NodeAnswer& node : domain.nodes) {
      Json one{{"name", node.name}, {"verdict", word(node.place, node.unknown)}};
      put(one, "reason", node.reason);
      put(one, "message", node.message);
      if (node.place == Place::LeftOut) one["mendable"] = node.mendable;
      nodes.push_back(std::move(one));
    }
    Json one = Json::object();
    put(one, "domain", domain.name);
    one["nodes"] = std::move(nodes);
    domains.push_back(std::move(one));
  }
  out["domains"] = std::move(domains);
  out["notes"] = answer.notes;
}

void add_history(Json& out, const PlanAnswer& answer) {
  const api::VerlJobStatus& status = answer.job.status;
  Json conditions = Json::array();
  for (const api::Condition& one : status.conditions) {
    conditions.push_back({{"type", one.type}, {"status", std::string(api::to_string(one.status))}, {"reason", one.reason}, {"message", one.message},
                          {"lastTransitionTime", format_rfc3339(one.last_transition)}});
  }
  out["conditions"] = std::move(conditions);
  out["attempts"] = {{"started", status.attempts.started}, {"infrastructureRestarts", status.attempts.infrastructure_restarts}, {"userRestarts", status.attempts.user_restarts},
                     {"lastReason", status.attempts.last_reason}, {"lastMessage", status.attempts.last_message}};
  Json rejected = Json::array();
  for (const api::RejectedNode& one : rejected_now(answer)) {
    rejected.push_back({{"node", one.node}, {"reason", one.reason}, {"times", one.times}, {"until", format_rfc3339(one.until)}});
  }
  out["rejectedNodes"] = std::move(rejected);
}

std::string print(const Json& document, report::Format format) { return format == report::Format::Yaml ? report::yaml_text(document) : report::json_text(document); }

}  // namespace

std::string print_plan(const PlanAnswer& answer, report::Format format, const Style& style) {
  if (format == report::Format::Table) return plan_table(answer, style);
  Json document = head_of(answer, "Plan");
  add_plan(document, answer);
  return print(document, format);
}

std::string print_explanation(const PlanAnswer& answer, report::Format format, const Style& style) {
  const OwnWords own = own_words(answer.job);
  const bool outdated = !own.phase.empty() && answer.job.status.observed_generation < answer.job.meta.generation;
  if (format != report::Format::Table) {
    Json document = head_of(answer, "Explanation");
    document["phase"] = own.phase;
    document["reason"] = own.reason.empty() ? "NotDecided" : own.reason;
    document["message"] = own.message;
    document["outdated"] = outdated;
    Json plan = Json::object();
    add_plan(plan, answer);
    document["plan"] = std::move(plan);
    add_history(document, answer);
    return print(document, format);
  }
  const std::string reason = own.reason == own.phase || own.reason.empty() ? "" : ": " + own.reason;
  std::string out = name_of(answer, style) + ": " + (own.phase.empty() ? "NotDecided, the operator has written nothing about it yet" : shown(own.phase + reason, style)) + "\n";
  out += line(own.message, style);
  if (!answer.job.status.ready.empty()) out += fmt::format("  pods that run  {}\n", shown(answer.job.status.ready, style));
  if (outdated) out += "  the operator has not looked at the latest change of the spec yet\n";
  out += "\nwhat would be decided now\n  it " + shown(verdict_of(answer, own.reason), style) + "\n";
  return out + plan_lines(answer, own.message, style) + history_table(answer, style);
}

}  // namespace verl::cli
