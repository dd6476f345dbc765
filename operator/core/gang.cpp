#include "operator/core/gang.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "base/text.h"
#include "operator/core/attempt.h"
#include "operator/core/by_name.h"
#include "operator/core/fit/host_ports.h"
#include "operator/core/nccl_environment.h"
#include "operator/core/placement/placement.h"
#include "operator/core/pod_template.h"
#include "operator/core/pool_facts.h"
#include "operator/core/shortage.h"

namespace verl::core {
namespace {

// The smallest MTU of the fabric interfaces; nothing when the report names none.
std::optional<std::int32_t> fabric_mtu(const api::NodeReadiness& report) {
  std::optional<std::int32_t> least;
  for (const api::InterfaceStatus& interface : report.status.interfaces) {
    if (interface.fabric && (!least || interface.mtu < *least)) least = interface.mtu;
  }
  return least;
}

class Chooser {
 public:
  Chooser(const ClusterSnapshot& snapshot, const Ledger& ledger, const Verdicts& verdicts, const api::VerlJob& job)
      : snapshot_(snapshot), ledger_(ledger), verdicts_(verdicts), job_(job) {
    for (const api::Pool& pool : job.spec.pools) pools_.push_back(facts_of(snapshot, job, pool));
    for (const Level& level : snapshot.config.levels) {
      if (says_something(level)) levels_.push_back(&level);
    }
    for (const Level* level : levels_) level_names_.push_back(level->name);
  }

  GangDecision decide() {
    placement::Problem problem = make_problem();
    const auto outcome = solve_within_one_mtu(problem);
    if (!outcome) {
      decision_.reason = "PlacementImpossible";
      decision_.message = outcome.error().message + ".";
      return std::move(decision_);
    }
    if (const auto* solution = std::get_if<placement::Solution>(&*outcome)) {
      accept(problem, *solution);
    } else {
      explain_shortage(std::get<placement::Shortage>(*outcome), level_names_, nodes_.size(), decision_);
      if (const auto too_large = beyond_every_node()) {
        decision_.reason = "NoNodeLargeEnough";
        decision_.message = *too_large;
        decision_.smallest_change.clear();
      }
    }
    return std::move(decision_);
  }

  // Why this node may not take this pool's pod; nothing: it may.
  std::optional<LeftOut> unfit(const api::Node& node, const PoolFacts& facts, std::int32_t port_base) const {
    const auto out = [&](std::string reason, std::string message, bool mendable = false) {
      return LeftOut{.node = node.meta.name, .domain = "", .reason = std::move(reason), .message = std::move(message), .mendable = mendable};
    };
    const auto verdict = verdicts_.find(node.meta.name);
    if (verdict == verdicts_.end()) return out("NoGPUs", "offers no GPUs and no policy selects it");
    if (verdict->second.word != NodeWord::Ready) return out(verdict->second.reason, verdict->second.message, true);
    if (!node.unreadable.empty()) return out("NodeUnreadable", fmt::format("cannot be read: {}", join_some(node.unreadable, 3)));
    for (const api::RejectedNode& rejected : job_.status.rejected_nodes) {
      if (rejected.node == node.meta.name && rejected.until > snapshot_.now) {
        return out("Rejected", fmt::format("did not take a pod of an earlier attempt ({}); left out until {}", rejected.reason, format_rfc3339(rejected.until)));
      }
    }
    if (node.internal_ip.empty()) return out("NoAddress", "has no InternalIP");
    const api::NodeReadiness* report = find_by_name(snapshot_.reports, node.meta.name);
    if (report == nullptr) return out("NoReport", "has no report", true);
    if (auto problem = unfit_for_network(*report)) return out(problem->first, problem->second, true);
    const PolicyChoice choice = choose_policy(snapshot_.policies, node, snapshot_.config.gpu_resource);
    if (choice.policy == nullptr) return out(choice.problem, choice.message);
    if (facts.host_paths && !template_problems(facts.pool->template_json, "template", choice.policy->spec.allowed_host_paths).empty()) {
      return out("HostPathNotAllowed", fmt::format("policy {} does not allow a host path of pool {}", choice.policy->meta.name, facts.pool->name));
    }
    const fit::NodeUse& use = ledger_.use(node.meta.name);
    const SizeOrProblem size = pod_size(snapshot_.config, facts, *choice.policy, node, use);
    // GPUs first: a node whose GPUs are taken has few cores left too, and the GPUs are what people look for.
    fit::PodNeeds needs = needs_of(snapshot_.config, facts, size.size, port_base);
    if (!size.problem.empty()) needs.requests.erase("cpu");
    const std::vector<fit::Misfit> misfits = fit::misfits(node, use, needs);
    if (!misfits.empty()) {
      const auto gpus = std::find_if(misfits.begin(), misfits.end(), [&](const fit::Misfit& m) { return m.subject == snapshot_.config.gpu_resource; });
      const fit::Misfit& telling = gpus == misfits.end() ? misfits.front() : *gpus;
      return out(telling.reason, telling.message);
    }
    if (!size.problem.empty()) return out(size.problem, size.message);
    return std::nullopt;
  }

 private:
  // A pod that no node could take even when it is empty: waiting for nodes to mend or for jobs to end does not help.
  std::optional<std::string> beyond_every_node() const {
    if (nodes_.empty()) return std::nullopt;
    for (const PoolFacts& facts : pools_) {
      // Only what the job itself says: other amounts depend on the node and its policy.
      const TemplateResources own = template_resources(facts.pool->template_json);
      std::vector<std::pair<std::string, std::int64_t>> asked{{snapshot_.config.gpu_resource, std::int64_t{facts.pool->gpus_per_node} * 1000}};
      if (own.memory) asked.emplace_back("memory", *own.memory);
      if (own.cpu) asked.emplace_back("cpu", *own.cpu);
      for (const auto& [resource, wanted] : asked) {
        std::int64_t most = 0;
        for (const api::Node* node : nodes_) most = std::max(most, fit::amount(node->allocatable, resource));
        if (wanted <= most || most == 0) continue;  // none at all: device plugins may be starting
        return fmt::format("a pod of pool {} asks for {} of {}, and the largest node has {} in all. Waiting does not help: ask for less, or add such nodes.",
                           facts.pool->name, fit::shown(resource, wanted), resource, fit::shown(resource, most));
      }
    }
    return std::nullopt;
  }

  std::optional<std::pair<std::string, std::string>> unfit_for_network(const api::NodeReadiness& report) const {
    const api::Network& network = job_.spec.network;
    if (control_interface(report).empty()) {
      return std::pair<std::string, std::string>{"NoControlInterface", fmt::format("the report names no interface that carries {}", report.spec.address)};
    }
    if (network.mtu) {
      const auto mtu = fabric_mtu(report);
      if (!mtu) return std::pair<std::string, std::string>{"MTUUnknown", fmt::format("the report names no fabric interface; the job wants MTU {}", *network.mtu)};
      if (*mtu < *network.mtu) return std::pair<std::string, std::string>{"MTUInterface", fmt::format("MTU {}, the job wants {}", *mtu, *network.mtu)};
    }
    const bool rdma = network.transport == api::Transport::RoCE || network.transport == api::Transport::InfiniBand;
    if (rdma && rdma_ports(report, network.transport).empty()) {
      return std::pair<std::string, std::string>{"NoRDMA", fmt::format("no active {} port; the job wants transport {}", to_string(network.transport), to_string(network.transport))};
    }
    return std::nullopt;
  }

  // A level that no node is labelled with (zones, on premises) says nothing and would only cast doubt on the others, unless the job
  // asks for it by name.
  bool says_something(const Level& level) const {
    const auto asks = [&](const std::optional<api::Topology>& wanted) { return wanted && wanted->level == level.name; };
    return asks(job_.spec.topology) ||
           std::any_of(job_.spec.pools.begin(), job_.spec.pools.end(), [&](const api::Pool& pool) { return asks(pool.topology); }) ||
           std::any_of(snapshot_.nodes.begin(), snapshot_.nodes.end(), [&](const auto& node) { return node->meta.labels.contains(level.key); });
  }

  std::string domain_of(const api::Node& node, size_t level) const {
    if (level >= levels_.size()) return "";
    const auto label = node.meta.labels.find(levels_[level]->key);
    return label == node.meta.labels.end() ? "" : label->second;
  }

  std::optional<placement::Topology> topology_of(const std::optional<api::Topology>& wanted) const {
    if (!wanted) return std::nullopt;
    const auto found = std::find(level_names_.begin(), level_names_.end(), wanted->level);
    if (found == level_names_.end()) return std::nullopt;  // refused by spec_problem before
    return placement::Topology{.level = static_cast<size_t>(found - level_names_.begin()), .mode = wanted->mode};
  }

  size_t reported_level() const {
    std::optional<api::Topology> wanted = job_.spec.topology;
    for (const api::Pool& pool : job_.spec.pools) {
      if (!wanted) wanted = pool.topology;
    }
    const auto topology = topology_of(wanted);
    if (topology) return topology->level;
    return level_names_.empty() ? 0 : level_names_.size() - 1;
  }

  placement::Problem make_problem() {
    placement::Problem problem{.levels = level_names_, .topology = topology_of(job_.spec.topology)};
    for (const PoolFacts& facts : pools_) {
      problem.pools.push_back({.name = facts.pool->name, .nodes = facts.pool->nodes, .eligible = {}, .topology = topology_of(facts.pool->topology)});
    }
    const size_t level = reported_level();
    for (const auto& node : snapshot_.nodes) {
      if (!verdicts_.contains(node->meta.name)) continue;
      const auto index = static_cast<std::uint32_t>(problem.candidates.size());
      placement::Candidate candidate{.node = node->meta.name, .address = node->internal_ip, .domains = {}};
      for (size_t i = 0; i < level_names_.size(); ++i) candidate.domains.push_back(domain_of(*node, i));
      std::optional<LeftOut> reason;
      bool taken = false;
      for (size_t p = 0; p < pools_.size(); ++p) {
        auto why = unfit(*node, pools_[p], 0);
        if (!why) {
          problem.pools[p].eligible.push_back(index);
          taken = true;
        } else if (!reason) {
          reason = std::move(why);
        }
      }
      if (taken) {
        decision_.eligible.push_back(node->meta.name);
      } else if (reason) {
        reason->domain = domain_of(*node, level);
        decision_.left_out.push_back(std::move(*reason));
      }
      problem.candidates.push_back(std::move(candidate));
      nodes_.push_back(node.get());
    }
    for (const api::RejectedNode& rejected : job_.status.rejected_nodes) {
      if (rejected.until > snapshot_.now && (!decision_.next_change || rejected.until < *decision_.next_change)) decision_.next_change = rejected.until;
    }
    return problem;
  }

  // The MTU must be equal over the chosen nodes, so each value is tried by itself, the largest first.
  Result<placement::Outcome> solve_within_one_mtu(const placement::Problem& problem) const {
    std::set<std::int32_t, std::greater<>> values;
    for (const placement::Pool& pool : problem.pools) {
      for (const std::uint32_t index : pool.eligible) values.insert(mtu_of(index));
    }
    if (values.size() <= 1) return placement::solve(problem);
    std::optional<placement::Outcome> best;
    for (const std::int32_t value : values) {
      placement::Problem part = problem;
      for (placement::Pool& pool : part.pools) std::erase_if(pool.eligible, [&](std::uint32_t index) { return mtu_of(index) != value; });
      auto outcome = placement::solve(part);
      if (!outcome) return outcome;
      if (!best || better(*outcome, *best)) best = std::move(*outcome);
    }
    return *best;
  }

  static bool better(const placement::Outcome& a, const placement::Outcome& b) {
    const auto* solved_a = std::get_if<placement::Solution>(&a);
    const auto* solved_b = std::get_if<placement::Solution>(&b);
    if ((solved_a != nullptr) != (solved_b != nullptr)) return solved_a != nullptr;
    if (solved_a == nullptr) return available(std::get<placement::Shortage>(a)) > available(std::get<placement::Shortage>(b));
    const auto cost = [](const placement::Solution& s) {
      std::vector<std::int32_t> values;
      for (const placement::Span& span : s.spans) values.push_back(span.domains);
      for (const placement::Span& span : s.spans) values.push_back(span.edges);
      return values;
    };
    return cost(*solved_a) < cost(*solved_b);
  }

  static std::int32_t available(const placement::Shortage& s) { return s.best.empty() ? s.available : s.best.front().eligible; }

  std::int32_t mtu_of(std::uint32_t index) const {
    const api::NodeReadiness* report = find_by_name(snapshot_.reports, nodes_[index]->meta.name);
    return report == nullptr ? 0 : fabric_mtu(*report).value_or(0);
  }

  void accept(const placement::Problem& problem, const placement::Solution& solution) {
    const std::int32_t before = std::clamp(job_.status.attempts.started, 0, std::numeric_limits<std::int32_t>::max() - 1);
    api::Placement placement{.attempt = before + 1, .job_generation = job_.meta.generation, .decided = snapshot_.now};
    for (size_t i = 0; i < solution.ranks.size(); ++i) {
      const api::Node& node = *nodes_[solution.ranks[i].candidate];
      placement.ranks.push_back({.rank = static_cast<std::int32_t>(i), .pool = problem.pools[solution.ranks[i].pool].name, .node = node.meta.name,
                                 .node_uid = node.meta.uid, .boot_id = node.boot_id, .address = node.internal_ip});
    }
    if (!solution.spans.empty()) {
      const placement::Span& span = solution.spans[solution.reported_level];
      placement.racks = span.domains;
      placement.racks_proven = span.domains_proven;
      placement.cross_rack_edges = span.edges;
      placement.edges_proven = span.edges_proven;
      placement.domains = span.names;
    }
    const auto base = port_base(placement);
    if (!base) {
      decision_.reason = "NoPortBlock";
      decision_.message = fmt::format("no block of {} free host ports in {}-{} is common to the {} chosen nodes.", fit::kBlockSize, snapshot_.config.port_first,
                                      snapshot_.config.port_last, placement.ranks.size());
      return;
    }
    placement.port_base = *base;
    decision_.reason = "Placed";
    decision_.message = describe_placement(placement);
    decision_.placement = std::move(placement);
  }

  std::string describe_placement(const api::Placement& placement) const {
    std::vector<std::string> names;
    for (const api::RankPlacement& rank : placement.ranks) names.push_back(rank.node);
    const std::string nodes = fmt::format("{} node{}", names.size(), names.size() == 1 ? "" : "s");
    if (level_names_.empty()) return fmt::format("{}: {}", nodes, join_some(names, 8));
    return fmt::format("{} in {} {}{} ({}), {} cross-{} edges{}: {}", nodes, placement.racks, level_names_[reported_level()],
                       placement.racks == 1 ? "" : "s", join_some(placement.domains, 4), placement.cross_rack_edges, level_names_[reported_level()],
                       placement.racks_proven && placement.edges_proven ? ", both proven fewest" : "", join_some(names, 8));
  }

  std::optional<std::int32_t> port_base(const api::Placement& placement) const {
    std::set<std::int32_t> taken;
    for (const auto& policy : snapshot_.policies) taken.insert(policy->spec.reserved_ports.begin(), policy->spec.reserved_ports.end());
    for (const PoolFacts& facts : pools_) {
      for (const api::HostPort& port : facts.ports) taken.insert(port.port);
    }
    std::vector<const fit::NodeUse*> uses;
    for (const api::RankPlacement& rank : placement.ranks) uses.push_back(&ledger_.use(rank.node));
    return fit::free_block({.first = snapshot_.config.port_first, .last = snapshot_.config.port_last,
                            .reserved = std::vector<std::int32_t>(taken.begin(), taken.end())}, uses);
  }

  const ClusterSnapshot& snapshot_;
  const Ledger& ledger_;
  const Verdicts& verdicts_;
  const api::VerlJob& job_;
  std::vector<PoolFacts> pools_{};
  std::vector<const Level*> levels_{};
  std::vector<std::string> level_names_{};
  std::vector<const api::Node*> nodes_{};  // by candidate index
  GangDecision decision_{};
};

}  // namespace

GangDecision decide_gang(const ClusterSnapshot& snapshot, const Ledger& ledger, const Verdicts& verdicts, const api::VerlJob& job) {
  return Chooser(snapshot, ledger, verdicts, job).decide();
}

std::vector<RankNeeds> rank_needs(const ClusterSnapshot& snapshot, const Ledger& ledger, const api::VerlJob& job,
                                  const api::Placement& placement) {
  std::map<std::string_view, PoolFacts> pools;
  for (const api::Pool& pool : job.spec.pools) pools.emplace(pool.name, facts_of(snapshot, job, pool));

  std::vector<RankNeeds> all;
  for (const api::RankPlacement& rank : placement.ranks) {
    RankNeeds entry{.input = {.rank = rank, .size = {}, .environment = {}}, .needs = {}};
    const auto facts = pools.find(rank.pool);
    const api::Node* node = find_by_name(snapshot.nodes, rank.node);
    if (facts != pools.end() && node != nullptr) {
      const PolicyChoice choice = choose_policy(snapshot.policies, *node, snapshot.config.gpu_resource);
      entry.input.size = facts->second.nominal;
      if (choice.policy != nullptr) {
        entry.input.size = pod_size(snapshot.config, facts->second, *choice.policy, *node, ledger.use(rank.node)).size;
      }
      const api::NodeReadiness* report = find_by_name(snapshot.reports, rank.node);
      if (report != nullptr) entry.input.environment = nccl_environment(job.spec, *report);
      entry.needs = needs_of(snapshot.config, facts->second, entry.input.size, placement.port_base);
    }
    all.push_back(std::move(entry));
  }
  return all;
}

std::string placement_problem(const ClusterSnapshot& snapshot, const Ledger& others, const Verdicts& verdicts, const api::VerlJob& job) {
  const api::Placement& placement = *job.status.placement;
  if (const auto fault = placement_fault(placement)) return *fault;
  const Chooser chooser(snapshot, others, verdicts, job);
  for (const api::RankPlacement& rank : placement.ranks) {
    const api::Node* node = find_by_name(snapshot.nodes, rank.node);
    if (const auto why = lost(rank, node)) return "before its pods were made: " + *why;
    const auto pool = std::find_if(job.spec.pools.begin(), job.spec.pools.end(), [&](const api::Pool& p) { return p.name == rank.pool; });
    if (pool == job.spec.pools.end()) return fmt::format("pool {} is no longer in the spec", rank.pool);
    const auto why = chooser.unfit(*node, facts_of(snapshot, job, *pool), placement.port_base);
    if (why) return fmt::format("before its pods were made, node {} turned {}: {}", rank.node, why->reason, why->message);
  }
  return "";
}

}  // namespace verl::core
