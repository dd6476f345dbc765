#include "host/tree_host.h"

#include <gtest/gtest.h>

#include "host/live_host.h"
#include "host/recorder.h"
#include "tests/unit/host/scratch.h"

namespace verl::host {
namespace {

std::unique_ptr<Host> tree(const Scratch& scratch, std::string_view sidecar) {
  scratch.put("/proc/verl-host.json", sidecar);
  auto host = tree_host(scratch.path());
  return host ? std::move(*host) : nullptr;
}

TEST(TreeHost, NeedsItsSidecar) {
  const Scratch scratch;
  EXPECT_EQ(tree_host(scratch.path()).error().code, ErrorCode::NotFound);
  for (const char* bad : {"", "[]", "{", "{}", R"({"time": 3})", R"({"time": "yesterday"})"}) {
    scratch.put("/proc/verl-host.json", bad);
    EXPECT_EQ(tree_host(scratch.path()).error().code, ErrorCode::Invalid) << bad;
  }
}

TEST(TreeHost, NeverGuessesWhatWasNotRecorded) {
  const Scratch scratch;
  const auto host = tree(scratch, R"({"time": "2026-01-01T00:00:00Z"})");
  ASSERT_NE(host, nullptr);
  EXPECT_FALSE(host->kernel_clock());
  EXPECT_FALSE(host->addresses());
  EXPECT_FALSE(host->cpu_topology());
  EXPECT_EQ(host->ask_chronyd("x").error().code, ErrorCode::Unavailable);
  EXPECT_FALSE(host->active_mtu("mlx5_0", 1));
  EXPECT_EQ(host->read_file("/etc/nccl.conf").error().code, ErrorCode::NotFound);
}

TEST(TreeHost, RefusesAMalformedSidecar) {
  const Scratch scratch;
  const auto host = tree(scratch, R"({"time": "2026-01-01T00:00:00Z", "kernelClock": {"state": "five"}, "addresses": 1, "cpuTopology": {},
    "chronyd": [{"request": "00", "reply": "0g"}, 7], "activeMtu": {"mlx5_0/1": 99999999999}, "errors": {"/x": {"code": "Denied", "message": "no"}}})");
  ASSERT_NE(host, nullptr);
  EXPECT_FALSE(host->kernel_clock());
  EXPECT_FALSE(host->addresses());
  EXPECT_FALSE(host->cpu_topology());
  EXPECT_FALSE(host->ask_chronyd(std::string(1, '\0')));
  EXPECT_FALSE(host->ask_chronyd("other"));
  EXPECT_FALSE(host->active_mtu("mlx5_0", 1));
  EXPECT_EQ(host->read_file("/x").error(), (Error{ErrorCode::Denied, "no"}));
}

TEST(TreeHost, AnswersWithTheSequenceOfTheQuestion) {
  std::string request(20, '\0');
  request[4] = 0x21;
  std::string asked = request;
  asked.replace(8, 4, "abcd");
  EXPECT_EQ(without_sequence(asked), request);
  EXPECT_EQ(with_sequence_of(std::string(28, '\0'), asked).substr(16, 4), "abcd");
  EXPECT_EQ(with_sequence_of("short", asked), "short");
}

TEST(TreeHost, KnowsAFolderThatVersionControlDropped) {
  const Scratch scratch;
  const auto host = tree(scratch, R"({"time": "2026-01-01T00:00:00Z", "folders": ["/etc", 7], "directories": {"/sys/class/infiniband": []}})");
  ASSERT_NE(host, nullptr);
  EXPECT_EQ(host->is_directory("/etc"), true);
  EXPECT_EQ(host->is_directory("/sys/class/infiniband"), true);
  EXPECT_EQ(host->is_directory("/proc"), true);
  EXPECT_EQ(host->is_directory("/sys/bus"), false);
}

TEST(LiveHost, DoesNotTakeTheRunningKernelForTheMachineOfAFolder) {
  const Scratch folder;
  folder.put("/proc/sys/kernel/random/boot_id", "copied");
  std::filesystem::create_directories(folder.path("/sys/class"));
  const auto host = live_host({.root = folder.path()});
  ASSERT_TRUE(host);
  for (const auto& error : {(*host)->kernel_clock().error(), (*host)->addresses().error(), (*host)->cpu_topology().error(), (*host)->ask_chronyd("x").error()}) {
    EXPECT_EQ(error.code, ErrorCode::Unavailable) << error.message;  // NotFound would mean: no daemon listens, so the kernel may be asked
    EXPECT_NE(error.message.find(folder.path()), std::string::npos) << error.message;
    EXPECT_NE(error.message.find("mount the node's own"), std::string::npos) << error.message;
  }
  EXPECT_TRUE((*live_host({.root = "/"}))->addresses());
}

TEST(Recorder, DoesNotMakeUpFoldersThatTheMachineLacks) {
  const Scratch bare;
  const auto host = tree(bare, R"({"time": "2026-01-01T00:00:00Z"})");
  ASSERT_NE(host, nullptr);
  const Recorder recorder(*host);
  EXPECT_EQ(recorder.is_directory("/etc"), false);
  const Scratch copy;
  ASSERT_TRUE(recorder.write(copy.path("/tree")));
  EXPECT_EQ((*tree_host(copy.path("/tree")))->is_directory("/etc"), false);
  EXPECT_EQ((*tree_host(copy.path("/tree")))->is_directory("/sys"), false);
}

TEST(Recorder, BringsBackWhatWasSeen) {
  const Scratch original;
  original.put("/sys/class/net/eth0/mtu", "1500\n");
  original.put("/sys/devices/pci0000:00/0000:00:03.0/vendor", "0x1af4\n");
  original.link("/sys/bus/pci/devices/0000:00:03.0", "../../../devices/pci0000:00/0000:00:03.0");
  std::filesystem::create_directories(original.path("/sys/class/infiniband"));
  const auto host = tree(original, R"({"time": "2026-01-01T00:00:00.5Z", "kernelClock": {"state": 0, "status": 1, "maxErrorMicroseconds": 7},
    "addresses": [{"interface": "eth0", "address": "10.0.0.1"}], "chronyd": {"error": {"code": "NotFound", "message": "nobody"}},
    "errors": {"/sys/class/net/eth0/speed": {"code": "Unavailable", "message": "Invalid argument"}},
    "cpuTopology": {"sockets": 1, "cores": 2, "cpus": 4, "memoryBytes": 5, "numaNodes": [{"osIndex": 0, "cpus": "0-3", "memoryBytes": 5}]}})");
  ASSERT_NE(host, nullptr);

  const auto ask = [](const Host& one) {
    std::string all;
    all += one.read_file("/sys/class/net/eth0/mtu").value_or("?");
    all += one.read_file("/sys/class/net/eth0/speed").error().message;
    all += one.read_link("/sys/bus/pci/devices/0000:00:03.0").value_or("?");
    all += one.read_file("/sys/bus/pci/devices/0000:00:03.0/vendor").value_or("?");
    for (const char* folder : {"/sys/class/net", "/sys/class/infiniband", "/sys/bus/pci/devices"}) {
      for (const std::string& name : one.list_dir(folder).value_or(std::vector<std::string>{"?"})) all += name + ",";
    }
    all += one.is_directory("/sys/class/infiniband").value_or(false) ? "folder" : "none";
    all += one.read_file("/nothing").error().message;
    all += format_rfc3339(one.now(), true);
    all += std::to_string(one.kernel_clock()->max_error.count());
    all += one.addresses()->at(0).address;
    all += one.ask_chronyd(std::string(20, 'x')).error().message;
    all += std::to_string(one.cpu_topology()->numa_nodes.size());
    return all;
  };
  const Recorder recorder(*host);
  const std::string before = ask(recorder);
  const Scratch copy;
  const auto written = recorder.write(copy.path("/tree"));
  ASSERT_TRUE(written) << written.error().message;
  const auto again = tree_host(copy.path("/tree"));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(ask(**again), before);
  EXPECT_EQ(recorder.write(copy.path("/tree")).error().code, ErrorCode::Conflict);
}

}  // namespace
}  // namespace verl::host
