// Logs of the corpus: what was really used, what failed, who is to blame.
#include <algorithm>

#include "tests/corpus/harness.h"

namespace {

using namespace verl;
using corpus::Outcome;
using diagnosis::Finding;
using diagnosis::Severity;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Findings at Warning or above are exactly these ids, in any order.
void only(const Outcome& outcome, std::vector<std::string> ids) {
  std::vector<std::string> seen;
  for (const Finding& one : outcome.diagnosis.findings) {
    if (one.severity >= Severity::Warning) seen.push_back(one.id);
  }
  std::sort(seen.begin(), seen.end());
  std::sort(ids.begin(), ids.end());
  EXPECT_EQ(seen, ids);
}

CORPUS(a01, {{"trainer-a", "worker-77"}, {"ens3f0", "ens9f1"}, {"192.0.2.31", "192.0.2.87"}, {"veth7b1c9d0", "vethaa01bb2"}, {"fe80::5c3a:e1ff:fe09:77b2", "fe80::1c3a:e2ff:fe08:71a2"}}) {
  const auto outcome = c.diagnose({{.file = "a-nccl-env/a01-veth-linklocal-socket.log"}});
  EXPECT_EQ(outcome.documents[0].format, "log");
  const std::string own = "process[" + c.as("trainer-a") + ":40211].";
  EXPECT_EQ(outcome.text(0, own + "transport"), "TCP sockets");
  EXPECT_TRUE(std::get<bool>(outcome.value(0, own + "no_device_found")));  // the reason line "NET/IB : No device found."
  EXPECT_EQ(outcome.text(0, own + "socket[0].interface"), c.as("ens3f0"));
  EXPECT_EQ(outcome.text(0, own + "socket[0].address"), c.as("192.0.2.31"));
  EXPECT_EQ(outcome.text(0, own + "socket[1].interface"), c.as("veth7b1c9d0"));
  EXPECT_EQ(outcome.text(0, own + "socket[1].address"), c.as("fe80::5c3a:e1ff:fe09:77b2"));
  const auto& values = outcome.documents[0].reading.values;
  EXPECT_EQ(std::count_if(values.begin(), values.end(), [&](const auto& one) { return one.name.starts_with(own + "socket[") && one.name.ends_with(".interface"); }), 2);
  const Finding fallback = outcome.finding("NCCL601", "Socket");
  EXPECT_EQ(fallback.severity, Severity::Error);
  EXPECT_TRUE(std::any_of(fallback.evidence.begin(), fallback.evidence.end(), [](const auto& one) { return has(one.text, "NET/IB : No device found."); }));
  const Finding cause = outcome.finding("log-socket-interface", c.as("veth7b1c9d0"));
  EXPECT_EQ(cause.severity, Severity::Error);
  EXPECT_TRUE(has(cause.message, "index 1")) << cause.message;
  EXPECT_TRUE(has(cause.message, "Channel 00")) << cause.message;
  EXPECT_TRUE(has(cause.message, "link-local")) << cause.message;
  EXPECT_TRUE(has(cause.remedy, "NCCL_SOCKET_IFNAME=" + c.as("ens3f0"))) << cause.remedy;
  EXPECT_TRUE(has(cause.remedy, "^lo,docker,veth")) << cause.remedy;
  EXPECT_EQ(outcome.text(0, "cause[0].rule"), "log-socket-interface");  // above the timeout of the connection
  EXPECT_EQ(outcome.finding("log-connect").severity, Severity::Warning);
  EXPECT_EQ(outcome.text(0, "nccl"), "2.7.8");
  EXPECT_EQ(outcome.text(0, "cuda"), "10.2");
  only(outcome, {"NCCL601", "NCCL602", "log-socket-interface", "log-connect", "log-connect-retry"});
}

CORPUS(a08, {{"192.0.2.61", "192.0.2.16"}, {"WorkerDict", "TrainGroup"}}) {
  const auto outcome = c.diagnose({{.file = "a-nccl-env/a08.log"}});
  const Finding root = outcome.finding("gloo-address", "^lo");
  EXPECT_EQ(root.severity, Severity::Error);
  EXPECT_TRUE(has(root.message, "exact names only")) << root.message;
  ASSERT_FALSE(root.evidence.empty());
  EXPECT_TRUE(has(root.evidence[0].text, "device.cc"));
  EXPECT_TRUE(has(root.evidence[0].text, "Unable to find address for: ^lo"));
  EXPECT_EQ(root.evidence[0].line, 2);
  EXPECT_EQ(outcome.number(0, "folded_lines"), 2);  // the two Ray lines after it
  only(outcome, {"gloo-address"});
}

CORPUS(a12, {{"2.26.2", "2.26.2"}}) {
  const auto outcome = c.diagnose({{.node = "pod-a", .file = "a-nccl-env/a12-pod-a.log"}, {.node = "pod-b", .file = "a-nccl-env/a12-pod-b.log"}, {.node = "pod-c", .file = "a-nccl-env/a12-pod-c.log"}});
  for (const size_t pod : {size_t{0}, size_t{1}}) {
    EXPECT_EQ(outcome.documents[pod].format, "log");
    EXPECT_EQ(outcome.facts(pod).nccl.loaded_version, "2.26.2");
    EXPECT_TRUE(outcome.documents[pod].reading.findings.empty());
    EXPECT_EQ(outcome.text(pod, "cuda"), "12.2");
  }
  EXPECT_EQ(outcome.facts(2).nccl.loaded_version, "2.27.7");
}

CORPUS(a14, {{"gpu-c3", "box-x7"}, {"gpu-c4", "box-x8"}, {"192.0.2.140", "192.0.2.240"}, {"192.0.2.141", "192.0.2.241"}}) {
  const auto ib = c.diagnose({{.file = "a-nccl-env/a14-ib.log"}});
  const Finding first = ib.finding("log-size-mismatch", c.as("192.0.2.140"));
  EXPECT_EQ(first.severity, Severity::Error);
  EXPECT_TRUE(has(first.message, "configuration differs between ranks (environment or NCCL version)")) << first.message;
  EXPECT_EQ(ib.number(0, "cause[0].local_size"), 786432);
  EXPECT_EQ(ib.number(0, "cause[0].remote_size"), 131072);
  EXPECT_EQ(ib.unit(0, "cause[0].local_size"), "B");
  only(ib, {"log-size-mismatch"});

  const auto socket = c.diagnose({{.file = "a-nccl-env/a14-socket.log"}});
  const Finding second = socket.finding("log-size-mismatch", c.as("192.0.2.141"));
  EXPECT_EQ(second.severity, Severity::Error);
  EXPECT_TRUE(has(second.message, "configuration differs between ranks (environment or NCCL version)")) << second.message;
  EXPECT_EQ(socket.number(0, "cause[0].remote_size"), 524288);
  EXPECT_EQ(socket.number(0, "cause[0].local_size"), 131072);
  only(socket, {"log-size-mismatch"});
}

CORPUS(b09, {{"trn-03", "abc-31"}, {"trn-11", "abc-91"}, {"trn-06", "abc-77"}, {"192.0.2.59", "192.0.2.95"}, {"mlx5_7", "hfi7_2"}}) {
  const auto old = c.diagnose({{.file = "b-mtu-fabric/b09-nccl214.log"}});
  const auto flaps = old.findings("NCCL608");
  ASSERT_EQ(flaps.size(), 2U);
  std::vector<std::string> hosts;
  for (const Finding& one : flaps) {
    EXPECT_EQ(one.severity, Severity::Error);
    EXPECT_EQ(one.subject, "");  // the text names no HCA
    EXPECT_TRUE(has(one.message, "link flap")) << one.message;
    EXPECT_TRUE(has(one.message, "port error")) << one.message;
    EXPECT_TRUE(has(one.remedy, "check the node again before the job restarts")) << one.remedy;
    hosts.insert(hosts.end(), one.nodes.begin(), one.nodes.end());
  }
  EXPECT_EQ(hosts, (std::vector<std::string>{c.as("trn-03"), c.as("trn-11")}));
  EXPECT_EQ(old.text(0, "cause[0].rule"), "NCCL608");
  EXPECT_EQ(old.text(0, "cause[2].rule"), "log-completion-error");  // below them
  EXPECT_EQ(old.number(0, "cause[2].status"), 12);
  EXPECT_EQ(old.text(0, "cause[2].peer"), c.as("192.0.2.59"));
  EXPECT_EQ(old.text(0, "cause[2].host"), c.as("trn-03"));
  const Finding error = old.finding("log-completion-error", c.as("192.0.2.59"));
  EXPECT_EQ(error.severity, Severity::Warning);
  EXPECT_TRUE(has(error.message, "follows from NCCL608")) << error.message;

  const auto fresh = c.diagnose({{.file = "b-mtu-fabric/b09-nccl227.log"}});
  const Finding flap = fresh.finding("NCCL608", c.as("mlx5_7") + "/1");
  EXPECT_TRUE(has(flap.message, c.as("trn-06"))) << flap.message;
  EXPECT_EQ(fresh.text(0, "cause[0].hca"), c.as("mlx5_7"));
  EXPECT_EQ(fresh.number(0, "cause[0].port"), 1);
  EXPECT_EQ(fresh.text(0, "culprit.rule"), "NCCL608");
  EXPECT_EQ(fresh.text(0, "cause[1].hca"), c.as("mlx5_7"));
}

CORPUS(d08, {{"ws-3", "xy-9"}}) {
  const auto outcome = c.diagnose({{.file = "d-topo/d08-nvml.log"}});
  const Finding cause = outcome.finding("log-nvml-missing", "libnvidia-ml.so.1");
  EXPECT_EQ(cause.severity, Severity::Error);
  EXPECT_TRUE(has(cause.message, "NVML library libnvidia-ml.so.1 not found")) << cause.message;
  EXPECT_TRUE(has(cause.message, "topology is not at fault")) << cause.message;
  only(outcome, {"log-nvml-missing"});
}

CORPUS(e01, {{"203.0.113.77", "203.0.113.99"}, {"192.0.2.10", "192.0.2.60"}}) {
  const auto outcome = c.diagnose({{.file = "e-ray/e01.log"}});
  const Finding cause = outcome.finding("ray-worker-address", c.as("203.0.113.77"));
  EXPECT_EQ(cause.severity, Severity::Error);
  EXPECT_TRUE(has(cause.message, "wrong address " + c.as("203.0.113.77"))) << cause.message;
  EXPECT_TRUE(has(cause.message, "head is on " + c.as("192.0.2.10"))) << cause.message;
  EXPECT_TRUE(has(cause.message, "MY_IP was empty")) << cause.message;
  EXPECT_TRUE(has(cause.message, "1 of 4 nodes")) << cause.message;
  EXPECT_TRUE(has(cause.remedy, "--node-ip-address")) << cause.remedy;
  EXPECT_EQ(outcome.number(0, "ray.nodes.alive"), 1);
  EXPECT_EQ(outcome.number(0, "ray.nodes.target"), 4);
  only(outcome, {"ray-worker-address"});
}

CORPUS(e02, {{"198.51.100.91", "198.51.100.19"}, {"198.51.100.92", "198.51.100.29"}, {"192.0.2.92", "192.0.2.29"}}) {
  const auto outcome = c.diagnose({{.file = "e-ray/e02.log"}});
  const Finding cause = outcome.finding("ray-address-mismatch", c.as("192.0.2.92"));
  EXPECT_EQ(cause.severity, Severity::Error);
  EXPECT_TRUE(has(cause.message, "node address mismatch")) << cause.message;
  EXPECT_TRUE(has(cause.message, "stuck placement")) << cause.message;
  EXPECT_TRUE(has(cause.message, c.as("192.0.2.92") + " is not an address of the Ray cluster")) << cause.message;
  EXPECT_TRUE(has(cause.message, c.as("198.51.100.91"))) << cause.message;
  EXPECT_TRUE(has(cause.message, c.as("198.51.100.92"))) << cause.message;
  EXPECT_EQ(outcome.text(0, "ray.request"), "{GPU: 1.0, node:" + c.as("192.0.2.92") + ": 0.001}");
  EXPECT_TRUE(has(cause.message, outcome.text(0, "ray.request"))) << cause.message;
  EXPECT_EQ(outcome.number(0, "ray.waiting"), 90);
  EXPECT_EQ(outcome.unit(0, "ray.waiting"), "s");
  EXPECT_TRUE(has(cause.message, "90 s")) << cause.message;
  only(outcome, {"ray-address-mismatch"});  // the warning about tensor parallel size is not the cause
}

CORPUS(e05, {{"192.0.2.34", "192.0.2.43"}, {"192.0.2.35", "192.0.2.53"}}) {
  const auto patch = c.diagnose({{.file = "e-ray/e05-python-patch.log"}});
  const Finding first = patch.finding("ray-version-mismatch", c.as("192.0.2.34"));
  EXPECT_EQ(first.severity, Severity::Error);
  EXPECT_TRUE(has(first.message, "Python patch level only")) << first.message;
  EXPECT_EQ(patch.text(0, "ray.cluster.ray"), "2.46.0");
  EXPECT_EQ(patch.text(0, "ray.process.ray"), "2.46.0");
  EXPECT_EQ(patch.text(0, "ray.cluster.python"), "3.11.11");
  EXPECT_EQ(patch.text(0, "ray.process.python"), "3.11.9");
  only(patch, {"ray-version-mismatch"});

  const auto ray = c.diagnose({{.file = "e-ray/e05-ray.log"}});
  const Finding second = ray.finding("ray-version-mismatch", c.as("192.0.2.35"));
  EXPECT_FALSE(has(second.message, "patch level")) << second.message;
  EXPECT_EQ(ray.text(0, "ray.cluster.ray"), "2.46.0");
  EXPECT_EQ(ray.text(0, "ray.process.ray"), "2.44.1");
  EXPECT_TRUE(has(second.message, "2.46.0")) << second.message;
  EXPECT_TRUE(has(second.message, "2.44.1")) << second.message;
  EXPECT_TRUE(has(second.remedy, "one image for head and workers")) << second.remedy;
}

CORPUS(e06, {{"trn-30", "box-03"}, {"nccl-q7Rk2B", "nccl-aB1cD2"}}) {
  const auto fresh = c.diagnose({{.file = "e-ray/e06-new.log"}});
  const Finding first = fresh.finding("log-shared-memory");
  EXPECT_EQ(first.severity, Severity::Error);
  EXPECT_TRUE(has(first.message, "shared memory exhausted")) << first.message;
  EXPECT_EQ(first.seen, "No space left on device");
  EXPECT_EQ(fresh.text(0, "cause[0].segment"), c.as("nccl-q7Rk2B"));
  EXPECT_EQ(fresh.number(0, "cause[0].size"), 33030144);
  EXPECT_TRUE(has(first.message, "33030144")) << first.message;
  EXPECT_EQ(fresh.number(0, "process[" + c.as("trn-30") + ":1804].trace_lines"), 2);  // the "-> 2" lines are only a trace
  only(fresh, {"log-shared-memory"});

  const auto old = c.diagnose({{.file = "e-ray/e06-old.log"}});
  const Finding second = old.finding("log-shared-memory");
  EXPECT_TRUE(has(second.message, "shared memory exhausted")) << second.message;
  EXPECT_EQ(second.seen, "No space left on device");
  EXPECT_EQ(old.text(0, "cause[0].segment"), "nccl-shm-recv-52c1be0977ad3f10-0-1-2");
  EXPECT_EQ(old.number(0, "cause[0].size"), 33030144);
  only(old, {"log-shared-memory"});
}

CORPUS(e07, {{"trn-31", "box-13"}}) {
  const auto alone = c.diagnose({{.file = "e-ray/e07.log"}});
  const Finding unknown = alone.finding("log-memory-registration", "ibv_reg_mr_iova2");
  EXPECT_EQ(unknown.severity, Severity::Error);
  EXPECT_TRUE(has(unknown.message, "memory registration failed")) << unknown.message;
  EXPECT_TRUE(has(unknown.message, "Cannot allocate memory")) << unknown.message;
  EXPECT_TRUE(has(unknown.evidence.at(0).text, "ibv_reg_mr_iova2 failed with error Cannot allocate memory"));
  only(alone, {"log-memory-registration"});
  // With the limit of the container known: it is named first, or cleared.
  const auto judged = [&](std::int64_t bytes) {
    std::vector<diagnosis::ReadDocument> documents = alone.documents;
    documents[0].node = "node";
    diagnosis::ReadDocument limits;
    limits.name = "ulimit";
    limits.node = "node";
    limits.format = "ulimit";
    diagnosis::own_node(limits.reading).kubernetes.memlock_bytes = bytes;
    documents.push_back(limits);
    Outcome outcome;
    outcome.diagnosis = diagnosis::diagnose(documents, {});
    return outcome.finding("log-memory-registration").message;
  };
  const std::string small = judged(std::int64_t{8192} * 1024);
  EXPECT_TRUE(has(small, "first cause: the locked-memory limit of 8192 KiB")) << small;
  const std::string unlimited = judged(-1);
  EXPECT_TRUE(has(unlimited, "locked memory is unlimited")) << unlimited;
  EXPECT_FALSE(has(unlimited, "first cause")) << unlimited;
}

CORPUS(g17, {{"efa-w-0", "box-x-7"}, {"efa-w-1", "box-x-8"}, {"198.51.100.40", "198.51.100.90"}}) {
  const auto outcome = c.diagnose({{.file = "g-output/g17-efa-mpi-tagged.log"}});
  EXPECT_EQ(outcome.documents[0].format, "log");
  EXPECT_EQ(outcome.text(0, "network"), "AWS Libfabric");
  EXPECT_EQ(outcome.text(0, "transport"), "libfabric (efa)");
  EXPECT_EQ(outcome.at_least(Severity::Warning), std::vector<std::string>{});
  EXPECT_EQ(outcome.text(0, "nccl"), "2.18.3");
  EXPECT_EQ(outcome.text(0, "cuda"), "12.2");
  const std::string first = c.as("efa-w-0");
  const std::string second = c.as("efa-w-1");
  EXPECT_EQ(outcome.number(0, "process[" + first + ":31].rank"), 0);
  EXPECT_EQ(outcome.number(0, "process[" + first + ":33].rank"), 1);
  EXPECT_EQ(outcome.number(0, "process[" + first + ":37].rank"), 5);
  EXPECT_EQ(outcome.number(0, "process[" + first + ":38].rank"), 6);
  EXPECT_EQ(outcome.number(0, "process[" + second + ":32].rank"), 9);
  EXPECT_EQ(outcome.number(0, "process[" + second + ":32].device"), 1);  // rank 9 is device 1
  EXPECT_EQ(outcome.text(0, "rank[8].host"), second);  // by its device line alone
  EXPECT_EQ(outcome.text(0, "rank[0].host"), first);
  EXPECT_EQ(outcome.text(0, "process[" + first + ":33].affinity[GPU1]"), "0-23,48-71");
  EXPECT_EQ(outcome.text(0, "process[" + first + ":38].affinity[GPU6]"), "24-47,72-95");
  EXPECT_EQ(outcome.facts(0, first).nccl.loaded_version, "2.18.3");
  EXPECT_EQ(outcome.facts(0, second).nccl.loaded_version, "2.18.3");
  EXPECT_EQ(outcome.findings("NCCL328").size(), 0U);  // NCCL_TOPO_FILE is set by the plugin
}

CORPUS(g19, {{"vf-a3", "qq-a9"}, {"vf-b6", "qq-b8"}, {"vf-z9", "qq-z7"}, {"mlx5_3", "hfi7_9"}, {"192.0.2.31", "192.0.2.13"}}) {
  const auto outcome = c.diagnose({{.file = "g-output/g19-roce-ibext.log"}});
  EXPECT_EQ(outcome.text(0, "network"), "IBext_v8");
  EXPECT_EQ(outcome.text(0, "transport"), "RoCE");
  for (const std::string& name : {c.as("vf-a3") + ":1440", c.as("vf-b6") + ":907"}) {
    EXPECT_EQ(outcome.number(0, "process[" + name + "].hcas"), 1);
    EXPECT_EQ(outcome.text(0, "process[" + name + "].hca[0].name"), c.as("mlx5_3"));
    EXPECT_EQ(outcome.text(0, "process[" + name + "].hca[0].link"), "RoCE");
  }
  EXPECT_EQ(outcome.text(0, "nccl"), "2.21.5");
  EXPECT_EQ(outcome.text(0, "cuda"), "12.4");
  EXPECT_EQ(outcome.text(0, "process[" + c.as("vf-b6") + ":907].env.NCCL_IB_HCA"), "=" + c.as("mlx5_3"));
  EXPECT_EQ(outcome.number(0, "process[" + c.as("vf-z9") + ":907].pid"), 907);  // a host of its own, with the other's process id
  EXPECT_EQ(outcome.text(0, "host[2]"), c.as("vf-z9"));
  EXPECT_EQ(outcome.at_least(Severity::Warning), std::vector<std::string>{});
  EXPECT_TRUE(outcome.documents[0].reading.unread.empty());  // the dots are ignored
}

CORPUS(g21, {{"hpc-n5", "abc-x7"}, {"198.51.100.15", "198.51.100.51"}}) {
  const auto outcome = c.diagnose({{.file = "g-output/g21-error12-old-wrapped.log"}});
  const Finding cause = outcome.finding("log-completion-error", c.as("198.51.100.15"));
  EXPECT_EQ(cause.severity, Severity::Error);
  EXPECT_TRUE(has(cause.message, "retry exceeded")) << cause.message;
  for (const std::string& word : std::vector<std::string>{"GID index", "cable", "flow control", c.as("hpc-n5")}) EXPECT_TRUE(has(cause.message, word)) << cause.message;
  EXPECT_EQ(outcome.number(0, "cause[0].status"), 12);
  EXPECT_EQ(outcome.text(0, "cause[0].peer"), c.as("198.51.100.15"));
  EXPECT_EQ(outcome.number(0, "cause[0].peer_port"), 52110);
  EXPECT_EQ(outcome.number(0, "cause[0].vendor_error"), 129);
  EXPECT_EQ(outcome.text(0, "cause[0].side"), "receive");
  EXPECT_EQ(outcome.text(0, "cause[0].host"), c.as("hpc-n5"));
  EXPECT_EQ(outcome.number(0, "cause[0].len"), 0);  // from the second line
  EXPECT_EQ(outcome.number(0, "lines.joined"), 1);
  only(outcome, {"log-completion-error"});
}

CORPUS(g23, {{"mix-07", "zzz-70"}}) {
  const auto outcome = c.diagnose({{.file = "g-output/g23-modify_qp-einval.log"}});
  const Finding cause = outcome.finding("log-modify-qp");
  EXPECT_EQ(cause.severity, Severity::Error);
  EXPECT_EQ(cause.seen, "Invalid argument");
  EXPECT_TRUE(has(cause.message, "connection set-up failed")) << cause.message;
  EXPECT_TRUE(has(cause.message, "InfiniBand and RoCE ports are mixed")) << cause.message;
  EXPECT_EQ(outcome.number(0, "culprit.line"), 4);  // the first warning
  const std::string own = "process[" + c.as("mix-07") + ":2914].";
  EXPECT_EQ(outcome.number(0, own + "trace_lines"), 5);  // five "-> 2" lines
  EXPECT_EQ(outcome.text(0, own + "trace_result"), "system error");
  EXPECT_EQ(outcome.number(0, own + "trace_code"), 2);
  EXPECT_EQ(outcome.number(0, own + "rank"), 88);
  EXPECT_EQ(outcome.number(0, own + "device"), 6);
  EXPECT_EQ(outcome.text(0, own + "host"), c.as("mix-07"));
  EXPECT_EQ(outcome.number(0, "lines.blank"), 1);  // "[88]" alone
  only(outcome, {"log-modify-qp"});
}

CORPUS(g24, {{"ws-21", "ab-12"}, {"ens13", "ens99"}, {"198.51.100.55", "198.51.100.66"}, {"veth0c41fe9", "veth0000001"}, {"vethb7702d3", "veth0000002"}}) {
  const auto outcome = c.diagnose({{.file = "g-output/g24-socket-veth.log"}});
  const std::string own = "process[" + c.as("ws-21") + ":7012].";
  EXPECT_EQ(outcome.text(0, "network"), "Socket");
  const auto& values = outcome.documents[0].reading.values;
  EXPECT_EQ(std::count_if(values.begin(), values.end(), [&](const auto& one) { return one.name.starts_with(own + "socket[") && one.name.ends_with(".interface"); }), 3);  // not 5
  EXPECT_EQ(outcome.text(0, own + "socket[0].interface"), c.as("ens13"));
  EXPECT_EQ(outcome.text(0, own + "socket[0].address"), c.as("198.51.100.55"));
  EXPECT_EQ(outcome.text(0, own + "socket[1].address"), "fe80::200:5eff:fe00:5301");  // %scope and <0> are no part of it
  const Finding cause = outcome.finding("log-socket-interface");
  EXPECT_EQ(cause.severity, Severity::Error);
  EXPECT_TRUE(has(cause.message, c.as("veth0c41fe9"))) << cause.message;
  EXPECT_TRUE(has(cause.message, c.as("vethb7702d3"))) << cause.message;
  EXPECT_FALSE(has(cause.message, c.as("ens13"))) << cause.message;
  EXPECT_TRUE(has(cause.remedy, "NCCL_SOCKET_IFNAME=" + c.as("ens13"))) << cause.remedy;
  EXPECT_TRUE(has(cause.remedy, "^lo,docker,veth")) << cause.remedy;
  EXPECT_EQ(outcome.number(0, "processes"), 2);
  EXPECT_EQ(outcome.number(0, "process[" + c.as("ws-21") + ":7011].device"), 0);
  EXPECT_EQ(outcome.number(0, own + "device"), 1);
  only(outcome, {"NCCL601", "log-socket-interface"});
}

CORPUS(g25, {{"gb-node-3", "xx-edge-7"}, {"gb-node-4", "xx-edge-8"}, {"rocep7s0f1", "rocep9s9f9"}}) {
  const auto roce = c.diagnose({{.file = "g-output/g25-nodevice-then-roce.log"}});
  EXPECT_EQ(roce.text(0, "network"), "IB");
  EXPECT_EQ(roce.text(0, "transport"), "RoCE");
  EXPECT_EQ(roce.text(0, "process[" + c.as("gb-node-3") + ":31].hca[0].name"), c.as("rocep7s0f1"));
  EXPECT_EQ(roce.at_least(Severity::Info), std::vector<std::string>{});
  const auto socket = c.diagnose({{.file = "g-output/g25-nodevice-then-socket.log"}});
  const Finding fallback = socket.finding("NCCL601", "Socket");
  EXPECT_EQ(fallback.severity, Severity::Error);
  EXPECT_TRUE(has(fallback.evidence.at(0).text, "Using network Socket"));
  only(socket, {"NCCL601"});
}

CORPUS(g27, {{"hpc-a1", "zzz-b2"}, {"mlx5_", "hfi7_"}, {"ib1", "ib7"}, {"192.0.2.111", "192.0.2.222"}}) {
  const auto outcome = c.diagnose({{.file = "g-output/g27-ib-ok.log"}});
  const std::string own = "process[" + c.as("hpc-a1") + ":410].";
  EXPECT_EQ(outcome.text(0, "transport"), "InfiniBand");
  const std::vector<std::string> devices{"mlx5_3", "mlx5_0", "mlx5_5", "mlx5_2"};
  for (size_t i = 0; i < devices.size(); ++i) EXPECT_EQ(outcome.text(0, own + "hca[" + std::to_string(i) + "].name"), c.as(devices[i]));
  EXPECT_EQ(outcome.text(0, own + "oob.interface"), c.as("ib1"));
  EXPECT_EQ(outcome.text(0, own + "oob.address"), c.as("192.0.2.111"));
  EXPECT_FALSE(std::get<bool>(outcome.value(0, own + "relaxed_ordering")));
  EXPECT_EQ(outcome.text(0, "nccl"), "2.14.3");
  EXPECT_EQ(outcome.text(0, "cuda"), "11.8");
  EXPECT_EQ(outcome.facts(0).nccl.loaded_version, "2.14.3");
  EXPECT_EQ(outcome.at_least(Severity::Info), std::vector<std::string>{});
}

}  // namespace
