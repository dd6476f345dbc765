// What could not be looked at is Unknown, whatever is expected; what is absent where one could look is none.
#include "node-agent/checks/observe.h"

#include <gtest/gtest.h>

#include <map>

#include "host/live_host.h"
#include "host/tree_host.h"
#include "node-agent/checks/judge.h"
#include "tests/unit/host/scratch.h"
#include "tests/unit/node-agent/h100.h"

namespace verl::agent {
namespace {

using host::Scratch;

std::vector<Finding> judged(const host::Host& host, const api::NodeReadinessSpec& spec) {
  const Observation seen = observe(host);
  return judge({.observation = seen, .spec = spec, .before = nullptr});
}

// A policy that an empty machine would satisfy if nothing seen were the same as nothing there.
api::NodeReadinessSpec wants_nothing() {
  api::NodeReadinessSpec spec;
  spec.expectations.inventory = {.gpus = 0, .rdma_devices = 0, .numa_nodes = 0};
  return spec;
}

std::map<std::string, Finding> by_check(const std::vector<Finding>& findings) {
  std::map<std::string, Finding> out;
  for (const Finding& finding : findings) out.emplace(finding.check, finding);
  return out;
}

std::unique_ptr<host::Host> tree(const Scratch& scratch) {
  scratch.put("/proc/verl-host.json", R"({"time": "2026-01-01T00:00:00Z"})");
  auto host = host::tree_host(scratch.path());
  return host ? std::move(*host) : nullptr;
}

TEST(Observe, NothingPassesWhereNobodyCouldLook) {
  const Scratch empty;
  const Scratch mount_points;  // made to mount on, and nothing mounted
  for (const char* folder : {"/sys", "/proc"}) std::filesystem::create_directories(mount_points.path(folder));
  const Scratch recorded;
  std::vector<std::unique_ptr<host::Host>> hosts;
  hosts.push_back(std::move(*host::live_host({.root = empty.path()})));
  hosts.push_back(std::move(*host::live_host({.root = mount_points.path()})));
  hosts.push_back(tree(recorded));
  for (const auto& host : hosts) {
    for (const auto& spec : {wants_nothing(), h100_spec(), api::NodeReadinessSpec{}}) {
      for (const Finding& finding : judged(*host, spec)) {
        EXPECT_TRUE(finding.verdict == Verdict::Unknown || finding.verdict == Verdict::Skipped)
            << finding.check << " " << to_string(finding.verdict) << " " << finding.seen << " " << finding.message;
      }
    }
    const auto findings = by_check(judged(*host, wants_nothing()));
    for (const char* check : {"gpu-count", "rdma-device-count", "nccl-env", "port-range", "clock-sync", "numa-topology", "link-state"}) {
      EXPECT_EQ(findings.at(check).verdict, Verdict::Unknown) << check;
    }
    EXPECT_NE(findings.at("gpu-count").message.find("/sys of the node is not there: mount it"), std::string::npos) << findings.at("gpu-count").message;
    EXPECT_NE(findings.at("rdma-device-count").message.find("there is no folder /sys/class; /sys of the node is not there"), std::string::npos)
        << findings.at("rdma-device-count").message;
    EXPECT_NE(findings.at("nccl-env").message.find("/etc of the node is not there: mount it"), std::string::npos) << findings.at("nccl-env").message;
    EXPECT_NE(findings.at("port-range").message.find("/proc of the node is not there: mount it"), std::string::npos) << findings.at("port-range").message;
  }
}

TEST(Observe, AbsentWhereOneCouldLookIsNone) {
  const Scratch scratch;
  for (const char* folder : {"/etc", "/sys/class/net", "/sys/bus/pci/devices"}) std::filesystem::create_directories(scratch.path(folder));
  const auto host = tree(scratch);
  const auto findings = by_check(judged(*host, wants_nothing()));
  for (const char* check : {"gpu-count", "rdma-device-count", "nccl-env"}) EXPECT_EQ(findings.at(check).verdict, Verdict::Pass) << check;
  EXPECT_EQ(findings.at("nccl-env").seen, "no settings");
}

TEST(Observe, ALinkToAFileThatIsNotMountedIsNotTheAbsenceOfTheFile) {
  const Scratch scratch;
  scratch.link("/etc/nccl.conf", "../opt/site/nccl.conf");
  const auto host = tree(scratch);
  const auto findings = by_check(judged(*host, {}));
  EXPECT_EQ(findings.at("nccl-env").verdict, Verdict::Unknown);
  EXPECT_NE(findings.at("nccl-env").message.find("../opt/site/nccl.conf"), std::string::npos) << findings.at("nccl-env").message;
}

TEST(Observe, ADeviceWhoseLinkCannotBeReadIsNotTakenForASoftwareDevice) {
  const Scratch scratch;
  scratch.put("/sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE");
  scratch.put("/sys/class/infiniband/mlx5_0/device", "no link");
  const auto host = tree(scratch);
  EXPECT_EQ(by_check(judged(*host, wants_nothing())).at("rdma-device-count").verdict, Verdict::Unknown);
}

TEST(Observe, MembersOfABondThatCannotBeReadLeaveItsMtuUnknown) {
  const Scratch scratch;
  for (const char* file : {"mtu", "type"}) scratch.put(std::string("/sys/class/net/bond0/") + file, file == std::string("mtu") ? "9000" : "1");
  std::filesystem::create_directories(scratch.path("/sys/class/net/bond0/bonding/slaves"));
  const auto host = tree(scratch);
  api::NodeReadinessSpec spec;
  spec.expectations.fabric_interfaces = {"bond0"};
  spec.expectations.thresholds.mtu_min = 9000;
  EXPECT_EQ(by_check(judged(*host, spec)).at("mtu-interface").verdict, Verdict::Unknown);
}

}  // namespace
}  // namespace verl::agent
