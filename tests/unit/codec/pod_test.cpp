#include <gtest/gtest.h>
#include <simdjson.h>

#include <cstdlib>

#include "codec/decode.h"

namespace verl::codec {
namespace {

api::Pod read(std::string_view json) {
  const auto pod = decode_object<api::Pod>(json);
  EXPECT_TRUE(pod) << pod.error().message;
  return pod ? *pod : api::Pod{};
}

struct Counted {
  const char* name;
  const char* pod;
  api::Resources wanted;
};

// Each row was worked out by hand along PodRequests of k8s.io/component-helpers 0.36.
TEST(PodRequests, AreCountedAsTheSchedulerDoes) {
  const Counted table[] = {
      {"the sum of the containers", R"({"spec":{"containers":[{"resources":{"requests":{"cpu":"1","memory":"1Ki"}}},{"resources":{"requests":{"cpu":"500m","nvidia.com/gpu":"8"}}},{}]}})",
       {{"cpu", 1500}, {"memory", 1'024'000}, {"nvidia.com/gpu", 8000}}},
      {"or the largest init container", R"({"spec":{"containers":[{"resources":{"requests":{"cpu":"1","memory":"2"}}}],
        "initContainers":[{"resources":{"requests":{"cpu":"3"}}},{"resources":{"requests":{"cpu":"2","memory":"1"}}}]}})",
       {{"cpu", 3000}, {"memory", 2000}}},
      {"sidecars count beside the containers", R"({"spec":{"containers":[{"resources":{"requests":{"cpu":"1"}}}],
        "initContainers":[{"restartPolicy":"Always","resources":{"requests":{"cpu":"2"}}}]}})",
       {{"cpu", 3000}}},
      {"and beside init containers that come after them", R"({"spec":{"containers":[{"resources":{"requests":{"cpu":"1"}}}],
        "initContainers":[{"resources":{"requests":{"cpu":"4"}}},{"restartPolicy":"Always","resources":{"requests":{"cpu":"2"}}},{"resources":{"requests":{"cpu":"3"}}}]}})",
       {{"cpu", 5000}}},
      {"overhead comes on top", R"({"spec":{"overhead":{"cpu":"250m","memory":"1"},"containers":[{"resources":{"requests":{"cpu":"1"}}}]}})",
       {{"cpu", 1250}, {"memory", 1000}}},
      {"requests of the pod replace those of containers, for cpu, memory and huge pages only",
       R"({"spec":{"resources":{"requests":{"cpu":"9","hugepages-2Mi":"4","nvidia.com/gpu":"1"}},"overhead":{"cpu":"1"},"containers":[{"resources":{"requests":{"cpu":"1","nvidia.com/gpu":"8"}}}]}})",
       {{"cpu", 10'000}, {"hugepages-2Mi", 4000}, {"nvidia.com/gpu", 8000}}},
      {"a resize counts with the larger of what is asked and what is held", R"({"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}}]},
        "status":{"containerStatuses":[{"name":"a","resources":{"requests":{"cpu":"3"}},"allocatedResources":{"cpu":"2"}}]}})",
       {{"cpu", 3000}}},
      {"a resize that cannot be done counts with what is held", R"({"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"9"}}}]},
        "status":{"conditions":[{"type":"PodResizePending","reason":"Infeasible"}],"containerStatuses":[{"name":"a","resources":{"requests":{"cpu":"3"}},"allocatedResources":{"cpu":"2"}}]}})",
       {{"cpu", 3000}}},
      {"only sidecars among init containers can be resized", R"({"spec":{"containers":[],"initContainers":[{"name":"i","resources":{"requests":{"cpu":"1"}}}]},
        "status":{"initContainerStatuses":[{"name":"i","resources":{"requests":{"cpu":"3"}}}]}})",
       {{"cpu", 1000}}},
      {"limits alone ask for nothing", R"({"spec":{"containers":[{"resources":{"limits":{"cpu":"1"}}}]}})", {}},
      {"no spec asks for nothing", R"({"metadata":{"name":"a"}})", {}},
  };
  for (const Counted& row : table) {
    const auto pod = read(row.pod);
    EXPECT_EQ(pod.requests, row.wanted) << row.name;
    EXPECT_TRUE(pod.unreadable.empty()) << row.name << ": " << pod.unreadable.front();
  }
}

TEST(PodRequests, AreUnreadableByNameWhenTheyCannotBeCounted) {
  EXPECT_EQ(read(R"({"spec":{"containers":[{"resources":{"requests":{"nvidia.com/gpu":"eight"}}}]}})").unreadable,
            (std::vector<std::string>{"spec.containers[0].resources.requests[nvidia.com/gpu]: \"eight\" is no quantity that can be counted"}));
  EXPECT_EQ(read(R"({"spec":{"containers":[{"resources":{"requests":{"memory":"9P"}}},{"resources":{"requests":{"memory":"9P"}}}]}})").unreadable,
            (std::vector<std::string>{"[memory]: the requests of the containers add up to more than can be counted"}));
  EXPECT_EQ(read(R"({"spec":{"containers":5}})").unreadable, (std::vector<std::string>{"spec.containers: must be a list, is 5"}));
}

struct Ports {
  const char* name;
  const char* pod;
  std::vector<api::HostPort> wanted;
};

TEST(PodHostPorts, AreThoseThatTheNodeCannotGiveTwice) {
  const Ports table[] = {
      {"declared", R"({"spec":{"containers":[{"ports":[{"containerPort":80,"hostPort":8080,"protocol":"UDP","hostIP":"10.0.0.1"},{"containerPort":81}]}]}})",
       {{.ip = "10.0.0.1", .protocol = "UDP", .port = 8080}}},
      {"every port under the host's network", R"({"spec":{"hostNetwork":true,"containers":[{"ports":[{"containerPort":80}]},{"ports":[{"containerPort":90,"hostPort":90}]}]}})",
       {{.ip = "", .protocol = "TCP", .port = 80}, {.ip = "", .protocol = "TCP", .port = 90}}},
      {"all addresses are one address", R"({"spec":{"containers":[{"ports":[{"hostPort":1,"hostIP":"0.0.0.0"}]}]}})", {{.ip = "", .protocol = "TCP", .port = 1}}},
      {"sidecars, not other init containers", R"({"spec":{"initContainers":[{"ports":[{"hostPort":1}]},{"restartPolicy":"Always","ports":[{"hostPort":2}]}]}})",
       {{.ip = "", .protocol = "TCP", .port = 2}}},
  };
  for (const Ports& row : table) EXPECT_EQ(read(row.pod).host_ports, row.wanted) << row.name;
}

constexpr const char* kPod = R"({
  "status": {"phase": "Pending", "nominatedNodeName": "n2", "reason": "Evicted", "message": "why",
    "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "m", "lastTransitionTime": "2026-11-30T10:00:00Z"}],
    "initContainerStatuses": [{"name": "copy", "state": {"terminated": {"exitCode": 0, "reason": "Completed", "startedAt": "2026-11-30T10:00:01Z", "finishedAt": "2026-11-30T10:00:02Z"}}}],
    "containerStatuses": [
      {"name": "ray", "ready": true, "state": {"running": {"startedAt": "2026-11-30T10:00:03Z"}}},
      {"name": "driver", "state": {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}},
      {"name": "side", "state": {"waiting": {"reason": "CrashLoopBackOff"}}, "lastState": {"terminated": {"exitCode": 3}}},
      {"name": "done", "state": {"terminated": {"exitCode": 7, "reason": "Error", "message": "{}"}}}]},
  "spec": {"nodeName": "n1", "priority": 5, "containers": []},
  "metadata": {"name": "p", "namespace": "rl", "labels": {LABELS}, "ownerReferences": [{"uid": "other"}, {"uid": "job", "controller": true}]}})";

std::string pod_with(const std::string& labels) {
  std::string text = kPod;
  return text.replace(text.find("LABELS"), 6, labels);
}

TEST(Pod, OfAJobKeepsHowItsContainersFare) {
  const auto pod = read(pod_with(R"("verl.run/job-name":"j")"));
  EXPECT_EQ(pod.owner_uid, "job");
  EXPECT_EQ(pod.node_name, "n1");
  EXPECT_EQ(pod.nominated_node, "n2");
  EXPECT_EQ(pod.phase, "Pending");
  EXPECT_EQ(pod.reason, "Evicted");
  EXPECT_EQ(pod.message, "why");
  EXPECT_EQ(pod.priority, 5);
  ASSERT_EQ(pod.conditions.size(), 1U);
  EXPECT_EQ(pod.conditions[0].reason, "Unschedulable");
  api::ContainerState copy{.name = "copy", .init = true, .started = true};
  copy.exit_code = 0;
  copy.terminated_reason = "Completed";
  copy.started_at = parse_rfc3339("2026-11-30T10:00:01Z");
  copy.finished_at = parse_rfc3339("2026-11-30T10:00:02Z");
  api::ContainerState ray{.name = "ray", .init = false, .started = true, .running = true, .ready = true};
  ray.started_at = parse_rfc3339("2026-11-30T10:00:03Z");
  api::ContainerState driver{.name = "driver"};
  driver.waiting_reason = "ImagePullBackOff";
  driver.waiting_message = "no such image";
  api::ContainerState side{.name = "side", .init = false, .started = true};
  side.waiting_reason = "CrashLoopBackOff";
  api::ContainerState done{.name = "done", .init = false, .started = true};
  done.exit_code = 7;
  done.terminated_reason = "Error";
  done.termination_message = "{}";
  EXPECT_EQ(pod.containers, (std::vector<api::ContainerState>{copy, ray, driver, side, done}));
}

// The init container that brings the check, before a user's own: it must not be what makes a pod larger.
TEST(PodRequests, OfARenderedPodAreThoseOfItsContainers) {
  const char* source = std::getenv("VERL_SOURCE");
  simdjson::dom::parser parser;
  simdjson::dom::element pods;
  ASSERT_EQ(parser.load(std::string(source == nullptr ? "." : source) + "/tests/golden/core/two_node_pods.json").get(pods), simdjson::SUCCESS);
  size_t seen = 0;
  for (const simdjson::dom::element pod : simdjson::dom::array(pods)) {
    EXPECT_EQ(read(simdjson::minify(pod)).requests,
              (api::Resources{{"cpu", 64'000}, {"memory", 800 * 1024LL * 1024 * 1024 * 1000}, {"nvidia.com/gpu", 8'000}, {"rdma/hca", 2'000}}));
    ++seen;
  }
  EXPECT_EQ(seen, 2U);
}

TEST(Pod, OfSomebodyElseKeepsOnlyWhatItTakes) {
  const auto pod = read(pod_with(R"("app":"x")"));
  EXPECT_TRUE(pod.containers.empty());
  EXPECT_TRUE(pod.conditions.empty());
  EXPECT_EQ(pod.phase, "Pending");
}

}  // namespace
}  // namespace verl::codec
