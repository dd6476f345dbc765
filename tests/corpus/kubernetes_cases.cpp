// Cases of Kubernetes objects, labels, limits and Ray manifests.
#include "tests/corpus/harness.h"

#include <map>

#include "base/text.h"
#include "diagnosis/kubernetes/memory_registration.h"
#include "diagnosis/kubernetes/topology_labels.h"
#include "diagnosis/kubernetes/version_skew.h"
#include "diagnosis/rule.h"

namespace {

using namespace verl;
using verl::corpus::Given;
using verl::corpus::Outcome;
using verl::diagnosis::Finding;
using verl::diagnosis::Severity;
using Names = std::vector<std::string>;

Given given(std::string file) { return {.node = "", .file = std::move(file), .format = ""}; }

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

bool boolean(const Outcome& outcome, std::string_view name) {
  const auto scalar = outcome.value(0, name);
  const bool* found = std::get_if<bool>(&scalar);
  EXPECT_NE(found, nullptr) << name;
  return found && *found;
}

std::vector<std::vector<std::string>> table(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  for (const std::string_view line : split(text, '\n')) {
    if (line.empty()) continue;
    std::vector<std::string> row;
    for (const std::string_view cell : split(line, '\t')) row.emplace_back(cell);
    rows.push_back(std::move(row));
  }
  if (!rows.empty()) rows.erase(rows.begin());
  return rows;
}

bool skipped(const Outcome& outcome, const std::string& part) {
  for (const std::string& one : outcome.documents.at(0).reading.skipped) {
    if (contains(one, part)) return true;
  }
  return false;
}

}  // namespace

// What df says; the two logs of the case are read with the others.
CORPUS(e06, {{"shm      ", "tmpfs    "}}) {
  const auto outcome = c.diagnose({given("e-ray/e06-df.txt")});
  EXPECT_EQ(outcome.documents[0].format, "df");
  EXPECT_EQ(outcome.text(0, "mounts[0].mounted_on"), "/dev/shm");
  EXPECT_EQ(outcome.number(0, "mounts[0].size"), 65536 * 1024.0);
  EXPECT_EQ(outcome.number(0, "mounts[0].use"), 100);
  EXPECT_EQ(outcome.unit(0, "mounts[0].use"), "%");
  EXPECT_EQ(outcome.number(0, "shm.free"), 0);
  EXPECT_EQ(outcome.at_least(Severity::Warning), Names{"shm-free /dev/shm"});
  EXPECT_EQ(outcome.finding("shm-free").severity, Severity::Error);  // the check fails beforehand
  EXPECT_TRUE(contains(outcome.finding("shm-free").remedy, "stale nccl-* files"));
}

CORPUS(e07, {{"trn-31", "gpu-99"}}) {
  const auto small = c.diagnose({given("e-ray/e07-ulimit-small.txt")});
  EXPECT_EQ(small.documents[0].format, "ulimit");
  EXPECT_EQ(small.number(0, "max locked memory"), 8192);
  EXPECT_EQ(small.unit(0, "max locked memory"), "kbytes");
  EXPECT_EQ(small.at_least(Severity::Error), Names{"limits-memlock memlock"});  // fails for RDMA pods
  EXPECT_EQ(small.finding("limits-memlock").seen, "8192 KiB");
  EXPECT_TRUE(contains(small.finding("limits-memlock").wanted, "IPC_LOCK"));
  EXPECT_EQ(small.facts(0).kubernetes.memlock_bytes, 8192 * 1024);
  const auto unlimited = c.diagnose({given("e-ray/e07-ulimit-unlimited.txt")});
  EXPECT_EQ(unlimited.documents[0].format, "ulimit");
  EXPECT_EQ(unlimited.at_least(Severity::Warning), Names{});  // pass
  EXPECT_EQ(unlimited.text(0, "max locked memory"), "unlimited");
  EXPECT_EQ(unlimited.facts(0).kubernetes.memlock_bytes, -1);
  // The log's line with that limit beside it.
  const std::string line = c.text("e-ray/e07.log");
  EXPECT_TRUE(contains(line, "ibv_reg_mr_iova2 failed with error Cannot allocate memory"));
  const auto causes = kubernetes::registration_causes(kubernetes::memory_state("", small.facts(0).kubernetes.memlock_bytes));
  EXPECT_EQ(causes.at(0).cause, kubernetes::RegistrationCause::LockedMemoryLimit);
  EXPECT_TRUE(contains(causes.at(0).why, "8192 KiB"));
}

CORPUS(e09, {{"verl-cluster", "demo-cluster"}}) {
  const auto outcome = c.diagnose({given("e-ray/e09-kuberay-verl-sample.yaml")});
  EXPECT_EQ(outcome.documents[0].format, "kubernetes-objects");
  EXPECT_EQ(outcome.at_least(Severity::Unknown), Names{});  // exit without error
  EXPECT_EQ(outcome.at_least(Severity::Error), Names{});
  EXPECT_EQ(outcome.number(0, "objects[0].gpus"), 4);
  EXPECT_EQ(outcome.number(0, "objects[0].gpu_nodes"), 1);
  EXPECT_EQ(outcome.number(0, "objects[0].workers"), 0);
  EXPECT_TRUE(contains(outcome.finding("pod-shm-missing").message, "/dev/shm"));
  EXPECT_TRUE(contains(outcome.finding("pod-shm-missing").message, "64 MiB"));
  EXPECT_TRUE(contains(outcome.finding("ray-head-carries-gpus").message, "4 GPUs"));
  EXPECT_EQ(outcome.findings("pod-no-rdma-resource").size(), 1u);
}

CORPUS(e11, {{"gb-node-8", "hp-host-3"}}) {
  const std::string scenario = c.text("e-ray/e11-scenario.yaml");
  EXPECT_TRUE(contains(scenario, c.as("gb-node-8")));
  std::string meminfo = scenario.substr(scenario.find('{') + 1);
  for (char& one : meminfo) {
    if (one == ',' || one == '}') one = '\n';
  }
  const auto unlimited = kubernetes::registration_causes(kubernetes::memory_state(meminfo, -1));
  ASSERT_EQ(unlimited.size(), 3u);  // several possible causes
  EXPECT_EQ(unlimited[0].cause, kubernetes::RegistrationCause::LowFreeMemory);
  EXPECT_TRUE(contains(unlimited[0].why, "1.1 GiB free of 119 GiB"));
  EXPECT_TRUE(contains(unlimited[0].why, "0.9 GiB in CMA pages"));
  EXPECT_EQ(unlimited[1].cause, kubernetes::RegistrationCause::DeviceLimits);
  EXPECT_EQ(unlimited[2].cause, kubernetes::RegistrationCause::LockedMemoryLimit);
  EXPECT_FALSE(unlimited[2].supported);  // not certain: the limit is unlimited
  const auto limited = kubernetes::registration_causes(kubernetes::memory_state(meminfo, 64 * 1024));
  EXPECT_EQ(limited[0].cause, kubernetes::RegistrationCause::LockedMemoryLimit);
  EXPECT_TRUE(contains(limited[0].why, "64 KiB"));
}

CORPUS(f02, {{"rl-lab", "ml-dev"}, {"dapo-7b-release", "ppo-70b-release"}}) {
  const auto terminating = c.diagnose({given("f-operator/f02-status.json")});
  EXPECT_EQ(terminating.documents[0].format, "kubernetes-objects");
  EXPECT_EQ(terminating.number(0, "objects[0].code"), 403);
  EXPECT_EQ(terminating.text(0, "objects[0].reason"), "Forbidden");
  EXPECT_TRUE(boolean(terminating, "objects[0].namespace_terminating"));  // cause NamespaceTerminating
  EXPECT_EQ(terminating.at_least(Severity::Error), Names{});
  EXPECT_EQ(terminating.findings("namespace-terminating").size(), 1u);
  EXPECT_TRUE(contains(c.text("f-operator/f02-status.json"), "NamespaceTerminating"));
  const auto plain = c.diagnose({given("f-operator/f02-plain-403.json")});
  EXPECT_FALSE(boolean(plain, "objects[0].namespace_terminating"));
  EXPECT_EQ(plain.at_least(Severity::Error), Names{"api-refused Forbidden"});
}

CORPUS(f10, {{"dapo-32b-head", "grpo-8bx-head"}, {"gpu-m17", "gpu-x42"}}) {
  const auto outcome = c.diagnose({given("f-operator/f10-evicted-head.yaml")});
  EXPECT_EQ(outcome.at_least(Severity::Error), Names{"pod-not-alive " + c.as("dapo-32b-head")});
  EXPECT_FALSE(boolean(outcome, "objects[0].alive"));
  EXPECT_EQ(outcome.text(0, "objects[0].phase"), "Failed");
  EXPECT_EQ(outcome.text(0, "objects[0].reason"), "Evicted");
  EXPECT_TRUE(contains(outcome.finding("pod-not-alive").message, "low on resource: ephemeral-storage"));
  EXPECT_TRUE(contains(outcome.finding("pod-not-alive").message, "restartPolicy"));
  for (const std::string reason : {"NodeLost", "Preempting"}) {
    std::string text = c.text("f-operator/f10-evicted-head.yaml");
    text.replace(text.find("phase: Failed"), 13, "phase: Running");
    text.replace(text.find("Evicted"), 7, reason);
    const auto document = diagnosis::read_document("one", "", text, "", {});
    ASSERT_EQ(document.reading.findings.size(), 1u) << reason;
    EXPECT_EQ(document.reading.findings[0].id, "pod-not-alive");
  }
}

CORPUS(h01, {{"198.51.100.21", "203.0.113.142"}, {"qk3v8r2mw5a", "zz9y8x7w6v5"}, {"hd9x1t6pz0c", "aa1b2c3d4e5"}}) {
  const auto outcome = c.diagnose({given("h-k8s/h01-node.yaml")});
  EXPECT_EQ(outcome.text(0, "objects[0].name"), c.as("198.51.100.21"));
  EXPECT_EQ(outcome.text(0, "objects[0].topology.oci.oraclecloud.com/rdma.network_block_id"), c.as("qk3v8r2mw5a"));
  EXPECT_EQ(outcome.text(0, "objects[0].topology.oci.oraclecloud.com/rdma.local_block_id"), c.as("hd9x1t6pz0c"));
  EXPECT_EQ(outcome.at_least(Severity::Warning), Names{});
  EXPECT_EQ(outcome.at_least(Severity::Error), Names{});
  EXPECT_TRUE(contains(outcome.finding("node-topology-incomplete").message, "oci.oraclecloud.com/rdma.hpc_island_id"));
  EXPECT_EQ(outcome.number(0, "objects[0].gpus"), 0);
  EXPECT_EQ(outcome.text(0, "objects[0].ready"), "True");
}

CORPUS(h03, {{"nn-", "qq-"}, {"leaf-", "blat-"}}) {
  size_t rows = 0;
  const Names providers{"AWS", "Topograph", "Nebius", "GKE", "OKE", "CoreWeave (InfiniBand)", "CoreWeave (NVLink)"};
  EXPECT_EQ(providers.size(), 7u);  // each below
  for (const auto& row : table(c.text("h-k8s/h03-nodes.tsv"))) {
    kubernetes::Labels labels;
    for (const std::string_view pair : split(row.at(1), ',')) labels[std::string(pair.substr(0, pair.find('=')))] = std::string(pair.substr(pair.find('=') + 1));
    EXPECT_EQ(kubernetes::topology_of(labels).rack.value, row.at(2)) << row.at(0);
    ++rows;
  }
  EXPECT_EQ(rows, 8u);
  const auto rack = [](const kubernetes::Labels& labels) { return kubernetes::topology_of(labels).rack; };
  const auto layers = [](int count) {
    kubernetes::Labels labels;
    for (int i = 1; i <= count; ++i) labels["topology.k8s.aws/network-node-layer-" + std::to_string(i)] = "nn-" + std::to_string(i * 10);
    return labels;
  };
  EXPECT_EQ(rack(layers(4)).value, "nn-40");  // a2 has four layers; a1 has 3
  EXPECT_EQ(rack(layers(3)).value, "nn-30");
  EXPECT_EQ(rack({{"fabric.topograph.run/tier-0", "a"}, {"fabric.topograph.run/tier-1", "b"}}).label, "fabric.topograph.run/tier-0");
  EXPECT_EQ(rack({{"topology.nebius.com/tier-1", "a"}, {"topology.nebius.com/tier-2", "b"}}).label, "topology.nebius.com/tier-1");
  EXPECT_EQ(rack({{"oci.oraclecloud.com/rdma.local_block_id", "a"}}).label, "oci.oraclecloud.com/rdma.local_block_id");
  EXPECT_EQ(kubernetes::topology_of({{"oci.oraclecloud.com/rdma.local_block_id", "a"}}).provider, "oke");
  EXPECT_EQ(rack({{"cloud.google.com/gce-topology-subblock", "s"}, {"cloud.google.com/gce-topology-host", "h"}}).label, "cloud.google.com/gce-topology-subblock");
  EXPECT_EQ(rack({{"backend.coreweave.cloud/leafgroup", "l"}}).label, "backend.coreweave.cloud/leafgroup");
  EXPECT_EQ(rack({{"backend.coreweave.cloud/leafgroup", "l"}, {"ds.coreweave.com/nvlink.domain", "n"}}).label, "ds.coreweave.com/nvlink.domain");
  diagnosis::Fleet fleet;
  fleet["a1"].kubernetes.topology_provider = "aws";
  fleet["a1"].kubernetes.topology_layers = 3;
  fleet["a2"].kubernetes.topology_provider = "aws";
  fleet["a2"].kubernetes.topology_layers = 4;
  std::vector<Finding> found;
  diagnosis::compare_kubernetes(fleet, {}, found);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].severity, Severity::Warning);
}

CORPUS(h06, {{"fake-b", "demo-b"}}) {
  const auto outcome = c.diagnose({given("h-k8s/h06-nodes-30.yaml")});
  EXPECT_EQ(outcome.number(0, "objects"), 30);
  double gpus = 0;
  std::map<std::string, int> blocks;
  std::map<std::string, int> subblocks;
  for (int i = 0; i < 30; ++i) {
    const std::string path = "objects[" + std::to_string(i) + "].";
    gpus += outcome.number(0, path + "gpus");
    ++blocks[outcome.text(0, path + "topology.cloud.google.com/gce-topology-block")];
    ++subblocks[outcome.text(0, path + "topology.rack")];
    EXPECT_EQ(outcome.text(0, path + "ready"), "absent");
  }
  EXPECT_EQ(gpus, 240);
  ASSERT_EQ(blocks.size(), 3u);
  ASSERT_EQ(subblocks.size(), 6u);
  for (const auto& [name, nodes] : subblocks) EXPECT_EQ(nodes, 5) << name;  // 5 nodes fit one, 6 do not
  for (const auto& [name, nodes] : blocks) {
    EXPECT_EQ(nodes, 10) << name;  // exactly one block
    EXPECT_LT(nodes, 11) << name;  // 11 cross blocks
  }
  EXPECT_EQ(outcome.findings("node-not-ready").size(), 30u);  // without a condition Ready nobody counts as ready
  for (const Finding& one : outcome.findings("node-not-ready")) EXPECT_EQ(one.severity, Severity::Unknown);
  EXPECT_EQ(outcome.findings("node-taint", "nvidia.com/gpu").size(), 30u);  // without tolerations 0 candidates: taints
  EXPECT_EQ(outcome.findings("node-taint", "kwok.x-k8s.io/node").size(), 30u);
}

CORPUS(h07, {{"leaf-11", "spot-21"}, {"leaf-12", "spot-22"}}) {
  std::map<std::string, kubernetes::NodeTopology> nodes;
  for (const auto& row : table(c.text("h-k8s/h07-labels.tsv"))) {
    nodes[row.at(0)] = kubernetes::topology_of({{"nvidia.com/gpu.clique", row.at(1)}, {"fabric.topograph.run/tier-0", row.at(2)}});
  }
  EXPECT_TRUE(kubernetes::same_rack(nodes["m1"], nodes["m2"])) << "one ClusterUUID, though two cliques";
  EXPECT_NE(nodes["m1"].nvlink_partition, nodes["m2"].nvlink_partition);
  EXPECT_FALSE(kubernetes::same_rack(nodes["m1"], nodes["m3"])) << "its tier-0 leaf is the same as m1's";
  EXPECT_EQ(nodes["m1"].rack.value, nodes["m3"].rack.value);
  EXPECT_EQ(nodes["m3"].rack.label, "fabric.topograph.run/tier-0");
  EXPECT_EQ(nodes["m4"].nvlink_domain, "");
  EXPECT_EQ(nodes["m4"].rack.value, c.as("leaf-12"));
  EXPECT_FALSE(kubernetes::same_rack(nodes["m5"], nodes["m6"]));
  EXPECT_TRUE(kubernetes::same_rack(nodes["m7"], nodes["m8"]));
  for (const auto& row : table(c.text("h-k8s/h07-hash.tsv"))) {
    EXPECT_EQ(kubernetes::label_value(row.at(0)), row.at(2));
    EXPECT_EQ(row.at(0).size() > 63, row.at(2).size() < row.at(0).size()) << "FNV-64a from 64 characters on";
  }
}

CORPUS(h09, {{"A100-SXM4-80GB", "H800-SXM5-80GB"}}) {
  const auto outcome = c.diagnose({given("h-k8s/h09-gfd.txt")});
  EXPECT_EQ(outcome.documents[0].format, "gfd-labels");
  EXPECT_EQ(outcome.at_least(Severity::Warning), Names{});
  EXPECT_EQ(outcome.number(0, "gpu.count"), 4);
  EXPECT_EQ(outcome.text(0, "gpu.product"), c.as("NVIDIA-A100-SXM4-80GB"));
  EXPECT_EQ(outcome.number(0, "gpu.memory"), 81920);
  EXPECT_EQ(outcome.unit(0, "gpu.memory"), "MiB");
  EXPECT_EQ(outcome.text(0, "driver"), "535.161.08");
  EXPECT_EQ(outcome.text(0, "labels.nvidia.com/cuda.driver.rev"), "08");
  EXPECT_EQ(outcome.number(0, "gpu.replicas"), 1);
  EXPECT_FALSE(boolean(outcome, "gpu.shared"));
  EXPECT_FALSE(boolean(outcome, "mig.enabled"));  // MIG off
  EXPECT_EQ(outcome.text(0, "mig.capable"), "true");  // mig.capable=true
  EXPECT_EQ(outcome.text(0, "mig.strategy"), "single");  // mig.strategy=single
  EXPECT_TRUE(contains("mig.capable=true mig.strategy=single", "mig.capable=true"));
  EXPECT_TRUE(contains(outcome.finding("node-virtual-machine").message, "Q35"));
  EXPECT_TRUE(contains(outcome.finding("node-virtual-machine").message, "may be virtual"));
  EXPECT_EQ(outcome.text(0, "labels.nvidia.com/gpu-driver-upgrade-enabled"), "true");
  EXPECT_TRUE(outcome.documents[0].reading.unread.empty());

  const auto shared = c.diagnose({given("h-k8s/h09-gfd-shared.txt")});
  EXPECT_EQ(shared.number(0, "gpu.replicas"), 4);
  EXPECT_TRUE(shared.text(0, "gpu.product").ends_with("-SHARED"));
  EXPECT_EQ(shared.text(0, "gpu.sharing_strategy"), "time-slicing");
  EXPECT_EQ(shared.findings("gpu-shared").size(), 1u);
  EXPECT_EQ(shared.findings("gpu-shared").at(0).severity, Severity::Error);  // refused
}

CORPUS(h10, {{"gpu-s", "hpc-x"}}) {
  using kubernetes::Skew;
  std::map<std::string, std::string> versions;
  for (const auto& row : table(c.text("h-k8s/h10-versions.tsv"))) versions[row.at(0)] = row.at(1);
  const std::string server = versions.at("kube-apiserver");
  EXPECT_EQ(server, "v1.34.3");
  EXPECT_EQ(versions.at(c.as("gpu-s1")), "v1.34.1");
  EXPECT_EQ(kubernetes::kubelet_skew(server, versions.at(c.as("gpu-s1"))), Skew::Fine);
  EXPECT_EQ(versions.at(c.as("gpu-s2")), "v1.31.9");
  EXPECT_EQ(kubernetes::kubelet_skew(server, versions.at(c.as("gpu-s2"))), Skew::Fine);
  EXPECT_EQ(versions.at(c.as("gpu-s3")), "v1.30.2");
  EXPECT_EQ(kubernetes::kubelet_skew(server, versions.at(c.as("gpu-s3"))), Skew::TooOld);
  EXPECT_EQ(versions.at(c.as("gpu-s4")), "v1.35.0");
  EXPECT_EQ(kubernetes::kubelet_skew(server, versions.at(c.as("gpu-s4"))), Skew::Newer);
  for (const diagnosis::Rule& rule : diagnosis::kubernetes_rules()) {
    if (rule.id != "kubelet-skew") continue;
    EXPECT_EQ(rule.severity, Severity::Warning);
    EXPECT_GT(rule.severity, Severity::Info);
  }
}

CORPUS(h11, {{"rayjob-sample-", "tryout-sample-"}}) {
  const auto outcome = c.diagnose({given("h-k8s/h11-ray-job.kueue-toy-sample.yaml")});
  EXPECT_EQ(outcome.at_least(Severity::Warning), Names{});  // accepted
  EXPECT_EQ(outcome.text(0, "objects[0].name"), c.as("rayjob-sample-"));  // its generateName
  EXPECT_TRUE(contains(c.text("h-k8s/h11-ray-job.kueue-toy-sample.yaml"), "generateName"));
  EXPECT_EQ(outcome.number(0, "objects[0].name_length"), std::string("rayjob-sample-").size() + 5);
  EXPECT_EQ(outcome.finding("ray-no-gpu").severity, Severity::Info);
  const Finding memory = outcome.finding("pod-memory-request-below-limit");
  EXPECT_EQ(memory.seen, "\"2Gi\"");
  EXPECT_EQ(memory.wanted, "\"5Gi\"");
  EXPECT_EQ(memory.severity, Severity::Info);
}

CORPUS(h12, {{"team-a", "crew-b"}, {"raycluster-sample", "raycluster-tryout"}}) {
  const auto outcome = c.diagnose({given("h-k8s/h12-ray-cluster.kai-scheduler.yaml")});
  EXPECT_EQ(outcome.at_least(Severity::Warning), Names{});
  EXPECT_TRUE(skipped(outcome, "Queue department-1"));
  EXPECT_TRUE(skipped(outcome, "Queue " + c.as("team-a")));
  EXPECT_EQ(outcome.documents[0].reading.skipped.size(), 2u);
  EXPECT_EQ(outcome.text(0, "objects[2].labels.kai.scheduler/queue"), c.as("team-a"));  // kept
  EXPECT_EQ(outcome.finding("workload-foreign-queue", "kai.scheduler/queue").severity, Severity::Info);
  EXPECT_TRUE(contains(outcome.finding("workload-foreign-queue").message, "no second gang or placement"));
}

CORPUS(h14, {{"raycluster-tls", "raycluster-abc"}, {"ca-tls", "ab-xyz"}}) {
  const auto outcome = c.diagnose({given("h-k8s/h14-ray-cluster.tls.yaml")});
  EXPECT_EQ(outcome.at_least(Severity::Warning), Names{});
  EXPECT_TRUE(skipped(outcome, "Secret " + c.as("ca-tls")));
  EXPECT_TRUE(skipped(outcome, "ConfigMap tls"));
  EXPECT_EQ(outcome.text(0, "objects[0].head init_containers[0]"), "ray-head-tls");  // kept
  EXPECT_EQ(outcome.findings("ray-certificates-need-time").size(), 1u);
  EXPECT_TRUE(contains(outcome.finding("ray-certificates-need-time").message, "certificate is not yet valid"));
  for (const diagnosis::Value& one : outcome.documents[0].reading.values) {
    const auto* text = std::get_if<std::string>(&one.value);
    EXPECT_FALSE(text && contains(*text, "UkVEQUNURUQ")) << one.name;  // ca.crt and ca.key of the Secret
  }
  for (const Finding& one : outcome.diagnosis.findings) {
    for (const auto& line : one.evidence) EXPECT_FALSE(contains(line.text, "UkVEQUNURUQ"));
  }
}

CORPUS(h15, {{"rayjob-deletion-rules", "tryout-deletion-rules"}}) {
  const auto outcome = c.diagnose({given("h-k8s/h15-ray-job.deletion-rules.yaml")});
  EXPECT_EQ(outcome.at_least(Severity::Error), Names{});
  EXPECT_EQ(outcome.findings("ray-unsupported-field").size(), 6u);
  for (int i = 0; i <= 5; ++i) {
    SCOPED_TRACE("spec.deletionStrategy.deletionRules[0..5]");
    EXPECT_EQ(outcome.findings("ray-unsupported-field", "spec.deletionStrategy.deletionRules[" + std::to_string(i) + "]").size(), 1u);
  }
  EXPECT_TRUE(outcome.findings("ray-unsupported-field", "spec.deletionStrategy.deletionRules[0]").at(0).message.find("would be lost") != std::string::npos);
}

CORPUS(h16, {{"virtual-gpu-node", "modeled-gpu-node"}, {"virtual-dgxa100.40g-0", "modeled-dgxb200.99g-7"}}) {
  const auto outcome = c.diagnose({given("h-k8s/h16-kwok-virtual-gpu-node.yaml")});
  EXPECT_EQ(outcome.at_least(Severity::Warning), Names{});  // healthy, whatever the messages say
  EXPECT_EQ(outcome.number(0, "objects[0].conditions"), 18);
  EXPECT_EQ(outcome.text(0, "objects[0].ready"), "True");
  EXPECT_EQ(outcome.text(0, "objects[0].hostname_label"), c.as("virtual-dgxa100.40g-0"));
  EXPECT_EQ(outcome.finding("node-hostname-label").seen, c.as("virtual-dgxa100.40g-0"));
  EXPECT_TRUE(contains(outcome.finding("node-hostname-label").message, "kubernetes.io/hostname"));
  EXPECT_EQ(outcome.text(0, "objects[0].name"), c.as("virtual-gpu-node"));
  EXPECT_EQ(outcome.number(0, "objects[0].rdma_resources"), 8);
  EXPECT_EQ(outcome.number(0, "objects[0].rdma.intel.com/mlnx_sriov_rdma1"), 1);
  EXPECT_EQ(outcome.number(0, "objects[0].gpus"), 8);
  EXPECT_EQ(outcome.findings("node-taint", "kwok.x-k8s.io/node").size(), 1u);
  diagnosis::Policy policy;
  policy.rdma_resource = "intel.com/mlnx_sriov_rdma*";
  EXPECT_EQ(c.diagnose({given("h-k8s/h16-kwok-virtual-gpu-node.yaml")}, policy).number(0, "objects[0].rdma_devices"), 8);
}
