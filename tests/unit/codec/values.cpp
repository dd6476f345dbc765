#include "values.h"

#include <array>

namespace verl::codec {
namespace {

std::int64_t number(Random& random, std::int64_t low, std::int64_t high) { return std::uniform_int_distribution<std::int64_t>(low, high)(random); }
std::int32_t small(Random& random, std::int32_t low, std::int32_t high) { return static_cast<std::int32_t>(number(random, low, high)); }
bool coin(Random& random) { return number(random, 0, 1) == 1; }

std::string text(Random& random) {
  static constexpr std::array<const char*, 12> kPieces{"a", "Z9", "-", ".", " ", "\"", "\\", "ü", "語", "\n", "</>&", "\x01"};
  std::string out;
  for (std::int64_t i = number(random, 0, 6); i > 0; --i) out += kPieces[static_cast<size_t>(number(random, 0, 11))];
  return out;
}

std::string some_text(Random& random) { return "x" + text(random); }

Timestamp time(Random& random) { return Timestamp(Microseconds(number(random, 1, 4'000'000'000'000'000))); }

template <class Make>
auto maybe(Random& random, Make&& make) -> std::optional<decltype(make())> {
  if (coin(random)) return make();
  return std::nullopt;
}

template <class Make>
auto list(Random& random, Make&& make) -> std::vector<decltype(make())> {
  std::vector<decltype(make())> out;
  for (std::int64_t i = number(random, 0, 3); i > 0; --i) out.push_back(make());
  return out;
}

std::map<std::string, std::string> map(Random& random) {
  std::map<std::string, std::string> out;
  for (std::int64_t i = number(random, 0, 3); i > 0; --i) out[some_text(random)] = text(random);
  return out;
}

template <class Enum>
Enum one_of(Random& random, int count) {
  return static_cast<Enum>(number(random, 0, count - 1));
}

api::Meta meta(Random& random) {
  return {.name_space = coin(random) ? some_text(random) : "", .name = some_text(random), .uid = text(random), .resource_version = text(random),
          .generation = number(random, 0, 1'000'000), .labels = map(random), .created = coin(random) ? time(random) : Timestamp{},
          .deleted = maybe(random, [&] { return time(random); })};
}

std::vector<api::Condition> conditions(Random& random) {
  return list(random, [&] {
    return api::Condition{.type = some_text(random), .status = one_of<api::ConditionStatus>(random, 3), .reason = text(random), .message = text(random),
                          .last_transition = time(random), .observed_generation = number(random, 0, 9)};
  });
}

std::optional<api::Topology> topology(Random& random) {
  return maybe(random, [&] { return api::Topology{.level = some_text(random), .mode = one_of<api::TopologyMode>(random, 2)}; });
}

std::optional<Seconds> seconds(Random& random) {
  return maybe(random, [&] { return Seconds(number(random, 0, 100'000)); });
}

api::Placement placement(Random& random) {
  api::Placement out{};
  out.attempt = small(random, 1, 9);
  out.port_base = small(random, 1, 65000);
  out.job_generation = number(random, 1, 9);
  out.ranks = list(random, [&] {
    return api::RankPlacement{.rank = small(random, 0, 9), .pool = text(random), .node = text(random), .node_uid = text(random), .boot_id = text(random), .address = text(random)};
  });
  out.racks = small(random, 0, 9);
  out.racks_proven = coin(random);
  out.cross_rack_edges = small(random, 0, 9);
  out.edges_proven = coin(random);
  out.domains = list(random, [&] { return text(random); });
  out.decided = time(random);
  return out;
}

api::Expectations expectations(Random& random) {
  api::Expectations out{};
  const auto count = [&] { return maybe(random, [&] { return small(random, 0, 100'000); }); };
  out.inventory = {.gpus = count(), .rdma_devices = count(), .numa_nodes = count()};
  out.thresholds = {.mtu_min = count(), .rdma_mtu_min = count(), .link_gbps_min = count(), .clock_offset_max = maybe(random, [&] { return Microseconds(number(random, 1, 1'000'000)); })};
  out.fabric_interfaces = list(random, [&] { return text(random); });
  out.control_interface = text(random);
  out.checks = list(random, [&] { return api::CheckRule{.id = text(random), .action = one_of<api::CheckAction>(random, 3)}; });
  return out;
}

}  // namespace

api::VerlJob random_job(Random& random) {
  api::VerlJob job{};
  job.meta = meta(random);
  api::VerlJobSpec& spec = job.spec;
  spec.suspend = coin(random);
  spec.managed_by = text(random);
  spec.image = text(random);
  spec.trainer = {.module = text(random), .command = list(random, [&] { return text(random); }), .overrides = map(random)};
  spec.pools = list(random, [&] {
    return api::Pool{.name = text(random), .nodes = small(random, 0, 1024), .gpus_per_node = small(random, 0, 16), .topology = topology(random),
                     .template_json = coin(random) ? "{}" : R"({"metadata":{"labels":{"a":"b"}},"spec":{"x":[1,2.5,null,"ü"]}})"};
  });
  spec.topology = topology(random);
  spec.network = {.transport = one_of<api::Transport>(random, 4), .mtu = maybe(random, [&] { return small(random, 0, 65520); })};
  spec.nccl_env = map(random);
  spec.numa = one_of<api::NumaMode>(random, 3);
  spec.priority_class = text(random);
  spec.ray_authentication = one_of<api::RayAuthentication>(random, 2);
  spec.deadlines = {.queued = seconds(random), .bind = Seconds(number(random, 0, 99)), .image_pull = Seconds(number(random, 0, 99)), .starting = Seconds(number(random, 0, 99)), .running = seconds(random)};
  spec.recovery = {.infrastructure_restarts = small(random, 0, 9), .user_restarts = small(random, 0, 9)};
  spec.nccl_debug = text(random);
  spec.ttl_after_finished = seconds(random);
  api::VerlJobStatus& status = job.status;
  status.observed_generation = number(random, 0, 9);
  status.phase = text(random);
  status.ready = text(random);
  status.nodes = small(random, 0, 9);
  status.gpus = small(random, 0, 99);
  status.reason = text(random);
  status.conditions = conditions(random);
  status.placement = maybe(random, [&] { return placement(random); });
  status.rejected_nodes = list(random, [&] { return api::RejectedNode{.node = text(random), .reason = text(random), .times = small(random, 1, 9), .until = time(random)}; });
  status.attempts = {.started = small(random, 0, 9), .infrastructure_restarts = small(random, 0, 9), .user_restarts = small(random, 0, 9), .last_reason = text(random), .last_message = text(random)};
  status.head_address = text(random);
  status.queued_at = maybe(random, [&] { return time(random); });
  status.started_at = maybe(random, [&] { return time(random); });
  status.finished_at = maybe(random, [&] { return time(random); });
  status.exit_code = maybe(random, [&] { return small(random, -1, 255); });
  return job;
}

api::NodeReadiness random_report(Random& random) {
  api::NodeReadiness report{};
  report.meta = meta(random);
  report.spec = {.node_uid = text(random), .address = text(random), .gpus = small(random, 0, 16),
                 .domains = list(random, [&] { return api::DomainName{.level = text(random), .domain = text(random)}; }),
                 .policy = text(random), .policy_generation = number(random, 0, 9), .expectations = expectations(random)};
  api::NodeReadinessStatus& status = report.status;
  status.observed_generation = number(random, 0, 9);
  status.node_uid = text(random);
  status.boot_id = text(random);
  status.agent_version = text(random);
  status.observed_at = maybe(random, [&] { return time(random); });
  status.findings = list(random, [&] {
    return Finding{.check = text(random), .verdict = one_of<Verdict>(random, 5), .subject = text(random), .seen = text(random), .wanted = text(random), .remedy = text(random), .message = text(random)};
  });
  status.interfaces = list(random, [&] {
    return api::InterfaceStatus{.name = text(random), .up = coin(random), .mtu = small(random, 0, 9000), .speed_mbps = maybe(random, [&] { return small(random, 0, 400'000); }),
                                .pci = text(random), .numa_node = small(random, -1, 7), .control = coin(random), .fabric = coin(random), .addresses = list(random, [&] { return text(random); })};
  });
  status.rdma = list(random, [&] {
    return api::RdmaPortStatus{.device = text(random), .port = small(random, 1, 2), .state = text(random), .link_layer = text(random), .active_mtu = small(random, 0, 4096),
                               .rate_gbps = small(random, 0, 400), .netdev = text(random), .pci = text(random), .numa_node = small(random, -1, 7)};
  });
  const auto micros = [&] { return maybe(random, [&] { return Microseconds(number(random, -1'000'000, 1'000'000)); }); };
  status.clock = {.source = text(random), .synchronised = coin(random), .offset = micros(), .error_bound = micros(), .reference = text(random)};
  status.nccl = list(random, [&] { return api::NcclSetting{.name = text(random), .value = text(random), .source = text(random)}; });
  status.topology = {.sockets = small(random, 0, 8), .numa_nodes = small(random, 0, 8), .cores = small(random, 0, 256), .cpus = small(random, 0, 512),
                     .memory_bytes = number(random, 0, 4'000'000'000'000), .gpus = list(random, [&] { return text(random); })};
  status.verdict = text(random);
  status.conditions = conditions(random);
  return report;
}

api::ReadinessPolicy random_policy(Random& random) {
  api::ReadinessPolicy policy{};
  policy.meta = meta(random);
  api::ReadinessPolicySpec& spec = policy.spec;
  static constexpr std::array<const char*, 4> kOperators{"In", "NotIn", "Exists", "DoesNotExist"};
  spec.node_selector = {.match_labels = map(random), .match_expressions = list(random, [&] {
                          return api::SelectorTerm{.key = text(random), .op = kOperators[static_cast<size_t>(number(random, 0, 3))], .values = list(random, [&] { return text(random); })};
                        })};
  spec.priority = small(random, -100, 100);
  spec.expectations = expectations(random);
  spec.memory_per_gpu = maybe(random, [&] { return Bytes{number(random, 0, 4'000'000'000'000)}; });
  spec.rdma_resource = text(random);
  spec.reserved_ports = list(random, [&] { return small(random, 1, 65535); });
  spec.allowed_host_paths = list(random, [&] { return text(random); });
  return policy;
}

}  // namespace verl::codec
