#include "kubectl-verl/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.h"
#include "codec/encode.h"
#include "operator/core/json_at.h"
#include "operator/core/reconcile.h"

namespace verl::cli {
namespace {

const api::VerlJob* job_by_uid(const core::ClusterSnapshot& snapshot, const std::string& uid) {
  const auto found = std::find_if(snapshot.jobs.begin(), snapshot.jobs.end(), [&](const auto& job) { return job->meta.uid == uid; });
  return found == snapshot.jobs.end() ? nullptr : found->get();
}

// The level whose domains are told: the one the job names, else the innermost.
const core::Level* reported_level(const core::ClusterSnapshot& snapshot, const api::VerlJob& job) {
  std::optional<api::Topology> wanted = job.spec.topology;
  for (const api::Pool& pool : job.spec.pools) {
    if (!wanted) wanted = pool.topology;
  }
  const auto& levels = snapshot.config.levels;
  if (wanted) {
    const auto named = std::find_if(levels.begin(), levels.end(), [&](const core::Level& level) { return level.name == wanted->level; });
    if (named != levels.end()) return &*named;
  }
  return levels.empty() ? nullptr : &levels.back();
}

std::vector<DomainAnswer> domains_of(const core::ClusterSnapshot& snapshot, const core::Round& round, const core::GangDecision& decision, const core::Level* level) {
  std::set<std::string_view> chosen;
  if (decision.placement) {
    for (const api::RankPlacement& rank : decision.placement->ranks) chosen.insert(rank.node);
  }
  const std::set<std::string_view> eligible(decision.eligible.begin(), decision.eligible.end());
  std::map<std::string_view, const core::LeftOut*> left_out;
  for (const core::LeftOut& one : decision.left_out) left_out.emplace(one.node, &one);
  std::map<std::string, DomainAnswer> by_name;
  for (const auto& node : snapshot.nodes) {
    const auto verdict = round.verdicts.find(node->meta.name);
    if (verdict == round.verdicts.end()) continue;
    NodeAnswer answer{.name = node->meta.name};
    if (chosen.contains(node->meta.name)) {
      answer.place = Place::Chosen;
    } else if (eligible.contains(node->meta.name)) {
      answer.place = Place::Fit;
    } else if (const auto why = left_out.find(node->meta.name); why != left_out.end()) {
      answer.reason = why->second->reason;
      answer.message = why->second->message;
      answer.mendable = why->second->mendable;
      answer.unknown = verdict->second.word == core::NodeWord::Unknown && verdict->second.reason == answer.reason;
    } else {
      answer.unknown = true;
      answer.reason = verdict->second.reason;
      answer.message = verdict->second.message;
    }
    const auto label = level == nullptr ? node->meta.labels.end() : node->meta.labels.find(level->key);
    const std::string domain = label == node->meta.labels.end() ? "" : label->second;
    by_name[domain].name = domain;
    by_name[domain].nodes.push_back(std::move(answer));
  }
  std::vector<DomainAnswer> domains;
  for (auto& entry : by_name) domains.push_back(std::move(entry.second));
  // Where the most nodes could be used first.
  const auto usable = [](const DomainAnswer& domain) {
    const auto count = [&](Place place) { return std::count_if(domain.nodes.begin(), domain.nodes.end(), [&](const NodeAnswer& n) { return n.place == place; }); };
    return std::pair(count(Place::Chosen), count(Place::Fit));
  };
  std::stable_sort(domains.begin(), domains.end(), [&](const DomainAnswer& a, const DomainAnswer& b) { return usable(a) > usable(b); });
  return domains;
}

std::vector<std::string> notes_of(const Source& source) {
  std::vector<std::string> notes{"dry runs are taken for passed: PodSecurity, LimitRange and admission webhooks are not seen"};
  if (source.fresh_assumed) notes.emplace_back("every agent is taken for alive (--assume-fresh)");
  if (!source.held.snapshot.heartbeats_known) notes.emplace_back("when agents were last heard of is not known, so no node is fit; --assume-fresh shows what would follow");
  return notes;
}

// Dry runs are taken for passed here, so what came of the real ones has to be remembered.
bool refused_before(const api::VerlJob& job) {
  constexpr std::array<std::string_view, 4> kRefusals{"PodRefused", "PodSecurityForbids", "PodMutated", "PodNameTaken"};
  return job.status.observed_generation == job.meta.generation && std::find(kRefusals.begin(), kRefusals.end(), own_words(job).reason) != kRefusals.end();
}

}  // namespace

bool fits(const PlanAnswer& answer) { return answer.placement.has_value() && !answer.refused; }

OwnWords own_words(const api::VerlJob& job) {
  const api::Condition* ready = api::find_condition(job.status.conditions, "Ready");
  OwnWords own{.phase = job.status.phase, .reason = job.status.reason, .message = ready == nullptr ? "" : ready->message};
  if (own.reason.empty() && ready != nullptr) own.reason = ready->reason;
  return own;
}

PlanAnswer plan_of(const Source& source, const std::string& uid) {
  core::ClusterSnapshot snapshot = source.held.snapshot;
  snapshot::assume_dry_runs(snapshot);
  PlanAnswer answer{.notes = notes_of(source), .source = source.origin};
  if (source.time_known) answer.time = snapshot.now;
  const api::VerlJob* job = job_by_uid(snapshot, uid);
  if (job == nullptr) return answer;
  answer.job = *job;
  const core::Round round = core::plan_round(snapshot);
  const core::Level* level = reported_level(snapshot, *job);
  answer.level = level == nullptr ? "" : level->name;
  const auto decided = round.decisions.find(uid);
  const auto plan = std::find_if(round.plans.begin(), round.plans.end(), [&](const core::Plan& one) { return one.job_uid == uid; });
  const api::VerlJobStatus& status = plan != round.plans.end() && plan->status ? *plan->status : job->status;
  if (decided != round.decisions.end() && !status.finished_at) {
    answer.placement = decided->second.placement;
    answer.searched = true;
    answer.reason = decided->second.reason;
    answer.message = decided->second.message;
    if (answer.placement && refused_before(*job)) {
      const OwnWords own = own_words(*job);
      answer.refused = true;
      answer.reason = own.reason;
      answer.message = own.message;
    }
    answer.smallest_change = decided->second.smallest_change;
    answer.domains = domains_of(snapshot, round, decided->second, level);
    return answer;
  }
  // Not looked at for placing: placed already, suspended, ended, refused.
  answer.ended = status.finished_at.has_value();
  if (!answer.ended) answer.placement = status.placement;
  answer.placed_before = answer.placement.has_value();
  answer.reason = status.reason.empty() ? "NotDecided" : status.reason;
  if (const api::Condition* ready = api::find_condition(status.conditions, "Ready")) answer.message = ready->message;
  if (answer.ended) {
    const std::string said = answer.message.empty() ? "" : answer.message + "; ";
    answer.message = said + "a job that has ended is not started again: delete it first, or take another name";
  }
  if (!answer.ended && job->spec.managed_by != "verl.run/verl-operator") {
    answer.reason = "ManagedElsewhere";
    answer.message = fmt::format("spec.managedBy is {}; this operator does not touch the job", job->spec.managed_by);
  }
  return answer;
}

std::string suppose(Source& source, api::VerlJob job) {
  core::ClusterSnapshot& snapshot = source.held.snapshot;
  const auto same = std::find_if(snapshot.jobs.begin(), snapshot.jobs.end(), [&](const auto& one) { return one->meta.name == job.meta.name && one->meta.name_space == job.meta.name_space; });
  if (same == snapshot.jobs.end()) {
    job.meta.uid = "plan";
    job.meta.generation = 1;
    job.meta.created = snapshot.now;
    snapshot.jobs.push_back(std::make_shared<const api::VerlJob>(job));
  } else {
    // The same object with this spec: identity, place in the queue and history stay.
    const api::VerlJobSpec spec = job.spec;
    job = **same;
    if (job.spec != spec) ++job.meta.generation;
    job.spec = spec;
    job.unreadable.clear();
    *same = std::make_shared<const api::VerlJob>(job);
  }
  snapshot::complete(snapshot);
  if (source.fresh_assumed) {
    for (const auto& node : snapshot.nodes) snapshot.heartbeat_age[node->meta.name] = Seconds{0};
  }
  return job.meta.uid;
}

Result<api::VerlJob> find_job(const Source& source, const std::string& name) {
  const auto slash = name.find('/');
  const std::string name_space = slash == std::string::npos ? source.name_space : name.substr(0, slash);
  const std::string own = slash == std::string::npos ? name : name.substr(slash + 1);
  std::vector<std::string> others;
  for (const auto& job : source.held.snapshot.jobs) {
    if (job->meta.name != own) continue;
    if (job->meta.name_space == name_space) return *job;
    others.push_back(job->meta.name_space);
  }
  return failure(ErrorCode::NotFound, escape_controls(fmt::format("there is no VerlJob {} in namespace {}{}", own, name_space,
                                                                  others.empty() ? "" : "; there is one in " + join_some(others, 4) + ": use -n")));
}

std::string placement_json(const api::VerlJob& job, const std::optional<api::Placement>& placement) {
  if (!placement) return "null";
  const std::string body = codec::encode_status(job.meta, api::VerlJobStatus{.placement = placement});
  const auto document = nlohmann::json::parse(body, nullptr, false);
  const nlohmann::json* found = core::json_at(document, {"status", "placement"});
  return found == nullptr ? "null" : found->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace verl::cli
