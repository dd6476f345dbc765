#include <gtest/gtest.h>

#include "codec/decode.h"

namespace verl::codec {
namespace {

template <class T>
T read(std::string_view json) {
  const auto object = decode_object<T>(json);
  EXPECT_TRUE(object) << object.error().message;
  return object ? *object : T{};
}

TEST(Node, IsReadWithWhatDecisionsNeed) {
  const auto node = read<api::Node>(R"({
    "kind": "Node", "metadata": {"name": "n1", "uid": "u1", "resourceVersion": "7", "labels": {"rack": "r1"},
      "creationTimestamp": "2026-11-30T17:07:09Z", "deletionTimestamp": null},
    "spec": {"unschedulable": true, "taints": [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}, {"key": "sick", "effect": "NoExecute"}]},
    "status": {"allocatable": {"cpu": "190", "memory": "2Ti", "nvidia.com/gpu": "8", "ephemeral-storage": "1e3", "odd": "500m"},
      "addresses": [{"type": "Hostname", "address": "n1"}, {"type": "InternalIP", "address": "10.0.0.1"}, {"type": "InternalIP", "address": "fd00::1"}],
      "conditions": [{"type": "MemoryPressure", "status": "False"}, {"type": "Ready", "status": "True"}],
      "nodeInfo": {"bootID": "b1", "kernelVersion": "6"}}})");
  api::Node wanted{};
  wanted.meta = {.name_space = "", .name = "n1", .uid = "u1", .resource_version = "7", .generation = 0, .labels = {{"rack", "r1"}},
                 .created = *parse_rfc3339("2026-11-30T17:07:09Z"), .deleted = {}};
  wanted.taints = {{.key = "gpu", .value = "yes", .effect = "NoSchedule"}, {.key = "sick", .value = "", .effect = "NoExecute"}};
  wanted.unschedulable = true;
  wanted.ready = api::ConditionStatus::True;
  wanted.allocatable = {{"cpu", 190'000}, {"memory", 2'199'023'255'552'000}, {"nvidia.com/gpu", 8'000}, {"ephemeral-storage", 1'000'000}, {"odd", 500}};
  wanted.internal_ip = "10.0.0.1";
  wanted.boot_id = "b1";
  EXPECT_EQ(node, wanted);
}

TEST(Node, IsUnknownWithoutAReadyConditionOrWithAnOddOne) {
  EXPECT_EQ(read<api::Node>(R"({"metadata":{"name":"a"}})").ready, api::ConditionStatus::Unknown);
  EXPECT_EQ(read<api::Node>(R"({"status":{"conditions":[]}})").ready, api::ConditionStatus::Unknown);
  const auto odd = read<api::Node>(R"({"status":{"conditions":[{"type":"Ready","status":"Maybe"}]}})");
  EXPECT_EQ(odd.ready, api::ConditionStatus::Unknown);
  EXPECT_EQ(odd.unreadable, (std::vector<std::string>{"status.conditions[0].status: must be one of True False Unknown, is \"Maybe\""}));
}

TEST(Node, NamesEveryFieldItCannotRead) {
  const auto node = read<api::Node>(R"({
    "metadata": {"name": 5, "labels": {"a": 1}, "creationTimestamp": "yesterday"},
    "spec": {"unschedulable": "no", "taints": {}},
    "status": {"allocatable": {"cpu": "many", "nvidia.com/gpu": "-1", "memory": true, "pods": 110}, "addresses": [7], "nodeInfo": []}})");
  EXPECT_EQ(node.unreadable, (std::vector<std::string>{
                                 "metadata.name: must be a string, is 5",
                                 "metadata.labels[a]: must be a string, is 1",
                                 "metadata.creationTimestamp: \"yesterday\" is no RFC 3339 time",
                                 "spec.unschedulable: must be true or false, is \"no\"",
                                 "spec.taints: must be a list, is a map",
                                 "status.allocatable[cpu]: \"many\" is no quantity that can be counted",
                                 "status.allocatable[nvidia.com/gpu]: \"-1\" is no quantity that can be counted",
                                 "status.allocatable[memory]: must be a quantity, is true",
                                 "status.addresses[0]: must be an object, is 7",
                                 "status.nodeInfo: must be an object, is a list",
                             }));
  EXPECT_EQ(node.allocatable, (api::Resources{{"pods", 110'000}}));
}

TEST(Node, NamesAtMost32Faults) {
  std::string entries;
  for (int i = 0; i < 100; ++i) entries += (i == 0 ? "\"r" : ",\"r") + std::to_string(i) + "\":\"x\"";
  EXPECT_EQ(read<api::Node>(R"({"status":{"allocatable":{)" + entries + "}}}").unreadable.size(), 32U);
}

TEST(PriorityClass, MayPreemptUnlessItSaysNever) {
  EXPECT_TRUE(read<api::PriorityClass>(R"({"metadata":{"name":"a"},"value":10})").may_preempt);
  EXPECT_TRUE(read<api::PriorityClass>(R"({"value":10,"preemptionPolicy":"PreemptLowerPriority"})").may_preempt);
  const auto never = read<api::PriorityClass>(R"({"metadata":{"name":"verl-job"},"value":-5,"globalDefault":true,"preemptionPolicy":"Never"})");
  EXPECT_FALSE(never.may_preempt);
  EXPECT_EQ(never.value, -5);
  EXPECT_TRUE(never.global_default);
  EXPECT_EQ(read<api::PriorityClass>(R"({"value":3000000000})").unreadable,
            (std::vector<std::string>{"value: 3000000000 is outside -2147483648 to 2147483647"}));
}

TEST(ResourceQuota, KeepsWhatIsLimitedAndWhatIsUsed) {
  const auto quota = read<api::ResourceQuota>(R"({"metadata":{"name":"q","namespace":"rl"},
    "spec":{"hard":{"requests.nvidia.com/gpu":"64","pods":"10"}},
    "status":{"hard":{"pods":"9"},"used":{"requests.nvidia.com/gpu":"8","pods":"3"}}})");
  EXPECT_EQ(quota.hard, (api::Resources{{"requests.nvidia.com/gpu", 64'000}, {"pods", 10'000}}));
  EXPECT_EQ(quota.used, (api::Resources{{"requests.nvidia.com/gpu", 8'000}, {"pods", 3'000}}));
  EXPECT_FALSE(quota.scoped);
  EXPECT_TRUE(read<api::ResourceQuota>(R"({"spec":{"scopes":["Terminating"]}})").scoped);
  EXPECT_TRUE(read<api::ResourceQuota>(R"({"spec":{"scopeSelector":{"matchExpressions":[]}}})").scoped);
  EXPECT_FALSE(read<api::ResourceQuota>(R"({"spec":{"scopes":[]}})").scoped);
  EXPECT_EQ(read<api::ResourceQuota>(R"({"spec":{"hard":{"pods":"?"}}})").unreadable,
            (std::vector<std::string>{"spec.hard[pods]: \"?\" is no quantity that can be counted"}));
}

TEST(Heartbeat, IsRenewedWhenTheApiserverSaysItWasNotWhenTheClientSays) {
  const auto beat = read<api::Heartbeat>(R"({"kind":"Lease","metadata":{"name":"n1","namespace":"verl-system","managedFields":[
      {"manager":"verl-operator","operation":"Apply","time":"2026-11-30T10:00:00Z","fieldsV1":{"f:metadata":{"f:labels":{}},"f:spec":{"f:leaseDurationSeconds":{}}}},
      {"manager":"verl-node-agent","operation":"Update","time":"2026-11-30T11:00:00Z","fieldsV1":{"f:spec":{"f:holderIdentity":{},"f:renewTime":{}}}},
      {"manager":"someone","operation":"Update","time":"2026-11-30T12:00:00Z","fieldsV1":{"f:metadata":{"f:annotations":{}}}}]},
    "spec":{"holderIdentity":"n1","leaseDurationSeconds":90,"renewTime":"2099-01-01T00:00:00.000000Z"}})");
  EXPECT_EQ(beat.meta.name, "n1");
  EXPECT_EQ(beat.holder, "n1");
  EXPECT_EQ(beat.duration, Seconds{90});
  EXPECT_EQ(beat.renewed, parse_rfc3339("2026-11-30T11:00:00Z"));
  EXPECT_TRUE(beat.unreadable.empty());
}

TEST(Heartbeat, WasNeverRenewedWithoutAnEntryThatSaysSo) {
  for (const char* text : {R"({"spec":{"renewTime":"2026-11-30T10:00:00Z"}})", R"({"metadata":{"managedFields":null}})",
                           R"({"metadata":{"managedFields":[{"time":"2026-11-30T10:00:00Z","fieldsV1":{"f:spec":{"f:holderIdentity":{}}}}]}})",
                           R"({"metadata":{"managedFields":[{"fieldsV1":{"f:spec":{"f:renewTime":{}}}}]}})"}) {
    EXPECT_EQ(read<api::Heartbeat>(text).renewed, std::nullopt) << text;
  }
}

}  // namespace
}  // namespace verl::codec
