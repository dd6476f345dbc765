// Whole logs: what is found, what is folded, what is left in peace.
#include "diagnosis/log/reader.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "diagnosis/diagnose.h"

namespace verl::log {
namespace {

using diagnosis::Diagnosis;
using diagnosis::Finding;
using diagnosis::Policy;
using diagnosis::ReadDocument;
using diagnosis::Severity;

ReadDocument document(const std::string& text, const std::string& node = {}, const Policy& policy = {}) {
  diagnosis::ReadOptions options;
  options.policy = policy;
  return diagnosis::read_document("the.log", node, text, "log", options);
}

Diagnosis of(const std::string& text, const Policy& policy = {}) { return diagnosis::diagnose({document(text, {}, policy)}, policy); }

std::vector<std::string> ids(const Diagnosis& diagnosis, Severity least = Severity::Warning) {
  std::vector<std::string> all;
  for (const Finding& one : diagnosis.findings) {
    if (one.severity >= least) all.push_back(one.id);
  }
  std::sort(all.begin(), all.end());
  return all;
}

bool found(const Diagnosis& diagnosis, const std::string& id) {
  const std::vector<std::string> all = ids(diagnosis, Severity::Info);
  return std::find(all.begin(), all.end(), id) != all.end();
}

std::string warn(const std::string& message) { return "\nbox-1:31:40 [3] some/file.cc:12 NCCL WARN " + message + "\n"; }
std::string info(const std::string& message) { return "box-1:31:40 [3] NCCL INFO " + message + "\n"; }

struct RuleCase {
  const char* id{nullptr};
  std::string fires{};
  std::string near_miss{};
};

// A line that is the rule's, and one that only looks like it.
TEST(Causes, FireOnTheirLineAndNotOnOneLikeIt) {
  const RuleCase kCases[] = {
      {"NCCL608", warn("NET/IB : hfi_7:1 async fatal event: local catastrophic error"), warn("NET/IB : hfi_7:1 Got non-fatal async event: GID table change(18)")},
      {"log-async-event", warn("NET/IB : hfi_7:1 Got non-fatal async event: GID table change(18)"), warn("NET/IB : Got async event : port error")},
      {"log-completion-error", warn("NET/IB: Got completion from peer 192.0.2.1<5> with status=IBV_WC_RETRY_EXC_ERR(12) opcode=IBV_WC_SEND(0) reqSize=8 vendor_err=129 (Send)"),
       info("NET/IB: waiting for completion from peer 192.0.2.1<5>")},
      {"log-modify-qp", warn("Call to ibv_modify_qp failed with 110 Connection timed out, on dev hfi_0:1, curr state INIT, next state RTR, local GID index 3, local GID ::1, remote GID ::2"),
       info("ibv_modify_qp retry 1/5")},
      {"log-size-mismatch", warn("NET/Socket : peer 192.0.2.1<5> message truncated : receiving 8 bytes instead of 4"), info("Message size 8 of 4")},
      {"log-version-mismatch", warn("Mismatched NCCL version detected : rank 0 version 22105 rank 3 version 22602"), info("NCCL version 2.26.2+cuda12.2")},
      {"log-memory-registration", warn("Call to ibv_create_qp failed with error Cannot allocate memory"), warn("Call to ibv_create_qp failed with error Invalid argument")},
      {"log-verbs-call", warn("Call to ibv_create_qp failed with error Invalid argument"), warn("Call to ibv_create_qp failed with error Cannot allocate memory")},
      {"log-device-open", warn("NET/IB : Unable to open device hfi_3"), info("NET/IB : open devices 3")},
      {"log-connect", warn("socketStartConnect: Connect to 192.0.2.9<4711> failed : Software caused connection abort"), info("Call to connect returned Connection refused, retrying")},
      {"log-connect-retry", info("Call to connect returned Connection refused, retrying"), info("Connected to 192.0.2.9")},
      {"log-peer-closed", warn("socketProgress: Connection closed by remote peer box-2<4711>"), info("Connection closed")},
      {"log-foreign-connection", warn("socketFinalizeAccept: wrong magic 1 != 2"), info("magic 12")},
      {"log-bootstrap-mismatch", warn("Bootstrap Root : rank 3 of 8 ranks has already checked in"), info("Bootstrap : Using eth0:192.0.2.1<0>")},
      {"log-link-layers-mixed", warn("NET/IB : Attempted to connect incompatible devices: a b"), info("NET/IB : merging devices")},
      {"log-gid-namespace", warn("NET/IB: read failed in ncclIbRoceGetVersionNum: Invalid argument"), info("ncclIbRoceGetVersionNum 2")},
      {"log-no-interface", warn("Bootstrap : no socket interface found"), info("Bootstrap : Using eth0:192.0.2.1<0>")},
      {"log-network-missing", warn("Error: network IBX not found."), info("Error: network slow")},
      {"log-device-counts", warn("Detected mixed local Net device counts across ranks (min 7, max 8)"), info("local Net device count 8")},
      {"log-verbs-missing", info("Failed to open libibverbs.so[.1]"), info("opened libibverbs.so.1")},
      {"log-proxy", warn("[Proxy Service 3] Failed to execute operation Connect from rank 3, retcode 3"), info("[Proxy Service 3] Device 3 CPU core 4")},
      {"log-shared-memory", warn("Error: failed to extend /dev/shm/nccl-Ab12 to 4194308 bytes, error: No space left on device (28)"), info("/dev/shm/nccl-Ab12 attached")},
      {"log-nvml-missing", warn("Failed to open libnvidia-ml.so.1"), info("libnvidia-ml.so.1 loaded")},
      {"log-cuda-failure", warn("Cuda failure 802 'system not yet initialized'"), info("Cuda graph launched")},
      {"log-gpu-memory", "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0\n", "CUDA memory: 3 GiB\n"},
      {"log-xid", "[ 12.5] NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', GPU has fallen off the bus.\n", "NVRM: loading NVIDIA module\n"},
      {"log-duplicate-gpu", warn("Duplicate GPU detected : rank 1 and rank 3 both on CUDA device 1b000"), info("rank 1 and rank 3 on CUDA device")},
      {"log-nvlink-p2p", warn("P2P is disabled between NVLINK connected GPUs 1 and 2. This should not be the case"), info("P2P is disabled between GPUs 1 and 2")},
      {"log-nvls", warn("Failed to bind NVLink SHARP (NVLS) Multicast memory of size 2 : CUDA error 1"), info("NVLS multicast support is available on dev 0")},
      {"log-gpudirect-module", info("NET/IB : nv_peer_mem module not loaded"), info("nv_peer_mem module loaded")},
      {"log-rccl-setting", warn("Missing \"iommu=pt\" from kernel command line"), info("iommu=pt")},
      {"log-out-of-memory", "[ 9.1] Memory cgroup out of memory: Killed process 12 (python)\n", "memory cgroup of the pod\n"},
      {"log-nccl-warning", warn("something that no table knows"), info("something that no table knows")},
      {"log-nothing-known", "hello\nworld\n", info("hello")},
      {"log-versions", "NCCL version 2.26.2+cuda12.2\nNCCL version 2.27.7+cuda12.9\n", "NCCL version 2.26.2+cuda12.2\nNCCL version 2.26.2+cuda12.2\n"},
      {"log-deduplicated", "(W pid=1, ip=192.0.2.7) x [repeated 3x across cluster]\n", "(W pid=1, ip=192.0.2.7) x\n"},
      {"gloo-address", "RuntimeError: [enforce fail at gloo/transport/tcp/device.cc:84] ifa != nullptr. Unable to find address for: eth7\n", "(W pid=1) address for: eth7\n"},
      {"gloo-hostname", "RuntimeError: makeDeviceForHostname(): unsupported gloo device\n", "(W pid=1) gloo device\n"},
      {"gloo-connect", "RuntimeError: Gloo connectFullMesh failed with [../third_party/gloo/gloo/transport/tcp/pair.cc:144] no error, remote=[127.0.0.1]:4711\n", "(W pid=1) Gloo connected\n"},
      {"torch-watchdog", "[Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7, OpType=ALLREDUCE, Timeout(ms)=600000) ran for 600028 milliseconds before timing out.\n", "(W pid=1) Watchdog thread started\n"},
      {"torch-rank-behind",
       "[Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7, OpType=ALLREDUCE, Timeout(ms)=6) ran for 6 milliseconds\n[Rank 4] Watchdog caught collective operation timeout: "
       "WorkNCCL(SeqNum=8, OpType=ALLREDUCE, Timeout(ms)=6) ran for 6 milliseconds\n",
       "[Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=8, OpType=ALLREDUCE, Timeout(ms)=6) ran for 6 milliseconds\n[Rank 4] Watchdog caught collective operation timeout: "
       "WorkNCCL(SeqNum=8, OpType=ALLREDUCE, Timeout(ms)=6) ran for 6 milliseconds\n"},
      {"torch-collective-mismatch", "RuntimeError: Detected mismatch between collectives on ranks. Rank 0 is running x\n", "(W pid=1) collectives on ranks\n"},
      {"torch-store", "torch.distributed.DistNetworkError: The client socket has timed out after 600000ms while trying to connect to (head-0, 29500).\n", "(W pid=1) client socket connected\n"},
      {"torch-name", "[c10d] The IPv6 network addresses of (head-0, 29500) cannot be retrieved (gai error: -2 - Name or service not known).\n", "(W pid=1) head-0 resolved\n"},
      {"torch-nccl-error", "torch.distributed.DistBackendError: NCCL error in: x.cpp:1, unhandled system error, NCCL version 2.19.3\n", "(W pid=1) NCCL errors: 0\n"},
      {"log-port-in-use", "OSError: [Errno 98] Address already in use (port: 29500)\n", "(W pid=1) address in use by nobody\n"},
      {"ray-version-mismatch", "RuntimeError: Version mismatch: The cluster was started with:\n    Ray: 2.50.1\n    Python: 3.12.1\nThis process on node 192.0.2.3 was started with:\n    Ray: 2.51.0\n    Python: 3.12.1\n",
       "(W pid=1) Version 2.50.1 of Ray\n"},
      {"ray-worker-address", "NODE_IP= HEAD_IP=192.0.2.1\n2026-01-19 06:20:41,118 INFO scripts.py:1 -- Local node IP: 203.0.113.5\nException: The current node timed out during startup.\n",
       "NODE_IP=192.0.2.5 HEAD_IP=192.0.2.1\n2026-01-19 06:20:41,118 INFO scripts.py:1 -- Local node IP: 192.0.2.5\n"},
      {"ray-start-timeout", "Local node IP: 192.0.2.5\nException: The current node timed out during startup.\n", "Local node IP: 192.0.2.5\n"},
      {"ray-address-mismatch", "ray nodes: 198.51.100.1, 198.51.100.2\nError: No available node types can fulfill resource request {'GPU': 1.0, 'node:192.0.2.2': 0.001}.\n",
       "ray nodes: 198.51.100.1, 198.51.100.2\nError: No available node types can fulfill resource request {'GPU': 1.0, 'node:198.51.100.2': 0.001}.\n"},
      {"ray-request", "Error: No available node types can fulfill resource request {'GPU': 8.0}.\n", "(W pid=1) resource request {'GPU': 8.0} granted\n"},
      {"ray-gcs-unreachable", "Failed to connect to GCS at address 192.0.2.1:6379 within 5 seconds.\n", "(W pid=1) connected to GCS\n"},
      {"ray-memory", "Task was killed due to the node running low on memory.\nMemory on the node (IP: 192.0.2.4, ID: ab) was 99 GB / 100 GB\n", "(W pid=1) memory on the node\n"},
      {"ray-node-dead", "The node with node id: ab and address: 192.0.2.4 and node name: 192.0.2.4 has been marked dead because the detector has missed too many heartbeats\n", "(W pid=1) The node with node id: ab is alive\n"},
      {"ray-object-store", "WARNING services.py:1 -- The object store is using /tmp instead of /dev/shm because /dev/shm has only 67108864 bytes available.\n", "(W pid=1) object store uses /dev/shm\n"},
      {"ray-disk", "(raylet) file_system_monitor.cc:111: /tmp/ray/session is over 95% full, available space: 1\n", "(raylet) file_system_monitor started\n"},
      {"ray-port", "ValueError: Ray component worker_ports is trying to use a port number 52365 that is used by other components.\n", "(W pid=1) port number 52365\n"},
      {"ray-socket-path", "OSError: AF_UNIX path length cannot exceed 107 bytes: /x\n", "(W pid=1) AF_UNIX path\n"},
      {"ray-worker-register", "(raylet) Unable to register worker with raylet. No such file or directory\n", "(raylet) worker registered\n"},
      {"ray-actor-died", "ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.\n", "(W pid=1) actor started\n"},
      {"verl-gpus-missing", "ValueError: Total available GPUs 8.0 is less than total desired GPUs 16\n", "(W pid=1) Total available GPUs 16\n"},
      {"verl-resume", "FileNotFoundError: [Errno 2] No such file or directory: '/c/model_world_size_16_rank_9.pt'\n", "(W pid=1) saved model_world_size_16_rank_9.pt\n"},
      {"verl-runtime-env", "ValueError: Failed to merge the Job's runtime env {} with another one because of a conflict\n", "(W pid=1) runtime env merged\n"},
      {"verl-numa", "(W pid=1) Warning: Failed to set NUMA affinity: libnuma.so: cannot open\n", "(W pid=1) NUMA affinity set\n"},
      {"verl-metric-not-finite", "step:3 - actor/grad_norm:nan - training/global_step:3\n", "step:3 - actor/grad_norm:0.5 - training/global_step:3\n"},
      {"event-unschedulable", "Warning  FailedScheduling  2m  default-scheduler  0/12 nodes are available: 12 Insufficient nvidia.com/gpu. preemption: none\n", "3/12 nodes are available: fine\n"},
      {"event-smt-alignment", "kubelet: SMT Alignment Error: SMTAlignmentError\n", "(W pid=1) SMT aligned\n"},
      {"event-topology-affinity", "Pod rejected: TopologyAffinityError Resources cannot be allocated with Topology locality\n", "(W pid=1) topology affinity ok\n"},
      {"event-admission", "UnexpectedAdmissionError: Allocate failed due to requested number of devices unavailable\n", "(W pid=1) admission ok\n"},
      {"event-evicted", "The node was low on resource: ephemeral-storage. Threshold quantity: 1, available: 0.\n", "(W pid=1) the node is fine\n"},
      {"event-out-of-memory", "Last State: Terminated Reason: OOMKilled Exit Code: 137\n", "(W pid=1) OOM score 3\n"},
      {"event-mount", "Warning FailedMount kubelet MountVolume.SetUp failed for volume \"data\" : secret \"x\" not found\n", "(W pid=1) mounted\n"},
      {"event-image", "Failed to pull image \"reg.example/a:b\": not found\n", "(W pid=1) pulled image\n"},
      {"event-sandbox", "Warning FailedCreatePodSandBox kubelet plugin type=\"x\" failed\n", "(W pid=1) sandbox made\n"},
      {"event-quota", "forbidden: exceeded quota: gpus, requested: 8, used: 8, limited: 8\n", "(W pid=1) quota ok\n"},
      {"event-node-not-ready", "Normal NodeNotReady node-controller Node box-1 status is now: NodeNotReady\n", "(W pid=1) NodeReady\n"},
      {"event-crash-loop", "Back-off restarting failed container ray in pod a\n", "(W pid=1) container restarted\n"},
      {"event-preempted", "Warning Preempted Preempted by pod 12 on node box-1\n", "(W pid=1) preemption off\n"},
  };
  for (const RuleCase& one : kCases) {
    EXPECT_TRUE(found(of(one.fires), one.id)) << one.id << ": " << one.fires;
    EXPECT_FALSE(found(of(one.near_miss), one.id)) << one.id << ": " << one.near_miss;
  }
}

TEST(Fallback, IsJudgedByTheLastNetworkAlone) {
  EXPECT_EQ(ids(of(info("Using network IB") + info("Using network Socket"))), std::vector<std::string>{"NCCL601"});
  EXPECT_EQ(ids(of(info("NET/IB : No device found.") + info("Using network Socket") + info("Using network AWS Libfabric"))), std::vector<std::string>{});
  EXPECT_EQ(ids(of(info("NET/IB : No device found."))), std::vector<std::string>{});
  EXPECT_EQ(ids(of(info("NET/FastSocket : Using [0]eth0:192.0.2.1<0>") + info("Using network FastSocket"))), std::vector<std::string>{"NCCL601"});
  Policy wanted;
  wanted.expected_network = "Socket";
  EXPECT_EQ(ids(of(info("Using network Socket") + info("Channel 00/0 : 0[0] -> 1[0] [send] via NET/Socket/0"), wanted)), std::vector<std::string>{});
  wanted.expected_network = "ib";
  EXPECT_EQ(ids(of(info("Using network IBext_v8"), wanted)), std::vector<std::string>{});
  EXPECT_EQ(ids(of(info("Using network AWS Libfabric"), wanted)), std::vector<std::string>{"NCCL601"});
}

TEST(Channels, OverSocketsAndWithoutGpudirectAreSeen) {
  EXPECT_EQ(ids(of(info("Channel 00/0 : 0[0] -> 1[0] [send] via NET/Socket/0"))), std::vector<std::string>{"NCCL602"});
  const std::string bounce = info("Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0");
  EXPECT_EQ(ids(of(bounce), Severity::Info), std::vector<std::string>{"log-no-gpudirect"});
  Policy gpudirect;
  gpudirect.gpudirect = true;
  EXPECT_EQ(ids(of(bounce, gpudirect)), std::vector<std::string>{"NCCL603"});
  EXPECT_EQ(ids(of(info("Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0/GDRDMA"), gpudirect)), std::vector<std::string>{});
  EXPECT_EQ(ids(of(info("Connected all rings, use ring PXN 0 GDR 0"), gpudirect)), std::vector<std::string>{"NCCL610"});
  EXPECT_EQ(ids(of(info("Connected all rings, use ring PXN 0 GDR 0"))), std::vector<std::string>{});
  EXPECT_EQ(ids(of(info("Channel 00 : 0[0] -> 1[1] via SHM/direct/direct")), Severity::Info), std::vector<std::string>{"log-shm-transport"});
}

TEST(Channels, OverSharedMemoryAreAnErrorWithNvlink) {
  std::vector<ReadDocument> documents{document(info("Channel 00 : 0[0] -> 1[1] via SHM/direct/direct"), "n")};
  ReadDocument topology;
  topology.name = "topo";
  topology.node = "n";
  topology.format = "topo";
  topology::Relation nvlink;
  nvlink.a = "GPU0";
  nvlink.b = "GPU1";
  nvlink.link = topology::Link::NvLink;
  diagnosis::own_node(topology.reading).topology.relations.push_back(nvlink);
  documents.push_back(topology);
  EXPECT_TRUE(found(diagnosis::diagnose(documents, {}), "NCCL604"));
}

std::string rank(const char* host, int rank, const std::string& message) {
  return std::string(host) + ":" + std::to_string(100 + rank) + ":" + std::to_string(200 + rank) + " [0] NCCL INFO " + message + "\n";
}
std::string comm(int rank, int ranks, const char* stage) {
  return "ncclCommInitRank comm 0x" + std::to_string(50 + rank) + " rank " + std::to_string(rank) + " nranks " + std::to_string(ranks) + " cudaDev 0 nvmlDev 0 busId 1b000 commId 0xabc - " + stage;
}
std::string nodes(int rank, int ranks, int nodes) {
  return "comm 0x" + std::to_string(50 + rank) + " rank " + std::to_string(rank) + " nRanks " + std::to_string(ranks) + " nNodes " + std::to_string(nodes) + " localRanks 1 localRank 0 MNNVL 0";
}

TEST(Ranks, AreComparedAndTheOddOneIsNamed) {
  const Diagnosis network = of(rank("a-1", 0, "Using network IB") + rank("b-1", 1, "Using network Socket") + rank("c-1", 2, "Using network IB"));
  const auto odd = std::find_if(network.findings.begin(), network.findings.end(), [](const Finding& one) { return one.id == "log-network-differs"; });
  ASSERT_NE(odd, network.findings.end());
  EXPECT_EQ(odd->nodes, std::vector<std::string>{"b-1"});

  std::string start;
  for (int i : {0, 1, 3}) start += rank(i == 0 ? "a-1" : i == 1 ? "b-1" : "d-1", i, comm(i, 4, "Init START"));
  const Diagnosis missing = of(start);
  EXPECT_TRUE(std::any_of(missing.findings.begin(), missing.findings.end(), [](const Finding& one) { return one.id == "NCCL606" && one.message.find("rank 2 of 4 never began") != std::string::npos; }));

  std::string whole;
  for (int i : {0, 1}) whole += rank(i == 0 ? "a-1" : "b-1", i, comm(i, 2, "Init START")) + rank(i == 0 ? "a-1" : "b-1", i, comm(i, 2, "Init COMPLETE"));
  EXPECT_EQ(ids(of(whole)), std::vector<std::string>{});
  EXPECT_EQ(ids(of(whole + rank("a-1", 0, nodes(0, 2, 2)))), std::vector<std::string>{});
  EXPECT_EQ(ids(of(whole + rank("a-1", 0, nodes(0, 2, 1)))), std::vector<std::string>{"NCCL605"});
  EXPECT_EQ(ids(of(whole + rank("a-1", 0, "16 coll channels, 16 p2p channels, 2 p2p channels per peer") + rank("b-1", 1, "8 coll channels, 8 p2p channels, 2 p2p channels per peer"))),
            std::vector<std::string>{"NCCL609"});
}

TEST(Echo, ThatDiffersFromTheRequestIsAnError) {
  ReadDocument environment;
  environment.name = "env";
  environment.node = "n";
  environment.format = "env";
  nccl::Environment process;
  nccl::SettingAt setting;
  setting.setting.name = "NCCL_IB_TIMEOUT";
  setting.setting.value = "22";
  process.settings.push_back(setting);
  diagnosis::own_node(environment.reading).nccl.environments.push_back(process);
  EXPECT_TRUE(found(diagnosis::diagnose({document(info("NCCL_IB_TIMEOUT set by environment to 18."), "n"), environment}, {}), "NCCL607"));
  EXPECT_FALSE(found(diagnosis::diagnose({document(info("NCCL_IB_TIMEOUT set by environment to 22."), "n"), environment}, {}), "NCCL607"));
}

TEST(Interfaces, ThatLeadNowhereAreNamedOnlyWhereSocketsUseThem) {
  const std::string list = info("NET/Socket : Using [0]ens1:192.0.2.1<0> [1]cali77:fe80::1%cali77<0>");
  EXPECT_EQ(ids(of(list + info("Using network Socket"))), (std::vector<std::string>{"NCCL601", "log-socket-interface"}));
  EXPECT_EQ(ids(of(list + info("Using network IB"))), std::vector<std::string>{});
  EXPECT_EQ(ids(of(info("Bootstrap : Using docker0:172.17.0.1<0>"))), std::vector<std::string>{"log-socket-interface"});
  EXPECT_EQ(ids(of(info("Bootstrap : Using lo:127.0.0.1<0>"))), std::vector<std::string>{});  // one host
}

TEST(Blame, PutsThePortBeforeWhatFollows) {
  const ReadDocument one = document(warn("NET/IB : Got completion from peer 192.0.2.9<5> with error 12, opcode 0, len 0, vendor err 129") + warn("NET/IB : Got async event : port error") +
                                    "[Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7, OpType=ALLREDUCE, Timeout(ms)=6) ran for 6 milliseconds\n");
  const auto& values = one.reading.values;
  const auto culprit = std::find_if(values.begin(), values.end(), [](const auto& value) { return value.name == "culprit.rule"; });
  ASSERT_NE(culprit, values.end());
  EXPECT_EQ(std::get<std::string>(culprit->value), "NCCL608");
  EXPECT_EQ(ids(diagnosis::diagnose({one}, {})), (std::vector<std::string>{"NCCL608", "log-completion-error"}));  // the watchdog is folded
}

TEST(Blame, LeavesAConsequenceThatStandsAlone) {
  EXPECT_EQ(ids(of("ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.\n")), std::vector<std::string>{"ray-actor-died"});
  EXPECT_EQ(ids(of(warn("NET/IB : Got completion from peer 192.0.2.9<5> with error 5, opcode 0, len 0, vendor err 249"))), std::vector<std::string>{"log-completion-error"});
}

TEST(Retry, IsInformationOnceAllRanksCompleted) {
  const std::string retry = info("socketPollConnect: connect to 192.0.2.1<5> returned Connection refused, retrying (1/34) after sleep for 100 msec");
  EXPECT_EQ(ids(of(retry)), std::vector<std::string>{"log-connect-retry"});
  EXPECT_EQ(ids(of(retry + info(comm(0, 1, "Init START")) + info(comm(0, 1, "Init COMPLETE")))), std::vector<std::string>{});
}

TEST(Reader, JoinsOnlyWhatAPasteBroke) {
  const ReadDocument joined = document("box-1:3:4 [2] a.cc:1 NCCL WARN NET/IB : Got completion from peer 192.0.2.1<5> with error\n12, opcode 0, len\n0, vendor err 129 (Recv)\n");
  ASSERT_EQ(joined.reading.findings.size(), 1U);
  EXPECT_EQ(joined.reading.findings[0].seen, "status 12");
  // A record that ends early before another one, or before text that means something itself, stays as it is.
  const ReadDocument apart = document("box-1:3:4 [2] NCCL INFO Using network\nray.exceptions.ActorDiedError: x\n");
  EXPECT_EQ(ids(diagnosis::diagnose({apart}, {})), std::vector<std::string>{"ray-actor-died"});
}

TEST(Reader, GivesTheSameReadingForPiecesOfAnySize) {
  const std::string text = info("Using network Socket") + warn("Error: failed to extend /dev/shm/nccl-A to 8 bytes") + "NCCL version 2.26.2+cuda12.2\n" + rank("z-1", 4, comm(0, 2, "Init START"));
  const auto read = [&](std::size_t piece) {
    const auto reader = make_reader({});
    for (std::size_t at = 0; at < text.size(); at += piece) reader->feed(std::string_view(text).substr(at, piece));
    return reader->finish();
  };
  const auto whole = read(text.size());
  for (const std::size_t piece : {std::size_t{1}, std::size_t{3}, std::size_t{64}}) {
    const auto again = read(piece);
    EXPECT_EQ(again.values, whole.values) << piece;
    EXPECT_EQ(again.findings, whole.findings) << piece;
  }
}

TEST(Reader, KeepsMemoryBoundedAndSaysWhatItDidNotJudge) {
  std::string text;
  for (int i = 0; i < 9000; ++i) text += "h" + std::to_string(i) + ":1:1 [0] NCCL INFO Using network IB\n";
  EXPECT_EQ(ids(of(text)), std::vector<std::string>{"document-incomplete"});
}

TEST(Step, IsReadAfterAProgressBar) {
  const ReadDocument one = document("Training Progress:   3%|x | 1/30 [10:37<5:08:06]\r(TaskRunner pid=3) step:12 - a(b)@1/x:np.float64(0.5) - c:True - perf/throughput:8e1 - training/global_step:12\n");
  const auto value = [&](const std::string& name) {
    const auto found_value = std::find_if(one.reading.values.begin(), one.reading.values.end(), [&](const auto& v) { return v.name == name; });
    return found_value == one.reading.values.end() ? diagnosis::Scalar{} : found_value->value;
  };
  EXPECT_EQ(value("verl.last_step"), diagnosis::Scalar{std::int64_t{12}});
  EXPECT_EQ(value("verl.metric[a(b)@1/x]"), diagnosis::Scalar{0.5});
  EXPECT_EQ(value("verl.metric[perf/throughput]"), diagnosis::Scalar{80.0});
  EXPECT_EQ(value("verl.progress"), diagnosis::Scalar{std::int64_t{1}});
  EXPECT_EQ(value("verl.total_steps"), diagnosis::Scalar{std::int64_t{30}});
}

TEST(Likeness, IsHighForLogsAndNothingForOtherFiles) {
  EXPECT_GE(likeness(info("Using network IB")), 90);
  EXPECT_GE(likeness("NCCL version 2.26.2+cuda12.2\n"), 90);
  EXPECT_GE(likeness("RuntimeError: Version mismatch: The cluster was started with:\n"), 50);
  EXPECT_EQ(likeness("NCCL_DEBUG=INFO\nMY_IP=192.0.2.1\nHEAD_ADDR=x\n"), 0);
  EXPECT_EQ(likeness("apiVersion: v1\nkind: Pod\nspec:\n  step: 3\n"), 0);
  EXPECT_LT(likeness("apiVersion: v1\nkind: Pod\nstatus:\n  message: 'The node was low on resource: memory'\n"), 20);
  EXPECT_EQ(likeness(""), 0);
  EXPECT_LT(likeness("#  size  count  type  out-of-place\n" + info("Using network IB")), 90);
}

}  // namespace
}  // namespace verl::log
