// What of the cluster reaches a snapshot, and which changes wake the loop.
#include <gtest/gtest.h>

#include "fake_cluster.h"

namespace verl::controller {
namespace {

using testing::CacheBench;

std::string object(const std::string& kind, const std::string& name_space, const std::string& name, const std::string& version, const std::string& rest = "") {
  const std::string group = kind == "VerlJob" || kind == "NodeReadiness" ? "verl.run/v1alpha1" : kind == "Lease" ? "coordination.k8s.io/v1" : "v1";
  return R"({"kind":")" + kind + R"(","apiVersion":")" + group + R"(","metadata":{"namespace":")" + name_space + R"(","name":")" + name + R"(","uid":"uid-)" + name +
         R"(","resourceVersion":")" + version + R"("})" + rest + "}";
}

// More than 64 deep: no decoder takes it.
std::string too_deep() { return R"(,"spec":)" + std::string(70, '[') + std::string(70, ']'); }

const std::string kJobs = "/apis/verl.run/v1alpha1/verljobs";
const std::string kPodList = "/api/v1/pods";
const std::string kNodeList = "/api/v1/nodes";
const std::string kLeases = "/apis/coordination.k8s.io/v1/namespaces/verl-system/leases";

TEST(Caches, AreSyncedWhenEveryKindWasListed) {
  CacheBench bench;
  EXPECT_FALSE(bench.caches.synced());
  ASSERT_TRUE(bench.start());
  EXPECT_EQ(bench.caches.trouble(), "");
  EXPECT_TRUE(bench.caches.snapshot().held.empty());
}

TEST(Caches, AJobThatCannotBeReadStaysInViewByNameWithWhatIsWrong) {
  CacheBench bench;
  bench.cluster.hold(kJobs, {object("VerlJob", "rl", "deep", "3", too_deep())});
  ASSERT_TRUE(bench.start());
  const auto snapshot = bench.caches.snapshot();
  ASSERT_EQ(snapshot.jobs.size(), 1U);
  const api::VerlJob& stub = *snapshot.jobs[0];
  EXPECT_EQ(stub.meta.name_space + "/" + stub.meta.name + " " + stub.meta.uid + " " + stub.meta.resource_version, "rl/deep uid-deep 3");
  ASSERT_EQ(stub.unreadable.size(), 1U);
  EXPECT_NE(stub.unreadable[0].find("nested more than 64 deep"), std::string::npos) << stub.unreadable[0];
}

TEST(Caches, APodThatCannotBeReadIsToldToWhoeverGivesNodesAway) {
  CacheBench bench;
  bench.cluster.hold(kPodList, {object("Pod", "rl", "deep", "3", too_deep())});
  ASSERT_TRUE(bench.start());
  const auto snapshot = bench.caches.snapshot();
  ASSERT_EQ(snapshot.pods.size(), 1U);
  EXPECT_EQ(snapshot.pods[0]->unreadable.size(), 1U);
  EXPECT_EQ(snapshot.unreadable_pods, (std::vector<std::string>{"rl/deep"}));
}

TEST(Caches, AJobIsHeldUntilItsOwnWritesAndItsPodsAreSeen) {
  CacheBench bench;
  bench.cluster.hold(kJobs, {object("VerlJob", "rl", "qwen", "3"), object("VerlJob", "rl", "qwen-1", "3"), object("VerlJob", "rl", "other", "3")});
  ASSERT_TRUE(bench.start());
  const auto held = [&] { return bench.caches.snapshot().held; };
  using Held = std::set<std::string, std::less<>>;

  bench.caches.jobs().expect({"rl", "other"}, "uid-other", "8");
  EXPECT_EQ(held(), (Held{"uid-other"}));
  bench.cluster.tell(kJobs, "MODIFIED", object("VerlJob", "rl", "other", "8"));
  EXPECT_TRUE(bench.eventually([&] { return held().empty(); }));

  // <job>-<attempt>-<rank>: the pod of job qwen-1, not of qwen; it is in no cache yet.
  bench.caches.pods().expect({"rl", "qwen-1-2-0"}, "uid-qwen-1-2-0", "9");
  EXPECT_EQ(held(), (Held{"uid-qwen-1"}));
  bench.cluster.tell(kPodList, "ADDED", object("Pod", "rl", "qwen-1-2-0", "9"));
  EXPECT_TRUE(bench.eventually([&] { return held().empty(); }));

  for (const char* name : {"nonsense", "-1", "--", "x-y"}) bench.caches.pods().expect({"rl", name}, "u", "10");
  bench.caches.pods().expect({"elsewhere", "qwen-1-0"}, "u", "10");
  EXPECT_EQ(held(), Held{}) << "names of no job here hold nobody";
}

TEST(Caches, AJobIsHeldUntilItsDeletedPodIsSeenToGo) {
  CacheBench bench;
  bench.cluster.hold(kJobs, {object("VerlJob", "rl", "qwen", "3")});
  bench.cluster.hold(kPodList, {object("Pod", "rl", "qwen-1-0", "4")});
  ASSERT_TRUE(bench.start());
  bench.caches.pods().expect_gone({"rl", "qwen-1-0"}, "uid-qwen-1-0");
  EXPECT_TRUE(bench.caches.snapshot().held.contains("uid-qwen"));
  bench.cluster.tell(kPodList, "DELETED", object("Pod", "rl", "qwen-1-0", "12"));
  EXPECT_TRUE(bench.eventually([&] { return bench.caches.snapshot().held.empty(); }));
}

// Events of one watch are taken in order: what came before a witness has had its effect.
TEST(Caches, OnlyNewsWakesTheLoop) {
  // The apiserver stamps the time of a renewal in managedFields; the client's own renewTime says nothing.
  const auto lease = [](const std::string& version, const std::string& renewed, int duration = 90) {
    return R"({"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"namespace":"verl-system","name":"n1","uid":"uid-n1","resourceVersion":")" + version +
           R"(","managedFields":[{"manager":"agent","operation":"Update","time":")" + renewed +
           R"(","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:renewTime":{}}}}]},"spec":{"leaseDurationSeconds":)" + std::to_string(duration) + "}}";
  };
  struct Case {
    const char* what;
    std::string path;
    std::string before;
    std::string type;
    std::string after;
    bool news;
  };
  const std::string spec = R"(,"spec":{"unschedulable":true})";
  const std::vector<Case> cases{
      {"only the version is another", kNodeList, object("Node", "", "n1", "3"), "MODIFIED", object("Node", "", "n1", "4"), false},
      {"a field that nobody decides by", kNodeList, object("Node", "", "n1", "3"), "MODIFIED", object("Node", "", "n1", "4", R"(,"status":{"images":[]})"), false},
      {"a cordon", kNodeList, object("Node", "", "n1", "3"), "MODIFIED", object("Node", "", "n1", "4", spec), true},
      {"an addition", kNodeList, object("Node", "", "n1", "3"), "ADDED", object("Node", "", "n2", "4"), true},
      {"a removal", kNodeList, object("Node", "", "n1", "3"), "DELETED", object("Node", "", "n1", "4"), true},
      {"a renewal in time", kLeases, lease("3", "2026-11-30T17:00:00Z"), "MODIFIED", lease("4", "2026-11-30T17:00:30Z"), false},
      {"a renewal that ends a silence", kLeases, lease("3", "2026-11-30T17:00:00Z"), "MODIFIED", lease("4", "2026-11-30T17:01:30Z"), true},
      {"the first renewal", kLeases, object("Lease", "verl-system", "n1", "3", R"(,"spec":{"leaseDurationSeconds":90})"), "MODIFIED",
       lease("4", "2026-11-30T17:00:00Z"), true},
      {"another duration", kLeases, lease("3", "2026-11-30T17:00:00Z"), "MODIFIED",
       lease("4", "2026-11-30T17:00:10Z", 30), true},
  };
  for (const Case& one : cases) {
    CacheBench bench;
    bench.cluster.hold(one.path, {one.before});
    ASSERT_TRUE(bench.start());
    bench.cluster.tell(one.path, one.type, one.after);
    const bool nodes = one.path == kNodeList;
    bench.cluster.tell(one.path, "ADDED", nodes ? object("Node", "", "witness", "50") : object("Lease", "verl-system", "witness", "50"));
    EXPECT_TRUE(bench.eventually([&] {
      const auto snapshot = bench.caches.snapshot();
      const auto named = [](const auto& object) { return object->meta.name == "witness"; };
      return nodes ? std::any_of(snapshot.nodes.begin(), snapshot.nodes.end(), named) : std::any_of(snapshot.heartbeats.begin(), snapshot.heartbeats.end(), named);
    })) << one.what;
    bench.caches.stop();  // whoever was to be woken has been
    const int lists = 8 + 1;  // eight of them, with one object
    EXPECT_EQ(bench.woken() - lists, one.news ? 2 : 1) << one.what;
  }
}

}  // namespace
}  // namespace verl::controller
