#include "builders.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "api/check_catalogue.h"
#include "base/quantity.h"
#include "operator/core/json_at.h"

namespace verl::core::testing {
namespace {

using nlohmann::json;

template <class T>
std::vector<Shared<T>> shared_values(const std::map<std::string, T>& values) {
  std::vector<Shared<T>> all;
  for (const auto& entry : values) all.push_back(std::make_shared<const T>(entry.second));
  return all;
}

api::Resources requests_of(const json& pod) {
  api::Resources sum;
  for (const json& container : pod["spec"]["containers"]) {
    const json* requests = json_at(container, {"resources", "requests"});
    if (requests == nullptr || !requests->is_object()) continue;
    for (const auto& item : requests->items()) {
      const std::int64_t amount = item.value().is_string() ? parse_quantity_milli(item.value().get<std::string>()).value_or(0) : 0;
      std::int64_t& all = sum[item.key()];
      if (__builtin_add_overflow(all, amount, &all)) all = std::numeric_limits<std::int64_t>::max();
    }
  }
  return sum;
}

// As the apiserver would store it and the caches would hold it.
api::Pod pod_of(const json& manifest, Timestamp now) {
  api::Pod pod{.phase = "Pending"};
  pod.meta.name_space = manifest["metadata"]["namespace"];
  pod.meta.name = manifest["metadata"]["name"];
  pod.meta.uid = "uid-" + pod.meta.name;
  pod.meta.resource_version = "1";
  pod.meta.created = now;
  pod.meta.labels = manifest["metadata"]["labels"].get<api::Labels>();
  pod.owner_uid = manifest["metadata"]["ownerReferences"][0]["uid"];
  pod.requests = requests_of(manifest);
  for (const json& container : manifest["spec"]["containers"]) {
    const json* ports = json_at(container, {"ports"});
    if (ports == nullptr || !ports->is_array()) continue;
    for (const json& port : *ports) {
      const json* number = json_at(port, {"containerPort"});
      if (number != nullptr && number->is_number_integer()) {
        pod.host_ports.push_back({.ip = "", .protocol = "TCP", .port = static_cast<std::int32_t>(number->get<std::int64_t>())});
      }
    }
  }
  return pod;
}

}  // namespace

ClusterSnapshot snapshot(const World& world) {
  return {.now = world.now,
          .config = world.config,
          .nodes = shared_values(world.nodes),
          .pods = shared_values(world.pods),
          .reports = shared_values(world.reports),
          .policies = shared_values(world.policies),
          .jobs = shared_values(world.jobs),
          .priority_classes = shared_values(world.classes),
          .quotas = shared_values(world.quotas),
          .heartbeats = shared_values(world.heartbeats),
          .heartbeat_age = world.ages,
          .dry_runs = world.dry_runs,
          .held = world.held,
          .unseen = world.unseen,
          .unreadable_pods = world.unreadable_pods};
}

Finding pass(const std::string& check) { return {.check = check, .verdict = Verdict::Pass}; }

api::Node node(const std::string& name, const std::string& rack, const std::string& address) {
  api::Node made{.ready = api::ConditionStatus::True, .internal_ip = address, .boot_id = "boot-" + name};
  made.meta.name = name;
  made.meta.uid = "uid-" + name;
  made.meta.labels = {{"rack", rack}};
  made.taints = {{.key = "nvidia.com/gpu", .value = "", .effect = "NoSchedule"}};
  made.allocatable = {{"cpu", 64'000}, {"memory", 1024 * kGiB.count * 1000}, {"pods", 110'000}, {"nvidia.com/gpu", 8'000}};
  return made;
}

api::NodeReadiness passing_report(const World& world, const api::Node& of) {
  api::NodeReadiness report{};
  report.meta.name = of.meta.name;
  report.meta.uid = "report-" + of.meta.name;
  report.meta.generation = 1;
  report.meta.resource_version = "1";
  report.spec = report_spec(snapshot(world), of);
  report.status = {.observed_generation = 1, .node_uid = of.meta.uid, .boot_id = of.boot_id, .agent_version = "test"};
  report.status.findings = {pass("clock-sync"), pass("mtu-interface")};  // these two first: tests spoil them
  for (const api::CheckEntry& entry : api::kChecks) {
    if (entry.id != "clock-sync" && entry.id != "mtu-interface") report.status.findings.push_back(pass(std::string(entry.id)));
  }
  report.status.interfaces = {{.name = "eth0", .up = true, .mtu = 1500, .control = true, .addresses = {of.internal_ip}},
                              {.name = "ens3f0", .up = true, .mtu = 9000, .fabric = true}};
  report.status.rdma = {{.device = "mlx5_1", .port = 1, .state = "ACTIVE", .link_layer = "Ethernet", .active_mtu = 4096, .rate_gbps = 400, .netdev = "ens3f0"},
                        {.device = "mlx5_0", .port = 1, .state = "ACTIVE", .link_layer = "Ethernet", .active_mtu = 4096, .rate_gbps = 400, .netdev = "ens3f1"}};
  return report;
}

World cluster(int racks, int per_rack) {
  World world{};
  world.config.levels = {{.name = "rack", .key = "rack"}};
  api::ReadinessPolicy policy{};
  policy.meta.name = "p";
  policy.meta.generation = 1;
  policy.spec.expectations.thresholds.mtu_min = 9000;
  policy.spec.memory_per_gpu = Bytes{100 * kGiB.count};
  world.policies["p"] = policy;
  for (const auto& [name, value] : std::map<std::string, std::int32_t>{{"verl-job", 0}, {"urgent", 100}}) {
    api::PriorityClass one{.value = value, .may_preempt = false};
    one.meta.name = name;
    world.classes[name] = one;
  }
  for (int rack = 0; rack < racks; ++rack) {
    for (int i = 0; i < per_rack; ++i) {
      const int number = rack * per_rack + i;
      const std::string name = fmt::format("n{:02}", number);
      world.nodes[name] = node(name, fmt::format("r{}", rack), fmt::format("10.0.{}.{}", rack, number));
      world.ages[name] = Seconds{5};
    }
  }
  for (const auto& entry : world.nodes) {
    world.reports[entry.first] = passing_report(world, entry.second);
    api::Heartbeat heartbeat{.holder = entry.first, .renewed = world.now - Seconds{5}, .duration = Seconds{90}};
    heartbeat.meta.name = entry.first;
    world.heartbeats[entry.first] = heartbeat;
  }
  return world;
}

api::VerlJob& add_job(World& world, const std::string& name, std::int32_t nodes, std::int32_t gpus) {
  api::VerlJob job{};
  job.meta.name_space = "rl";
  job.meta.name = name;
  job.meta.uid = "job-" + name;
  job.meta.generation = 1;
  job.meta.resource_version = "1";
  job.meta.created = kStart - Seconds{3600} + Seconds{static_cast<std::int64_t>(world.jobs.size())};
  job.spec.image = "registry.example/verl:0.9.1";
  job.spec.trainer.module = "verl.trainer.main_ppo";
  job.spec.pools = {{.name = "main", .nodes = nodes, .gpus_per_node = gpus}};
  return world.jobs["rl/" + name] = job;
}

api::VerlJob& job_of(World& world, const std::string& name) { return world.jobs.at("rl/" + name); }

api::Pod& add_stranger(World& world, const std::string& name, const std::string& on, api::Resources requests) {
  api::Pod pod{.node_name = on, .phase = "Running", .requests = std::move(requests)};
  pod.meta.name_space = "other";
  pod.meta.name = name;
  pod.meta.uid = "uid-" + name;
  return world.pods["other/" + name] = pod;
}

api::ContainerState running(std::string name, Timestamp since) {
  return {.name = std::move(name), .started = true, .running = true, .started_at = since};
}

api::ContainerState ended(std::string name, std::int32_t code, std::string message, Timestamp at) {
  return {.name = std::move(name), .started = true, .exit_code = code, .terminated_reason = code == 0 ? "Completed" : "Error",
          .termination_message = std::move(message), .started_at = at - Seconds{60}, .finished_at = at};
}

const api::Condition& condition(const api::VerlJobStatus& status, std::string_view type) {
  static const api::Condition kNone{.type = "none", .reason = "ABSENT"};
  const api::Condition* found = api::find_condition(status.conditions, type);
  return found == nullptr ? kNone : *found;
}

std::string condition_line(const api::VerlJobStatus& status) {
  std::string line;
  for (const api::Condition& one : status.conditions) {
    line += fmt::format("{}{}={}/{}", line.empty() ? "" : " ", one.type, api::to_string(one.status), one.reason);
  }
  return line;
}

std::string told(const Plan& plan) {
  std::string text;
  const auto line = [&](const std::string& one) { text += one + "\n"; };
  for (const Action& action : plan.actions) {
    if (const auto* dry = std::get_if<DryRunPods>(&action)) {
      for (const auto& pod : dry->pods) line("dry-run " + pod.first);
    } else if (const auto* secret = std::get_if<CreateSecret>(&action)) {
      line("create secret " + secret->name);
    } else if (const auto* create = std::get_if<CreatePods>(&action)) {
      std::string names;
      for (const auto& pod : create->pods) names += " " + pod.first;
      line("create pods" + names);
    } else if (const auto* gone = std::get_if<DeletePod>(&action)) {
      line(fmt::format("delete pod {} ({})", gone->name, gone->why));
    } else if (std::holds_alternative<DeleteJob>(action)) {
      line("delete job");
    } else if (const auto* event = std::get_if<EmitEvent>(&action)) {
      line(fmt::format("event {} {}: {}", event->warning ? "Warning" : "Normal", event->reason, event->note));
    }
  }
  if (plan.status) {
    line(fmt::format("status {}/{} ready {}", plan.status->phase, plan.status->reason, plan.status->ready));
    line("  " + condition_line(*plan.status));
    if (plan.status->placement) {
      std::string nodes;
      for (const api::RankPlacement& rank : plan.status->placement->ranks) nodes += fmt::format(" {}:{}", rank.rank, rank.node);
      line(fmt::format("  attempt {} port base {}{}", plan.status->placement->attempt, plan.status->placement->port_base, nodes));
    }
  }
  if (plan.requeue_after) line(fmt::format("look again in {} s", plan.requeue_after->count()));
  return text;
}

std::vector<Plan> Simulation::round() {
  const std::vector<Plan> plans = plan_round(snapshot(world)).plans;
  for (const Plan& plan : plans) apply(plan);
  return plans;
}

void Simulation::settle(int limit) {
  for (int i = 0; i < limit; ++i) {
    bool wrote = false;
    for (const Plan& plan : round()) wrote = wrote || plan.status || !plan.actions.empty();
    if (!wrote) return;
  }
  ADD_FAILURE() << "still writing after " << limit << " rounds";
}

void Simulation::apply(const Plan& plan) {
  const std::string key = plan.name_space + "/" + plan.job;
  const auto found = world.jobs.find(key);
  if (found == world.jobs.end()) return;
  for (const Action& action : plan.actions) {
    if (const auto* dry = std::get_if<DryRunPods>(&action)) {
      std::vector<DryRun> runs;
      for (const auto& [pool, manifest] : dry->pods) {
        runs.push_back({.job_generation = found->second.meta.generation, .asked = world.now, .pool = pool, .allowed = true,
                        .requests = requests_of(json::parse(manifest))});
      }
      world.dry_runs[plan.job_uid] = std::move(runs);
    } else if (const auto* create = std::get_if<CreatePods>(&action)) {
      for (const auto& entry : create->pods) {
        const api::Pod pod = pod_of(json::parse(entry.second), world.now);
        EXPECT_TRUE(world.pods.emplace(pod.meta.name_space + "/" + pod.meta.name, pod).second) << "created twice: " << entry.first;
      }
    } else if (const auto* gone = std::get_if<DeletePod>(&action)) {
      const auto pod = world.pods.find(plan.name_space + "/" + gone->name);
      if (pod != world.pods.end()) pod->second.meta.deleted = world.now;
    } else if (std::holds_alternative<DeleteJob>(action)) {
      world.jobs.erase(found);
      return;
    }
  }
  if (plan.status) {
    found->second.status = *plan.status;
    found->second.meta.resource_version = std::to_string(++version_);
  }
}

std::vector<api::Pod*> Simulation::pods(const std::string& name) {
  std::vector<api::Pod*> all;
  for (auto& entry : world.pods) {
    if (entry.second.owner_uid == job(name).meta.uid) all.push_back(&entry.second);
  }
  return all;
}

void Simulation::bind() {
  for (auto& entry : world.jobs) {
    if (!entry.second.status.placement) continue;
    const api::Placement& placement = *entry.second.status.placement;
    for (const api::RankPlacement& rank : placement.ranks) {
      const auto pod = world.pods.find(fmt::format("rl/{}", pod_name(entry.second.meta.name, placement.attempt, rank.rank)));
      if (pod != world.pods.end() && pod->second.node_name.empty()) pod->second.node_name = rank.node;
    }
  }
}

void Simulation::start() {
  for (auto& entry : world.pods) {
    api::Pod& pod = entry.second;
    if (pod.phase != "Pending" || pod.node_name.empty()) continue;
    pod.phase = "Running";
    pod.containers = {running("ray", world.now)};
    pod.containers[0].ready = true;  // its raylet has joined
    if (pod.meta.labels[std::string(api::kRankLabel)] == "0") pod.containers.push_back(running("driver", world.now));
  }
}

void Simulation::pass_gate(const std::string& job_name) {
  for (api::Pod* pod : pods(job_name)) {
    for (api::ContainerState& container : pod->containers) container.ready = container.ready || container.name == "driver";
  }
}

void Simulation::end_driver(const std::string& job_name, std::int32_t code, const std::string& message) {
  for (api::Pod* pod : pods(job_name)) {
    for (api::ContainerState& container : pod->containers) {
      if (container.name == "driver") container = ended("driver", code, message, world.now - Seconds{10});
    }
  }
}

void Simulation::remove_deleted() {
  std::erase_if(world.pods, [](const auto& entry) { return entry.second.meta.deleted.has_value(); });
}

void Simulation::run(const std::string& job_name) {
  settle();
  bind();
  start();
  settle();
  pass_gate(job_name);
  settle();
}

}  // namespace verl::core::testing
