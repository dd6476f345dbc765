// The judgements by table: each row changes one thing of a container that is fit in every respect.
#include "node-agent/incontainer/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace verl::incontainer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
constexpr std::uint64_t kIpcLock = 1 << 14;

CpuList cpus(const char* text) { return *parse_cpu_list(text); }

Wanted wanted() { return {.shm_bytes = 400 * kGiB, .gpus = 4, .rdma_devices = 2, .numa = Numa::Required}; }

// Two sockets with two GPUs each, and a node of memory alone, as some machines have.
Facts fit() {
  Facts facts{};
  facts.shm_bytes.value = 400 * kGiB;
  facts.memlock_bytes.value = 65536;
  facts.capabilities.value = kIpcLock;
  facts.verbs = {{.name = "uverbs0", .trouble = ""}, {.name = "uverbs1", .trouble = ""}};
  facts.open_files.value = 1048576;
  facts.processes.value = kUnlimited;
  facts.cpus.value = cpus("0-15,32-47");
  facts.nodes.value = {{0, cpus("0-31")}, {1, cpus("32-63")}, {2, cpus("")}};
  facts.gpus = {{.name = "0000:18:00.0", .node = 0, .trouble = ""}, {.name = "0000:2a:00.0", .node = 0, .trouble = ""},
                {.name = "0000:9b:00.0", .node = 1, .trouble = ""}, {.name = "0000:ba:00.0", .node = 1, .trouble = ""}};
  return facts;
}

struct Case {
  const char* name{};
  std::function<void(Wanted&, Facts&)> change{};
  std::string failure{};  // empty: fit
};

void expect(const std::vector<Case>& table) {
  for (const Case& one : table) {
    Wanted want = wanted();
    Facts facts = fit();
    one.change(want, facts);
    const Verdict verdict = judge(want, facts);
    if (one.failure.empty()) {
      EXPECT_THAT(verdict.failures, IsEmpty()) << one.name;
    } else {
      EXPECT_THAT(verdict.failures, ElementsAre(HasSubstr(one.failure))) << one.name;
    }
  }
}

TEST(ContainerJudgement, AFitContainerHasNothingSaidAboutIt) { EXPECT_EQ(judge(wanted(), fit()), Verdict{}); }

TEST(ContainerJudgement, SharedMemoryMayLackATenth) {
  expect({
      {"nine tenths", [](Wanted&, Facts& f) { f.shm_bytes.value = 360 * kGiB; }, ""},
      {"a byte less", [](Wanted&, Facts& f) { f.shm_bytes.value = 360 * kGiB - 1; }, "/dev/shm has 359.9 GiB, wants 400 GiB: "},
      {"the default", [](Wanted&, Facts& f) { f.shm_bytes.value = 64 << 20; }, "/dev/shm has 64 MiB, wants 400 GiB: "},
      {"none", [](Wanted&, Facts& f) { f.shm_bytes.value = 0; }, "/dev/shm has 0 bytes, wants 400 GiB: "},
      {"unknown", [](Wanted&, Facts& f) { f.shm_bytes = {.trouble = "No such file"}; }, "the size of /dev/shm cannot be told (No such file), wants 400 GiB"},
  });
}

TEST(ContainerJudgement, RdmaNeedsLockedMemoryByLimitOrCapability) {
  expect({
      {"limit lifted", [](Wanted&, Facts& f) { f.memlock_bytes.value = kUnlimited; f.capabilities.value = 0; }, ""},
      {"capability not effective", [](Wanted&, Facts& f) { f.capabilities.value = ~kIpcLock; }, "locked memory is limited to 64 KiB and IPC_LOCK is not effective, wants one of"},
      {"limit unknown", [](Wanted&, Facts& f) { f.memlock_bytes = {.trouble = "x"}; f.capabilities.value = 0; }, "the limit of locked memory cannot be told (x) and IPC_LOCK is not"},
      {"capability unknown", [](Wanted&, Facts& f) { f.capabilities = {.trouble = "y"}; }, "whether IPC_LOCK is effective cannot be told (y)"},
      {"without RDMA", [](Wanted& w, Facts& f) { w.rdma_devices = 0; f.capabilities.value = 0; f.verbs.clear(); }, ""},
  });
}

TEST(ContainerJudgement, RdmaNeedsItsDevicesOpen) {
  expect({
      {"more than asked for", [](Wanted&, Facts& f) { f.verbs.push_back({.name = "uverbs2", .trouble = "Permission denied"}); }, ""},
      {"none", [](Wanted&, Facts& f) { f.verbs.clear(); }, "0 of 0 RDMA devices /dev/infiniband/uverbs* can be opened, wants 2: "},
      {"one shut", [](Wanted&, Facts& f) { f.verbs[1].trouble = "Permission denied"; }, "1 of 2 RDMA devices /dev/infiniband/uverbs* can be opened (uverbs1: Permission denied), wants 2: "},
  });
}

TEST(ContainerJudgement, LimitsHaveALeastAndAGoodValue) {
  expect({
      {"files", [](Wanted&, Facts& f) { f.open_files.value = 8191; }, "at most 8191 open files, needs at least 8192 and wants 65536: "},
      {"files, enough", [](Wanted&, Facts& f) { f.open_files.value = 8192; }, ""},
      {"files, unknown", [](Wanted&, Facts& f) { f.open_files = {.trouble = "x"}; }, "the limit of open files cannot be told (x), wants at least 65536: "},
      {"processes", [](Wanted&, Facts& f) { f.processes.value = 4096; }, "at most 4096 processes and threads, needs at least 8192 and wants 32768: "},
      {"processes, enough", [](Wanted&, Facts& f) { f.processes.value = 8192; }, ""},
      {"processes, unknown", [](Wanted&, Facts& f) { f.processes = {.trouble = "x"}; }, ""},
  });
  Facts facts = fit();
  facts.open_files.value = 65535;
  facts.processes.value = 32767;
  EXPECT_THAT(judge(wanted(), facts).warnings, ElementsAre(HasSubstr("at most 65535 open files, wants 65536: "), HasSubstr("at most 32767 processes and threads, wants 32768: ")));
  facts = fit();
  facts.processes = {.trouble = "no pids.max"};
  EXPECT_THAT(judge(wanted(), facts).warnings, ElementsAre(HasSubstr("the limit of processes and threads cannot be told (no pids.max)")));
}

const std::vector<Case>& numa_cases() {
  static const std::vector<Case> kCases{
      {"one CPU on each node", [](Wanted&, Facts& f) { f.cpus.value = cpus("31-32"); }, ""},
      {"half the machine", [](Wanted&, Facts& f) { f.cpus.value = cpus("0-31"); },
       "GPU 0000:9b:00.0, 0000:ba:00.0 is on NUMA node 1, the container may use CPUs 0-31, wants some of that node's 32-63; ask for more"},
      {"a GPU too few", [](Wanted&, Facts& f) { f.gpus.pop_back(); }, "cannot be told: 3 of 4 GPUs were found by their devices /dev/nvidia*"},
      {"no GPU", [](Wanted&, Facts& f) { f.gpus.clear(); }, "cannot be told: 0 of 4 GPUs"},
      {"more than asked for, all near", [](Wanted&, Facts& f) { f.gpus.push_back({.name = "0000:cb:00.0", .node = 1, .trouble = ""}); }, ""},
      {"firmware silent", [](Wanted&, Facts& f) { f.gpus[2].node = -1; }, "cannot be told: the firmware names no NUMA node for GPU 0000:9b:00.0 on a machine with 2"},
      {"GPU unreadable", [](Wanted&, Facts& f) { f.gpus[2] = {.name = "/dev/nvidia2", .node = std::nullopt, .trouble = "no address"}; }, "cannot be told: GPU /dev/nvidia2: no address"},
      {"a node of memory", [](Wanted&, Facts& f) { f.gpus[2].node = 2; }, "cannot be told: GPU 0000:9b:00.0 is on NUMA node 2, which has no CPUs"},
      {"a node that is not there", [](Wanted&, Facts& f) { f.gpus[2].node = 7; }, "cannot be told: GPU 0000:9b:00.0 is on NUMA node 7, which has no CPUs"},
      {"nodes unreadable", [](Wanted&, Facts& f) { f.nodes = {.trouble = "no sysfs"}; }, "cannot be told: no sysfs"},
      {"CPUs unreadable", [](Wanted&, Facts& f) { f.cpus = {.trouble = "no status"}; }, "cannot be told: no status"},
      {"one node, whatever the GPUs", [](Wanted&, Facts& f) { f.nodes.value = {{0, cpus("0-63")}, {2, cpus("")}}; f.gpus.clear(); }, ""},
  };
  return kCases;
}

TEST(ContainerJudgement, NumaRequiredEndsWhatIsFarOrUnknown) { expect(numa_cases()); }

TEST(ContainerJudgement, NumaPreferredWarnsInTheSameWordsAndNoneIsSilent) {
  for (const Case& one : numa_cases()) {
    Wanted want = wanted();
    Facts facts = fit();
    one.change(want, facts);
    const Verdict required = judge(want, facts);
    want.numa = Numa::Preferred;
    EXPECT_EQ(judge(want, facts), (Verdict{.failures = {}, .warnings = required.failures})) << one.name;
    want.numa = Numa::None;
    EXPECT_EQ(judge(want, facts), Verdict{}) << one.name;
  }
}

TEST(ContainerJudgement, NothingSeenAtAllPassesNothing) {
  const Verdict verdict = judge(wanted(), Facts{});
  EXPECT_EQ(verdict.failures.size(), 5U);  // shared memory, locked memory, devices, files, NUMA
  EXPECT_EQ(verdict.warnings.size(), 1U);  // processes
}

}  // namespace
}  // namespace verl::incontainer
