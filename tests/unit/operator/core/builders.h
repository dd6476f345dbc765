// A small cluster as plain values, and a simulation that plays the apiserver, the scheduler and the kubelets, so that the
// life of a job can be told step by step without any of them. Everything passes until a test spoils it.
#pragma once

#include <functional>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "operator/core/reconcile.h"

namespace verl::core::testing {

inline constexpr Timestamp kStart{std::chrono::seconds{1'796'000'000}};

// What a snapshot is taken of. Keys are names; of jobs and pods "namespace/name".
struct World {
  Timestamp now{kStart};
  Config config{};
  std::map<std::string, api::Node> nodes{};
  std::map<std::string, api::Pod> pods{};
  std::map<std::string, api::NodeReadiness> reports{};
  std::map<std::string, api::ReadinessPolicy> policies{};
  std::map<std::string, api::VerlJob> jobs{};
  std::map<std::string, api::PriorityClass> classes{};
  std::map<std::string, api::ResourceQuota> quotas{};
  std::map<std::string, api::Heartbeat> heartbeats{};
  std::map<std::string, Seconds, std::less<>> ages{};
  std::map<std::string, std::vector<DryRun>, std::less<>> dry_runs{};
  std::set<std::string, std::less<>> held{};
  std::map<std::string, api::Placement, std::less<>> unseen{};
  std::vector<std::string> unreadable_pods{};
};

ClusterSnapshot snapshot(const World& world);

// racks × per_rack nodes "n00", "n01", … with 8 GPUs, 64 cores and 1 TiB each, addresses 10.0.<rack>.<number>, passing
// reports, fresh heartbeats, policy "p" (memoryPerGPU 100Gi, MTU 9000) and the classes "verl-job" (0) and "urgent" (100).
World cluster(int racks, int per_rack);

api::Node node(const std::string& name, const std::string& rack, const std::string& address);
api::NodeReadiness passing_report(const World& world, const api::Node& node);
Finding pass(const std::string& check);

// Adds a job to "rl" and returns it; each is a second younger than the one before.
api::VerlJob& add_job(World& world, const std::string& name, std::int32_t nodes, std::int32_t gpus = 8);
api::VerlJob& job_of(World& world, const std::string& name);

// A pod of somebody else, bound.
api::Pod& add_stranger(World& world, const std::string& name, const std::string& node, api::Resources requests);

api::ContainerState running(std::string name, Timestamp since);
api::ContainerState ended(std::string name, std::int32_t code, std::string message, Timestamp at);

const api::Condition& condition(const api::VerlJobStatus& status, std::string_view type);
std::string condition_line(const api::VerlJobStatus& status);  // "Ready=False/Placed Reconciling=True/Starting …"

template <class T>
std::vector<T> actions_of(const Plan& plan) {
  std::vector<T> found;
  for (const Action& action : plan.actions) {
    if (const T* one = std::get_if<T>(&action)) found.push_back(*one);
  }
  return found;
}

// The plan as short lines for people: "dry-run main", "create pods a-1-0 a-1-1", "status Starting/Placed", "look again in 60 s".
std::string told(const Plan& plan);

class Simulation final {
 public:
  explicit Simulation(World start) : world(std::move(start)) {}

  World world;

  // One round: plans from the world as it is, does what the plans say. Returns the plans.
  std::vector<Plan> round();
  // Rounds until nothing is written any more; fails after `limit`.
  void settle(int limit = 12);
  void apply(const Plan& plan);
  void advance(Seconds by) { world.now += by; }

  api::VerlJob& job(const std::string& name) { return job_of(world, name); }
  std::vector<api::Pod*> pods(const std::string& name);  // of a job, by name
  api::Pod& pod(const std::string& name) { return world.pods.at("rl/" + name); }

  void bind();                 // the scheduler: every pending pod to the node it is pinned to
  void start();                // the kubelets: every bound pod's containers run
  void pass_gate(const std::string& job_name);
  // Ten seconds ago; every agent was heard of since.
  void end_driver(const std::string& job_name, std::int32_t code, const std::string& message);
  void remove_deleted();       // the kubelets: pods with a deletionTimestamp are gone
  // settle, bind, start, pass the gate, settle
  void run(const std::string& job_name);

 private:
  int version_{1};
};

inline constexpr const char* kPassed = R"({"verl.run/gate": "Passed", "message": "trainer started", "nodes": 2})";

}  // namespace verl::core::testing
