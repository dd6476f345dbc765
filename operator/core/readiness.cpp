#include "operator/core/readiness.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "api/check_catalogue.h"
#include "base/broken_invariant.h"
#include "base/text.h"
#include "operator/core/by_name.h"
#include "operator/core/fleet.h"
#include "operator/core/reason.h"

namespace verl::core {
namespace {

bool matches(const api::SelectorTerm& term, const api::Labels& labels) {
  const auto found = labels.find(term.key);
  const bool present = found != labels.end();
  const bool listed = present && std::find(term.values.begin(), term.values.end(), found->second) != term.values.end();
  if (term.op == "In") return listed;
  if (term.op == "NotIn") return !listed;
  if (term.op == "Exists") return present;
  if (term.op == "DoesNotExist") return !present;
  return false;  // an operator we do not know selects nothing: the node then has no policy, which is said by name
}

NodeVerdict unknown(std::string reason, std::string message) {
  return NodeVerdict{.word = NodeWord::Unknown, .reason = std::move(reason), .message = std::move(message)};
}

// One sentence a kind of fault: eight interfaces with the same MTU are one fault with eight subjects.
std::vector<std::string> sentences_of(const std::vector<Finding>& findings) {
  struct Group {
    const Finding* first{nullptr};
    std::vector<std::string> subjects{};
  };
  std::vector<Group> groups;
  for (const Finding& finding : findings) {
    auto group = std::find_if(groups.begin(), groups.end(), [&](const Group& g) {
      return g.first->check == finding.check && g.first->seen == finding.seen && g.first->wanted == finding.wanted &&
             g.first->message == finding.message;
    });
    if (group == groups.end()) group = groups.insert(groups.end(), Group{.first = &finding, .subjects = {}});
    if (!finding.subject.empty()) group->subjects.push_back(finding.subject);
  }
  std::vector<std::string> sentences;
  for (const Group& group : groups) {
    const Finding& finding = *group.first;
    std::string text = group.subjects.empty() ? finding.check : join_some(group.subjects, 4);
    if (!finding.seen.empty()) text += " " + finding.seen;
    if (!finding.wanted.empty()) text += ", wants " + finding.wanted;
    if (finding.seen.empty() && !finding.message.empty()) text += ": " + finding.message;
    sentences.push_back(std::move(text));
  }
  return sentences;
}

// Three renewals at the pace that was asked for: a node that holds a job is asked to renew more often. An agent learns of a new
// pace by its next renewal, so until then the slower one holds.
Seconds fresh_for(const ClusterSnapshot& snapshot, const std::string& node) {
  const Seconds idle = 3 * snapshot.config.renewal_idle;
  const api::Heartbeat* heartbeat = find_by_name(snapshot.heartbeats, node);
  if (heartbeat == nullptr || heartbeat->duration <= Seconds{0} || !heartbeat->asked || !heartbeat->renewed) return idle;
  return *heartbeat->renewed > *heartbeat->asked ? std::min(heartbeat->duration, idle) : idle;
}

}  // namespace

std::optional<NodeVerdict> disbelieved(const ClusterSnapshot& snapshot, const api::Node& node, const api::NodeReadiness& report,
                                       const api::ReadinessPolicy& policy) {
  if (!report.unreadable.empty()) {
    return unknown("ReportUnreadable", fmt::format("the report cannot be read: {}", join_some(report.unreadable, 3)));
  }
  if (report.spec.node_uid != node.meta.uid) {
    return unknown("ReportOutdated", "the report is about an earlier Node of this name; a new one follows");
  }
  if (report.spec.policy != policy.meta.name || report.spec.policy_generation != policy.meta.generation) {
    return unknown("ReportOutdated", fmt::format("policy {} changed to generation {}; the report was asked for generation {} of {}",
                                                 policy.meta.name, policy.meta.generation, report.spec.policy_generation,
                                                 report.spec.policy.empty() ? "no policy" : report.spec.policy));
  }
  if (report.status.observed_generation == 0 && report.status.findings.empty() && report.status.answered == 0) {
    return unknown("NoReport", "no agent has reported yet; is the node agent running on this node?");
  }
  if (report.status.observed_generation != report.meta.generation) {
    return unknown("ReportOutdated", fmt::format("the agent judged generation {} of what is wanted; generation {} is current",
                                                 report.status.observed_generation, report.meta.generation));
  }
  if (report.status.node_uid != node.meta.uid) {
    return unknown("ReportOutdated", "the findings are about an earlier Node of this name");
  }
  if (node.boot_id.empty() || report.status.boot_id != node.boot_id) {
    return unknown("ReportOutdated", fmt::format("the findings are from boot {}, the node runs boot {}",
                                                 report.status.boot_id.empty() ? "(none)" : report.status.boot_id,
                                                 node.boot_id.empty() ? "(none)" : node.boot_id));
  }
  if (!snapshot.heartbeats_known) {
    return unknown("FreshnessUnknown", "this export does not say when the agent was last heard of; --assume-fresh shows what would follow");
  }
  const auto age = snapshot.heartbeat_age.find(node.meta.name);
  if (age == snapshot.heartbeat_age.end()) return unknown("AgentSilent", "the node agent was never heard of");
  const Seconds limit = fresh_for(snapshot, node.meta.name);
  if (age->second > limit) {
    return unknown("AgentSilent", fmt::format("the node agent was not heard of for more than {} s", limit.count()));
  }
  return std::nullopt;
}

std::string_view to_string(NodeWord word) {
  switch (word) {
    case NodeWord::Ready: return "Ready";
    case NodeWord::NotReady: return "NotReady";
    case NodeWord::Unknown: return "Unknown";
  }
  broken_invariant("a NodeWord outside its enumeration");
}

std::int64_t gpus_of(const api::Node& node, std::string_view gpu_resource) {
  const auto found = node.allocatable.find(std::string(gpu_resource));
  return found == node.allocatable.end() ? 0 : found->second / 1000;
}

Bytes largest_memory_per_gpu(const ClusterSnapshot& snapshot) {
  Bytes memory{};
  for (const auto& policy : snapshot.policies) memory = std::max(memory, policy->spec.memory_per_gpu.value_or(Bytes{}));
  return memory;
}

bool selects(const api::NodeSelector& selector, const api::Labels& labels) {
  const bool all_labels = std::all_of(selector.match_labels.begin(), selector.match_labels.end(), [&](const auto& wanted) {
    const auto found = labels.find(wanted.first);
    return found != labels.end() && found->second == wanted.second;
  });
  return all_labels && std::all_of(selector.match_expressions.begin(), selector.match_expressions.end(),
                                   [&](const api::SelectorTerm& term) { return matches(term, labels); });
}

PolicyChoice choose_policy(const std::vector<Shared<api::ReadinessPolicy>>& policies, const api::Node& node,
                           std::string_view gpu_resource) {
  PolicyChoice choice{};
  std::vector<std::string> tied;
  for (const auto& policy : policies) {
    const api::NodeSelector& selector = policy->spec.node_selector;
    const bool everything = selector.match_labels.empty() && selector.match_expressions.empty();
    if (everything ? gpus_of(node, gpu_resource) == 0 : !selects(selector, node.meta.labels)) continue;
    if (choice.policy == nullptr || policy->spec.priority > choice.policy->spec.priority) {
      choice.policy = policy.get();
      tied = {policy->meta.name};
    } else if (policy->spec.priority == choice.policy->spec.priority) {
      tied.push_back(policy->meta.name);
    }
  }
  if (choice.policy == nullptr) {
    return {.problem = "NoPolicy", .message = "no ReadinessPolicy selects this node, so nothing is known about what it must be"};
  }
  if (tied.size() > 1) {
    std::sort(tied.begin(), tied.end());
    return {.problem = "PolicyConflict",
            .message = fmt::format("policies {} select this node with the same priority {}; give one a higher priority",
                                   join_some(tied, 4), choice.policy->spec.priority)};
  }
  if (!choice.policy->unreadable.empty()) {
    return {.problem = "PolicyUnreadable",
            .message = fmt::format("policy {} cannot be read: {}", choice.policy->meta.name, join_some(choice.policy->unreadable, 3))};
  }
  return choice;
}

std::string reason_word(std::string_view check) {
  constexpr std::array<std::string_view, 8> kAcronyms{"mtu", "rdma", "nccl", "gpu", "numa", "pci", "gid", "cpu"};
  std::string word;
  for (const std::string_view part : split(check, '-')) {
    if (part.empty()) continue;
    const bool acronym = std::find(kAcronyms.begin(), kAcronyms.end(), part) != kAcronyms.end();
    for (size_t i = 0; i < part.size(); ++i) {
      const char c = part[i];
      word += (acronym || i == 0) && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    }
  }
  return as_reason(word, "UnknownCheck");
}

Verdict effective_verdict(const Finding& finding, const api::Expectations& expectations) {
  const bool bad = finding.verdict == Verdict::Fail || finding.verdict == Verdict::Unknown;
  switch (api::action_of(finding.check, expectations)) {
    case api::CheckAction::Block: return finding.verdict;
    case api::CheckAction::Warn: return bad ? Verdict::Warn : finding.verdict;
    case api::CheckAction::Off: return Verdict::Skipped;
  }
  broken_invariant("a CheckAction outside its enumeration");
}

bool is_answer(const Finding& finding) { return finding.verdict != Verdict::Skipped || !finding.message.empty(); }

std::vector<std::string_view> required_checks(const api::Expectations& expectations) {
  std::vector<std::string_view> ids;
  ids.reserve(api::kChecks.size());
  for (const api::CheckEntry& entry : api::kChecks) {
    if (api::action_of(entry.id, expectations) == api::CheckAction::Block) ids.push_back(entry.id);
  }
  for (const api::CheckRule& rule : expectations.checks) {
    if (rule.action == api::CheckAction::Block && api::find_check(rule.id) == nullptr) ids.push_back(rule.id);
  }
  return ids;
}

NodeVerdict judge_node(const ClusterSnapshot& snapshot, const api::Node& node, const api::NodeReadiness* report,
                       const std::vector<Finding>& fleet) {
  const PolicyChoice choice = choose_policy(snapshot.policies, node, snapshot.config.gpu_resource);
  if (choice.policy == nullptr) return unknown(choice.problem, choice.message);
  if (report == nullptr) return unknown("NoReport", "no NodeReadiness exists for this node yet");
  if (auto verdict = disbelieved(snapshot, node, *report, *choice.policy)) return *verdict;

  std::vector<Finding> bad;
  const auto collect = [&](const Finding& finding) {
    const Verdict verdict = effective_verdict(finding, choice.policy->spec.expectations);
    if (verdict != Verdict::Fail && verdict != Verdict::Unknown) return;
    bad.push_back(finding);
    bad.back().verdict = verdict;
  };
  for (const Finding& finding : report->status.findings) collect(finding);
  for (const Finding& finding : fleet) collect(finding);
  for (const std::string_view id : required_checks(choice.policy->spec.expectations)) {
    const std::vector<Finding>& findings = report->status.findings;
    const bool answered = (report->status.answered & api::answered_bit(id)) != 0 ||
                          std::any_of(findings.begin(), findings.end(), [&](const Finding& f) { return f.check == id && is_answer(f); });
    if (!answered) {
      bad.push_back(Finding{.check = std::string(id), .verdict = Verdict::Unknown, .wanted = "a finding",
                            .message = "the report says nothing about it; the agent may be older than the policy"});
    }
  }
  if (bad.empty()) return NodeVerdict{.word = NodeWord::Ready, .reason = "Ready", .message = "every check that blocks has passed"};

  std::stable_sort(bad.begin(), bad.end(), [](const Finding& a, const Finding& b) {
    return a.verdict == Verdict::Fail && b.verdict != Verdict::Fail;
  });
  NodeVerdict verdict{.word = bad.front().verdict == Verdict::Fail ? NodeWord::NotReady : NodeWord::Unknown, .reason = reason_word(bad.front().check)};
  verdict.message = shorten(escape_controls(join(sentences_of(bad), "; ")), api::kMaxConditionMessage);
  verdict.blocking = std::move(bad);
  return verdict;
}

std::map<std::string, NodeVerdict, std::less<>> judge_nodes(const ClusterSnapshot& snapshot) {
  std::map<std::string_view, const api::NodeReadiness*> reports;
  for (const auto& report : snapshot.reports) reports.emplace(report->meta.name, report.get());
  const auto fleet = compare_fleet(snapshot);
  std::map<std::string, NodeVerdict, std::less<>> verdicts;
  for (const auto& node : snapshot.nodes) {
    const bool selected = choose_policy(snapshot.policies, *node, snapshot.config.gpu_resource).problem != "NoPolicy";
    if (!selected && gpus_of(*node, snapshot.config.gpu_resource) == 0 && node->unreadable.empty()) continue;
    const auto report = reports.find(node->meta.name);
    const auto findings = fleet.find(node->meta.name);
    verdicts.emplace(node->meta.name,
                     judge_node(snapshot, *node, report == reports.end() ? nullptr : report->second,
                                findings == fleet.end() ? std::vector<Finding>{} : findings->second));
  }
  return verdicts;
}

}  // namespace verl::core
