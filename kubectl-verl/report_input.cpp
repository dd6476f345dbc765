#include "kubectl-verl/report_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/broken_invariant.h"
#include "base/text.h"
#include "operator/core/fleet.h"
#include "operator/core/readiness.h"

namespace verl::cli {
namespace {

using core::ClusterSnapshot;
using report::ClusterLine;
using report::NodeLine;

constexpr std::string_view kLeaderLease = "verl-operator";

report::Word word_of(core::NodeWord word) {
  switch (word) {
    case core::NodeWord::Ready: return report::Word::Ready;
    case core::NodeWord::NotReady: return report::Word::NotReady;
    case core::NodeWord::Unknown: return report::Word::Unknown;
  }
  broken_invariant("a NodeWord outside its enumeration");
}

std::string held_back(const api::Node& node) {
  std::vector<std::string> why;
  if (node.unschedulable) why.emplace_back("cordoned");
  if (node.ready == api::ConditionStatus::False) why.emplace_back("its kubelet is not ready");
  if (node.ready == api::ConditionStatus::Unknown) why.emplace_back("its kubelet is silent");
  if (!node.unreadable.empty()) why.push_back("cannot be read: " + join_some(node.unreadable, 3));
  return join(why, ", ");
}

// The MTU that the fabric of a node can do; only nodes of one MTU can work together.
std::optional<std::int32_t> fabric_mtu(const api::NodeReadiness& report) {
  std::optional<std::int32_t> least;
  for (const api::InterfaceStatus& one : report.status.interfaces) {
    if (one.fabric && (!least || one.mtu < *least)) least = one.mtu;
  }
  return least;
}

const snapshot::NotRead* not_read(const Source& source, std::string_view plural) {
  const auto found = std::find_if(source.held.not_read.begin(), source.held.not_read.end(), [&](const auto& one) { return one.resource.starts_with(plural); });
  return found == source.held.not_read.end() ? nullptr : &*found;
}

class Builder {
 public:
  explicit Builder(const Source& source) : source_(source), snapshot_(source.held.snapshot), verdicts_(core::judge_nodes(snapshot_)), fleet_(core::compare_fleet(snapshot_)) {
    for (const auto& one : snapshot_.reports) reports_.emplace(one->meta.name, one.get());
  }

  report::ReportInput build() {
    report::ReportInput input{.source = source_.origin, .docs_url = source_.held.docs_url};
    if (source_.time_known) input.time = snapshot_.now;
    for (const core::Level& level : snapshot_.config.levels) input.levels.push_back(level.name);
    for (const auto& node : snapshot_.nodes) {
      const auto verdict = verdicts_.find(node->meta.name);
      if (verdict != verdicts_.end()) input.nodes.push_back(line(*node, verdict->second));
    }
    add_unread(input);
    add_assumptions(input);
    add_leader(input);
    add_node_states(input);
    add_mtu(input);
    add_taints(input);
    return input;
  }

 private:
  NodeLine line(const api::Node& node, const core::NodeVerdict& verdict) const {
    NodeLine out{.name = node.meta.name, .word = word_of(verdict.word), .reason = verdict.reason, .message = verdict.message};
    const auto gpus = node.allocatable.find(snapshot_.config.gpu_resource);
    out.gpus = gpus == node.allocatable.end() ? 0 : gpus->second / 1000;
    for (const core::Level& level : snapshot_.config.levels) {
      const auto label = node.meta.labels.find(level.key);
      out.domains.push_back(label == node.meta.labels.end() ? "" : label->second);
    }
    out.held_back = held_back(node);
    // A verdict by findings names them; one about the report itself has none.
    out.believed = verdict.word == core::NodeWord::Ready || !verdict.blocking.empty();
    if (const auto* why = not_read(source_, "nodereadinesses"); why != nullptr) disbelieve(out, "the reports could not be read: " + why->why);
    if (const auto* why = not_read(source_, "readinesspolicies"); why != nullptr) disbelieve(out, "the policies could not be read: " + why->why);
    if (const auto* why = not_read(source_, "leases"); why != nullptr && out.reason == "FreshnessUnknown") disbelieve(out, "the heartbeats could not be read: " + why->why);
    const core::PolicyChoice choice = core::choose_policy(snapshot_.policies, node, snapshot_.config.gpu_resource);
    if (choice.policy != nullptr) out.policy = choice.policy->meta.name;
    const auto report = reports_.find(node.meta.name);
    if (!out.believed || choice.policy == nullptr || report == reports_.end()) return out;
    const auto add = [&](Finding finding) {
      finding.verdict = core::effective_verdict(finding, choice.policy->spec.expectations);
      out.findings.push_back(std::move(finding));
    };
    for (const Finding& finding : report->second->status.findings) add(finding);
    if (const auto own = fleet_.find(node.meta.name); own != fleet_.end()) {
      for (const Finding& finding : own->second) add(finding);
    }
    // What decided is always shown, also what no finding said: a check that is missing from the report.
    for (const Finding& finding : verdict.blocking) {
      if (std::find(out.findings.begin(), out.findings.end(), finding) == out.findings.end()) out.findings.push_back(finding);
    }
    if (const auto mtu = fabric_mtu(*report->second)) out.like = fmt::format("MTU {}", *mtu);
    return out;
  }

  static void disbelieve(NodeLine& line, std::string why) {
    line.believed = false;
    line.word = report::Word::Unknown;
    line.reason = "NotRead";
    line.message = std::move(why);
  }

  void add_unread(report::ReportInput& input) const {
    for (const snapshot::NotRead& one : source_.held.not_read) {
      // Without the configuration no level is known; what a report says of nodes does not hang on it.
      const bool configuration = one.resource == "configmaps";
      input.cluster.push_back({.verdict = configuration ? Verdict::Warn : Verdict::Unknown, .id = "NotRead",
                               .title = configuration ? "the operator's configuration was found" : one.resource + " can be read", .details = {one.why}});
    }
  }

  void add_assumptions(report::ReportInput& input) const {
    if (source_.fresh_assumed) {
      input.cluster.push_back({.verdict = Verdict::Warn, .id = "FreshnessUnknown", .title = "when agents were last heard of is known", .details = {"assumed by --assume-fresh: every agent is alive"}});
    }
  }

  void add_leader(report::ReportInput& input) const {
    if (!source_.time_known || not_read(source_, "leases") != nullptr || !snapshot_.heartbeats_known || source_.fresh_assumed) return;
    ClusterLine line{.verdict = Verdict::Fail, .id = "OperatorSilent", .title = "an operator leads"};
    const auto lease = std::find_if(source_.held.leaders.begin(), source_.held.leaders.end(), [](const auto& one) { return one->meta.name == kLeaderLease; });
    if (lease == source_.held.leaders.end()) {
      line.details = {fmt::format("there is no Lease {} in namespace {}", kLeaderLease, snapshot_.config.name_space)};
    } else if ((*lease)->holder.empty() || !(*lease)->renewed) {
      line.details = {fmt::format("nobody holds Lease {} in namespace {}", kLeaderLease, snapshot_.config.name_space)};
    } else if (snapshot_.now > *(*lease)->renewed + (*lease)->duration) {
      line.details = {fmt::format("{} last renewed its lease at {}, for {} s", (*lease)->holder, format_rfc3339(*(*lease)->renewed), (*lease)->duration.count())};
    } else {
      line.verdict = Verdict::Pass;
      line.id.clear();
      line.title = "an operator leads: " + (*lease)->holder;
    }
    if (line.verdict == Verdict::Fail) line.remedy = fmt::format("kubectl -n {} get pods -l app.kubernetes.io/component=operator", snapshot_.config.name_space);
    input.cluster.push_back(std::move(line));
  }

  static void add_node_state(report::ReportInput& input, Verdict verdict, std::string id, std::string title, const std::vector<std::string>& names, std::string remedy) {
    if (names.empty()) return;
    input.cluster.push_back({.verdict = verdict, .id = std::move(id), .title = std::move(title), .details = {join_some(names, 8)}, .remedy = std::move(remedy),
                             .count = static_cast<std::int32_t>(names.size())});
  }

  void add_node_states(report::ReportInput& input) const {
    std::vector<std::string> cordoned;
    std::vector<std::string> down;
    std::vector<std::string> silent;
    std::vector<std::string> unreadable;
    for (const auto& node : snapshot_.nodes) {
      if (!verdicts_.contains(node->meta.name)) continue;
      if (node->unschedulable) cordoned.push_back(node->meta.name);
      if (node->ready == api::ConditionStatus::False) down.push_back(node->meta.name);
      if (node->ready == api::ConditionStatus::Unknown) silent.push_back(node->meta.name);
      if (!node->unreadable.empty()) unreadable.push_back(node->meta.name);
    }
    add_node_state(input, Verdict::Fail, "NodeNotReady", "every kubelet is ready", down, "kubectl describe node " + (down.empty() ? "" : down.front()));
    add_node_state(input, Verdict::Unknown, "NodeNotReady", "every kubelet is heard of", silent, "kubectl describe node " + (silent.empty() ? "" : silent.front()));
    add_node_state(input, Verdict::Unknown, "NodeUnreadable", "every Node can be read", unreadable, "");
    add_node_state(input, Verdict::Warn, "NodeCordoned", "no node is cordoned", cordoned, "kubectl uncordon " + (cordoned.empty() ? "" : cordoned.front()));
  }

  // Whether a job tolerates a taint is the job's to say, so this is told and not judged.
  void add_taints(report::ReportInput& input) const {
    std::map<std::string, std::vector<std::string>> by_taint;
    for (const auto& node : snapshot_.nodes) {
      if (!verdicts_.contains(node->meta.name)) continue;
      for (const api::Taint& taint : node->taints) {
        const bool keeps_away = taint.effect == "NoSchedule" || taint.effect == "NoExecute";
        if (!keeps_away || taint.key == snapshot_.config.gpu_resource || taint.key == "node.kubernetes.io/unschedulable") continue;
        by_taint[fmt::format("{}{}{}:{}", taint.key, taint.value.empty() ? "" : "=", taint.value, taint.effect)].push_back(node->meta.name);
      }
    }
    if (by_taint.empty()) return;
    ClusterLine line{.verdict = Verdict::Skipped, .id = "UntoleratedTaint", .title = "taints that keep jobs away unless they tolerate them"};
    for (const auto& entry : by_taint) line.details.push_back(fmt::format("{}: {}", entry.first, join_some(entry.second, 8)));
    input.cluster.push_back(std::move(line));
  }

  void add_mtu(report::ReportInput& input) const {
    std::map<std::string, std::vector<std::string>> by_mtu;
    for (const NodeLine& node : input.nodes) {
      if (node.word == report::Word::Ready) by_mtu[node.like.empty() ? "MTU not reported" : node.like].push_back(node.name);
    }
    if (by_mtu.size() < 2) return;
    ClusterLine line{.verdict = Verdict::Warn, .id = "MTUDiffers", .title = "ready nodes have one fabric MTU; only equal ones work together"};
    for (const auto& entry : by_mtu) line.details.push_back(fmt::format("{}: {}", entry.first, join_some(entry.second, 8)));
    input.cluster.push_back(std::move(line));
  }

  const Source& source_;
  const ClusterSnapshot& snapshot_;
  std::map<std::string, core::NodeVerdict, std::less<>> verdicts_;
  std::map<std::string, std::vector<Finding>, std::less<>> fleet_;
  std::map<std::string_view, const api::NodeReadiness*> reports_{};
};

}  // namespace

report::ReportInput report_input(const Source& source) { return Builder(source).build(); }

}  // namespace verl::cli
