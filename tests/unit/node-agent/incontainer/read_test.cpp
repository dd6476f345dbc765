// Trees of our own, as a container shows itself. /dev/shm is a real mount in a container and only a folder here.
#include "node-agent/incontainer/read.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>

namespace verl::incontainer {
namespace {

namespace fs = std::filesystem;

class Tree {
 public:
  Tree() {
    std::string name = (fs::temp_directory_path() / "verl-container.XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~Tree() { fs::remove_all(path_); }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  void put(const std::string& below, const std::string& text) const {
    fs::create_directories((path_ + below).substr(0, (path_ + below).rfind('/')));
    std::ofstream(path_ + below) << text;
  }
  void remove(const std::string& below) const { fs::remove_all(path_ + below); }
  const std::string& path() const { return path_; }

 private:
  std::string path_{};
};

constexpr const char* kLimits =
    "Limit                     Soft Limit           Hard Limit           Units     \n"
    "Max cpu time              unlimited            unlimited            seconds   \n"
    "Max open files            1024                 524288               files     \n"
    "Max locked memory         65536                unlimited            bytes     \n"
    "Max nice priority         0                    0                    \n";

void put_gpu(const Tree& tree, const std::string& address, int device, const std::string& node) {
  tree.put("/proc/driver/nvidia/gpus/" + address + "/information",
           "Model: \t\t NVIDIA H100\nIRQ:   \t\t 123\nGPU UUID: \t GPU-0\nBus Location: \t " + address + "\nDevice Minor: \t " + std::to_string(device) + "\n");
  tree.put("/sys/bus/pci/devices/" + address + "/numa_node", node + "\n");
}

// Eight GPUs in the driver's folder, two of them the container's.
void build(const Tree& tree) {
  tree.put("/proc/self/limits", kLimits);
  tree.put("/proc/self/status", "Name:\tcheck\nCapPrm:\t0000000000000000\nCapEff:\t00000000a80465fb\nCpus_allowed:\tff\nCpus_allowed_list:\t0-3,32-35\n");
  tree.put("/proc/self/cgroup", "0::/\n");
  tree.put("/sys/fs/cgroup/pids.max", "16384\n");
  for (const char* device : {"null", "nvidiactl", "nvidia-uvm", "nvidia10", "nvidia3", "nvidia-caps/nvidia-cap1"}) tree.put(std::string("/dev/") + device, "");
  tree.put("/dev/shm/x", "");
  for (const char* device : {"uverbs0", "uverbs1", "umad0", "issm0", "rdma_cm", "by-path"}) tree.put(std::string("/dev/infiniband/") + device, "");
  put_gpu(tree, "0000:18:00.0", 0, "0");
  put_gpu(tree, "0000:2a:00.0", 10, "-1");
  put_gpu(tree, "0000:9b:00.0", 3, "1");
  tree.put("/sys/devices/system/node/possible", "0-2\n");
  tree.put("/sys/devices/system/node/node0/cpulist", "0-31\n");
  tree.put("/sys/devices/system/node/node1/cpulist", "32-63\n");
  tree.put("/sys/devices/system/node/node2/cpulist", "\n");
}

Facts facts_of(const Tree& tree) {
  Facts facts = read_facts(tree.path());
  facts.shm_bytes = {};  // of this machine
  return facts;
}

Facts whole() {
  Facts facts{};
  facts.memlock_bytes.value = 65536;
  facts.capabilities.value = 0xa80465fb;
  facts.verbs = {{.name = "uverbs0", .trouble = ""}, {.name = "uverbs1", .trouble = ""}};
  facts.open_files.value = 524288;
  facts.processes.value = 16384;
  facts.cpus.value = *parse_cpu_list("0-3,32-35");
  facts.nodes.value = {{0, *parse_cpu_list("0-31")}, {1, *parse_cpu_list("32-63")}, {2, {}}};
  facts.gpus = {{.name = "0000:9b:00.0", .node = 1, .trouble = ""}, {.name = "0000:2a:00.0", .node = -1, .trouble = ""}};
  return facts;
}

TEST(ContainerFacts, AreReadFromProcAndSysfs) {
  const Tree tree;
  build(tree);
  EXPECT_EQ(facts_of(tree), whole());
  EXPECT_GT(read_facts(tree.path()).shm_bytes.value.value_or(0), 0U);
}

TEST(ContainerFacts, AreMissingOneByOneAndSayWhy) {
  struct Case {
    const char* name{};
    std::function<void(const Tree&)> change{};
    std::function<void(Facts&, const std::string&)> wanted{};
  };
  const std::vector<Case> table{
      {"no proc", [](const Tree& t) { t.remove("/proc/self"); },
       [](Facts& f, const std::string& root) {
         f.memlock_bytes = f.open_files = {.trouble = root + "/proc/self/limits: No such file or directory"};
         f.capabilities = {.trouble = root + "/proc/self/status: No such file or directory"};
         f.cpus = {.trouble = root + "/proc/self/status: No such file or directory"};
         f.processes = {.trouble = root + "/proc/self/cgroup: No such file or directory"};
       }},
      {"limits cut short", [](const Tree& t) { t.put("/proc/self/limits", "Max open files            1024\nMax locked memory         unlimited  some\n"); },
       [](Facts& f, const std::string& root) {
         f.memlock_bytes = {.value = kUnlimited};
         f.open_files = {.trouble = root + "/proc/self/limits has no line 'Max open files' that can be read"};
       }},
      {"limits that are no numbers", [](const Tree& t) { t.put("/proc/self/limits", "Max locked memory -1 x\n"); },
       [](Facts& f, const std::string& root) {
         f.memlock_bytes = {.trouble = root + "/proc/self/limits has no line 'Max locked memory' that can be read"};
         f.open_files = {.trouble = root + "/proc/self/limits has no line 'Max open files' that can be read"};
       }},
      {"a status of nonsense", [](const Tree& t) { t.put("/proc/self/status", "CapEff:\tnone\nCpus_allowed_list:\t0-3-4\n"); },
       [](Facts& f, const std::string& root) {
         f.capabilities = {.trouble = root + "/proc/self/status has no line 'CapEff:' that can be read"};
         f.cpus = {.trouble = root + "/proc/self/status has no line 'Cpus_allowed_list:' that can be read"};
       }},
      {"no RDMA", [](const Tree& t) { t.remove("/dev/infiniband"); }, [](Facts& f, const std::string&) { f.verbs.clear(); }},
      {"a device that does not open", [](const Tree& t) { t.remove("/dev/infiniband/uverbs1"); fs::create_directory(t.path() + "/dev/infiniband/uverbs1"); },
       [](Facts& f, const std::string&) { f.verbs[1].trouble = "Is a directory"; }},
      {"no limit of processes", [](const Tree& t) { t.put("/sys/fs/cgroup/pids.max", "max\n"); }, [](Facts& f, const std::string&) { f.processes = {.value = kUnlimited}; }},
      {"a group below a smaller one",
       [](const Tree& t) {
         t.put("/proc/self/cgroup", "0::/pod/container\n");
         t.put("/sys/fs/cgroup/pod/container/pids.max", "max\n");
         t.put("/sys/fs/cgroup/pod/pids.max", "4096\n");
       },
       [](Facts& f, const std::string&) { f.processes = {.value = 4096}; }},
      {"a path that the mount does not show", [](const Tree& t) { t.put("/proc/self/cgroup", "0::/kubepods/podx/y\n"); }, [](Facts&, const std::string&) {}},
      {"a path out of the mount", [](const Tree& t) { t.put("/proc/self/cgroup", "0::/../../y\n"); }, [](Facts&, const std::string&) {}},
      {"hierarchies of the first kind",
       [](const Tree& t) {
         t.remove("/sys/fs/cgroup/pids.max");
         t.put("/proc/self/cgroup", "5:cpu,cpuacct:/a\n4:pids:/kubepods/a\n1:name=systemd:/a\n0::/a\n");
         t.put("/sys/fs/cgroup/pids/pids.max", "2048\n");
       },
       [](Facts& f, const std::string&) { f.processes = {.value = 2048}; }},
      {"no pids.max at all", [](const Tree& t) { t.remove("/sys/fs/cgroup"); },
       [](Facts& f, const std::string& root) { f.processes = {.trouble = "no pids.max below " + root + "/sys/fs/cgroup can be read"}; }},
      {"a pids.max of nonsense", [](const Tree& t) { t.put("/sys/fs/cgroup/pids.max", "many\n"); },
       [](Facts& f, const std::string& root) { f.processes = {.trouble = root + "/sys/fs/cgroup/pids.max cannot be read as a number"}; }},
      {"no sysfs", [](const Tree& t) { t.remove("/sys/devices"); },
       [](Facts& f, const std::string& root) { f.nodes = {.trouble = root + "/sys/devices/system/node: No such file or directory"}; }},
      {"a node without its list", [](const Tree& t) { t.remove("/sys/devices/system/node/node1/cpulist"); },
       [](Facts& f, const std::string& root) { f.nodes = {.trouble = root + "/sys/devices/system/node/node1/cpulist: No such file or directory"}; }},
      {"no driver", [](const Tree& t) { t.remove("/proc/driver"); },
       [](Facts& f, const std::string& root) {
         f.gpus = {{.name = "/dev/nvidia3", .node = std::nullopt, .trouble = root + "/proc/driver/nvidia/gpus has no PCI address for it"},
                   {.name = "/dev/nvidia10", .node = std::nullopt, .trouble = root + "/proc/driver/nvidia/gpus has no PCI address for it"}};
       }},
      {"a GPU that sysfs does not know", [](const Tree& t) { t.remove("/sys/bus/pci/devices/0000:9b:00.0"); },
       [](Facts& f, const std::string& root) {
         f.gpus[0] = {.name = "0000:9b:00.0", .node = std::nullopt, .trouble = root + "/sys/bus/pci/devices/0000:9b:00.0/numa_node: No such file or directory"};
       }},
      {"a NUMA node of nonsense", [](const Tree& t) { t.put("/sys/bus/pci/devices/0000:9b:00.0/numa_node", "one\n"); },
       [](Facts& f, const std::string& root) {
         f.gpus[0] = {.name = "0000:9b:00.0", .node = std::nullopt, .trouble = root + "/sys/bus/pci/devices/0000:9b:00.0/numa_node cannot be read as a number"};
       }},
  };
  for (const Case& one : table) {
    const Tree tree;
    build(tree);
    one.change(tree);
    Facts wanted = whole();
    one.wanted(wanted, tree.path());
    EXPECT_EQ(facts_of(tree), wanted) << one.name;
  }
}

TEST(ContainerFacts, OfAnEmptyTreeAreAllMissing) {
  const Tree tree;
  const Facts facts = read_facts(tree.path());
  EXPECT_FALSE(facts.shm_bytes.value || facts.memlock_bytes.value || facts.capabilities.value || facts.open_files.value || facts.processes.value ||
               facts.cpus.value || facts.nodes.value);
  EXPECT_TRUE(facts.verbs.empty() && facts.gpus.empty());
  EXPECT_EQ(facts.shm_bytes.trouble, "No such file or directory");
}

}  // namespace
}  // namespace verl::incontainer
