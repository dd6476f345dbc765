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

std::string headline(const PlanAnswer& answer, const Style& style) {
  std::string verdict = "does not fit: " + answer.reason;
  if (answer.placement) verdict = answer.placed_before ? "is placed" : "fits";
  if (answer.ended) verdict = "has ended: " + answer.reason;
  if (!answer.placement && !answer.smallest_change.empty()) verdict += ", fits after mending " + answer.smallest_change;
  return fmt::format("VerlJob {}/{}: {}\n", shown(answer.job.meta.name_space, style), shown(answer.job.meta.name, style), shown(verdict, style));
}

std::string note_lines(const PlanAnswer& answer, const Style& style) {
  std::string out;
  for (const std::string& note : answer.notes) out += "  note: " + shown(note, style) + "\n";
  return out;
}

std::string plan_table(const PlanAnswer& answer, const Style& style) {
  std::string out = headline(answer, style);
  if (!answer.placement || answer.placed_before) out += answer.message.empty() ? "" : "  " + shown(answer.message, style) + "\n";
  out += placement_lines(answer, style);
  out += domain_lines(answer, style);
  if (!answer.smallest_change.empty()) out += "  smallest change: mend " + shown(answer.smallest_change, style) + "\n";
  return out + note_lines(answer, style);
}

std::string history_table(const PlanAnswer& answer, const Style& style) {
  const api::VerlJobStatus& status = answer.job.status;
  std::string out;
  if (!status.conditions.empty()) out += "\nconditions\n";
  for (const api::Condition& condition : status.conditions) {
    out += fmt::format("  {} {} {} since {}{}{}\n", report::pad(shown(condition.type, style), 16), report::pad(std::string(api::to_string(condition.status)), 7),
                       shown(condition.reason, style), format_rfc3339(condition.last_transition), condition.message.empty() ? "" : ": ", shown(condition.message, style));
  }
  const api::Attempts& attempts = status.attempts;
  if (attempts.started > 0) {
    out += fmt::format("\nattempts  {} started, {} after infrastructure faults, {} after the job's own\n", attempts.started, attempts.infrastructure_restarts, attempts.user_restarts);
    if (!attempts.last_reason.empty()) out += fmt::format("  the last one ended: {}: {}\n", shown(attempts.last_reason, style), shown(attempts.last_message, style));
  }
  if (!status.rejected_nodes.empty()) out += "\nrejected nodes\n";
  for (const api::RejectedNode& node : status.rejected_nodes) {
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

Json document_of(const PlanAnswer& answer, const char* kind) {
  Json out{{"schemaVersion", report::kSchemaVersion}, {"kind", kind}};
  if (answer.time) out["time"] = format_rfc3339(*answer.time);
  put(out, "source", answer.source);
  out["namespace"] = answer.job.meta.name_space;
  out["name"] = answer.job.meta.name;
  out["fits"] = answer.placement.has_value();
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
  return out;
}

void add_history(Json& out, const api::VerlJobStatus& status) {
  out["phase"] = status.phase;
  Json conditions = Json::array();
  for (const api::Condition& one : status.conditions) {
    conditions.push_back({{"type", one.type}, {"status", std::string(api::to_string(one.status))}, {"reason", one.reason}, {"message", one.message},
                          {"lastTransitionTime", format_rfc3339(one.last_transition)}});
  }
  out["conditions"] = std::move(conditions);
  out["attempts"] = {{"started", status.attempts.started}, {"infrastructureRestarts", status.attempts.infrastructure_restarts}, {"userRestarts", status.attempts.user_restarts},
                     {"lastReason", status.attempts.last_reason}, {"lastMessage", status.attempts.last_message}};
  Json rejected = Json::array();
  for (const api::RejectedNode& one : status.rejected_nodes) {
    rejected.push_back({{"node", one.node}, {"reason", one.reason}, {"times", one.times}, {"until", format_rfc3339(one.until)}});
  }
  out["rejectedNodes"] = std::move(rejected);
}

std::string print(const Json& document, report::Format format) { return format == report::Format::Yaml ? report::yaml_text(document) : report::json_text(document); }

}  // namespace

std::string print_plan(const PlanAnswer& answer, report::Format format, const Style& style) {
  return format == report::Format::Table ? plan_table(answer, style) : print(document_of(answer, "Plan"), format);
}

std::string print_explanation(const PlanAnswer& answer, report::Format format, const Style& style) {
  if (format != report::Format::Table) {
    Json document = document_of(answer, "Explanation");
    add_history(document, answer.job.status);
    return print(document, format);
  }
  std::string out = headline(answer, style);
  if (!answer.job.status.phase.empty()) out += fmt::format("  status  {}, {} pods run\n", shown(answer.job.status.phase, style), shown(answer.job.status.ready, style));
  if (!answer.placement || answer.placed_before) out += answer.message.empty() ? "" : "  " + shown(answer.message, style) + "\n";
  out += placement_lines(answer, style) + domain_lines(answer, style);
  if (!answer.smallest_change.empty()) out += "  smallest change: mend " + shown(answer.smallest_change, style) + "\n";
  return out + note_lines(answer, style) + history_table(answer, style);
}

}  // namespace verl::cli
