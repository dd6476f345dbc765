// Prints one JSON document a line: objects that use every field the encoders know, then the bodies of status writes.
// tests/crds/check sends them to the apiserver, which must know every field and give it back as it was.
#include <iostream>

#include "codec/encode.h"

namespace {

using namespace verl;

Timestamp time() { return *parse_rfc3339("2026-11-30T10:00:00.123456Z"); }

std::vector<api::Condition> conditions(std::string type) {
  return {{.type = std::move(type), .status = api::ConditionStatus::False, .reason = "Why", .message = "a <b> & \"ü\"", .last_transition = time(), .observed_generation = 1}};
}

api::VerlJob job() {
  api::VerlJob job{};
  job.meta = {.name_space = "default", .name = "sample"};
  job.spec.suspend = true;
  job.spec.image = "registry.example/verl:0.9.1";
  job.spec.trainer = {.module = "verl.trainer.main_ppo", .command = {}, .overrides = {{"a.b", "1"}}};
  job.spec.pools = {{.name = "main", .nodes = 2, .gpus_per_node = 8, .topology = api::Topology{.level = "rack", .mode = api::TopologyMode::Required},
                     .template_json = R"({"spec":{"volumes":[{"emptyDir":{},"name":"x"}]}})"}};
  job.spec.topology = api::Topology{.level = "block", .mode = api::TopologyMode::Preferred};
  job.spec.network = {.transport = api::Transport::RoCE, .mtu = 9000};
  job.spec.nccl_env = {{"NCCL_ALGO", "Ring"}};
  job.spec.numa = api::NumaMode::Required;
  job.spec.ray_authentication = api::RayAuthentication::Disabled;
  job.spec.deadlines = {.queued = Seconds{1}, .bind = Seconds{2}, .image_pull = Seconds{3}, .starting = Seconds{4}, .running = Seconds{5}};
  job.spec.recovery = {.infrastructure_restarts = 6, .user_restarts = 7};
  job.spec.nccl_debug = "INFO";
  job.spec.ttl_after_finished = Seconds{8};
  return job;
}

api::VerlJobStatus job_status() {
  api::VerlJobStatus status{};
  status.observed_generation = 1;
  status.phase = "Running";
  status.ready = "1/2";
  status.nodes = 2;
  status.gpus = 16;
  status.reason = "Why";
  status.conditions = conditions("Ready");
  api::Placement placement{};
  placement.attempt = 1;
  placement.port_base = 20000;
  placement.job_generation = 1;
  placement.ranks = {{.rank = 0, .pool = "main", .node = "n1", .node_uid = "u1", .boot_id = "b1", .address = "10.0.0.1"}};
  placement.racks = 1;
  placement.racks_proven = true;
  placement.cross_rack_edges = 0;
  placement.edges_proven = true;
  placement.domains = {"r1"};
  placement.decided = time();
  status.placement = placement;
  status.rejected_nodes = {{.node = "n2", .reason = "Why", .times = 2, .until = time()}};
  status.attempts = {.started = 1, .infrastructure_restarts = 2, .user_restarts = 3, .last_reason = "Why", .last_message = "m"};
  status.head_address = "10.0.0.1:20001";
  status.queued_at = time();
  status.started_at = time();
  status.finished_at = time();
  status.exit_code = 3;
  return status;
}

api::Expectations expectations() {
  api::Expectations out{};
  out.inventory = {.gpus = 8, .rdma_devices = 8, .numa_nodes = 2};
  out.thresholds = {.mtu_min = 9000, .rdma_mtu_min = 4096, .link_gbps_min = 400, .clock_offset_max = Microseconds{1000}};
  out.fabric_interfaces = {"ens3f*"};
  out.control_interface = "bond0";
  out.checks = {{.id = "packet-drops", .action = api::CheckAction::Off}};
  return out;
}

api::NodeReadiness report() {
  api::NodeReadiness report{};
  report.meta.name = "sample";
  report.spec = {.node_uid = "u1", .address = "10.0.0.1", .gpus = 8, .domains = {{.level = "rack", .domain = "r1"}}, .policy = "sample", .policy_generation = 1, .expectations = expectations()};
  return report;
}

api::NodeReadinessStatus report_status() {
  api::NodeReadinessStatus status{};
  status.observed_generation = 1;
  status.node_uid = "u1";
  status.boot_id = "b1";
  status.agent_version = "0.1.0";
  status.observed_at = time();
  for (const Verdict verdict : {Verdict::Pass, Verdict::Warn, Verdict::Fail, Verdict::Unknown, Verdict::Skipped}) {
    status.findings.push_back({.check = "mtu-interface", .verdict = verdict, .subject = "e", .seen = "1500", .wanted = ">= 9000", .remedy = "r", .message = "m"});
  }
  status.interfaces = {{.name = "e", .up = true, .mtu = 9000, .speed_mbps = 400000, .pci = "0000:01:00.0", .numa_node = -1, .control = true, .fabric = true, .addresses = {"10.0.0.1"}}};
  status.rdma = {{.device = "mlx5_0", .port = 1, .state = "ACTIVE", .link_layer = "Ethernet", .active_mtu = 4096, .rate_gbps = 400, .netdev = "e", .pci = "0000:01:00.0", .numa_node = 1}};
  status.clock = {.source = "chronyd", .synchronised = true, .offset = Microseconds{-5}, .error_bound = Microseconds{9}, .reference = "ntp"};
  status.nccl = {{.name = "NCCL_ALGO", .value = "Ring", .source = "/etc/nccl.conf"}};
  status.topology = {.sockets = 2, .numa_nodes = 2, .cores = 96, .cpus = 192, .memory_bytes = 2199023255552, .gpus = {"0000:02:00.0"}};
  status.verdict = "NotReady";
  status.conditions = conditions("Ready");
  status.conditions.push_back(conditions("Healthy").front());
  return status;
}

api::ReadinessPolicy policy() {
  api::ReadinessPolicy policy{};
  policy.meta.name = "sample";
  policy.spec.node_selector = {.match_labels = {{"a", "b"}}, .match_expressions = {{.key = "k", .op = "In", .values = {"v"}}}};
  policy.spec.priority = 5;
  policy.spec.expectations = expectations();
  policy.spec.memory_per_gpu = Bytes{200 * kGiB.count};
  policy.spec.rdma_resource = "rdma/hca";
  policy.spec.reserved_ports = {28100};
  policy.spec.allowed_host_paths = {"/srv"};
  return policy;
}

}  // namespace

int main() {
  std::cout << codec::encode(job()) << '\n'
            << codec::encode(policy()) << '\n'
            << codec::encode_spec(report(), "") << '\n'
            << codec::encode_status(job().meta, job_status()) << '\n'
            << codec::encode_agent_status(report().meta, report_status()) << '\n'
            << codec::encode_operator_status(report().meta, report_status()) << '\n';
}
