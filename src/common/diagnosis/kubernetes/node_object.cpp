// Node and NodeReadiness objects. A Node is judged by the types and states of its conditions, never by words in their messages.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "diagnosis/nccl/settings.h"
#include "diagnosis/kubernetes/manifest.h"
#include "diagnosis/kubernetes/topology_labels.h"
#include "diagnosis/rule.h"

namespace verl::diagnosis::manifest {
namespace {

NodeFacts& facts_of(Context& context, const std::string& name) {
  for (auto& [node, facts] : context.reading.nodes) {
    if (node == name) return facts;
  }
  context.reading.nodes.emplace_back(name, NodeFacts{});
  return context.reading.nodes.back().second;
}

void add_for(Context& context, const std::string& node, Finding finding, std::string_view word) {
  finding.nodes = {node};
  add(context, std::move(finding), word);
}

// A true one of these is bad; of any other type the polarity is not known, unless its name says so.
bool bad_when_true(std::string_view type) {
  for (const std::string_view part : {"Pressure", "Unavailable", "Problem", "Deadlock", "Readonly", "Hung", "Failure", "Unhealthy"}) {
    if (type.find(part) != std::string_view::npos) return true;
  }
  return false;
}

void judge_conditions(Context& context, const Object& object) {
  std::string ready = "absent";
  size_t count = 0;
  for (const Json& condition : path(object.json, {"status", "conditions"})) {
    ++count;
    const std::string type = text_at(condition, "type");
    const std::string status = text_at(condition, "status");
    if (type == "Ready") {
      ready = status;
    } else if (bad_when_true(type) && status == "True") {
      Finding finding = finding_of("node-condition", type);
      finding.seen = "True, " + text_at(condition, "reason");
      finding.message = fmt::format("{}: condition {} is True ({})", object.name, type, shorten(text_at(condition, "reason"), 100));
      add_for(context, object.name, std::move(finding), type);
    }
  }
  put(context, object, "conditions", static_cast<std::int64_t>(count));
  put(context, object, "ready", ready);
  if (ready == "True") return;
  Finding finding = finding_of("node-not-ready", object.name);
  if (ready != "False") finding.severity = Severity::Unknown;
  finding.seen = ready == "absent" ? "no condition Ready" : "Ready is " + ready;
  finding.wanted = "Ready is True";
  finding.message = fmt::format("{}: {}, so it does not count as ready", object.name, finding.seen);
  add_for(context, object.name, std::move(finding), object.name);
}

void judge_taints(Context& context, const Object& object) {
  const Json& spec = at(object.json, "spec");
  size_t index = 0;
  for (const Json& taint : at(spec, "taints")) {
    const std::string key = text_at(taint, "key");
    const std::string effect = text_at(taint, "effect");
    put(context, object, fmt::format("taints[{}]", index++), fmt::format("{}={}:{}", key, text_at(taint, "value"), effect));
    if (effect == "PreferNoSchedule") continue;
    Finding finding = finding_of("node-taint", key);
    finding.seen = effect;
    finding.message = fmt::format("{}: the taint {} needs a toleration", object.name, key);
    add_for(context, object.name, std::move(finding), key);
  }
  if (at(spec, "unschedulable") != Json(true)) return;
  Finding finding = finding_of("node-unschedulable", object.name);
  finding.message = fmt::format("{} is cordoned: no new pod comes to it", object.name);
  add_for(context, object.name, std::move(finding), "unschedulable");
}

void judge_topology_labels(Context& context, const Object& object, const kubernetes::Labels& labels, std::int64_t gpus) {
  const kubernetes::NodeTopology topology = kubernetes::topology_of(labels);
  kubernetes::Facts& facts = facts_of(context, object.name).kubernetes;
  facts.topology_provider = topology.provider;
  facts.topology_layers = static_cast<std::int32_t>(topology.levels.size());
  facts.rack = topology.rack.value;
  if (!topology.provider.empty()) put(context, object, "topology.provider", topology.provider);
  for (const kubernetes::TopologyLevel& level : topology.levels) put(context, object, "topology." + level.label, level.value);
  if (!topology.rack.value.empty()) put(context, object, "topology.rack", topology.rack.value);
  if (!topology.nvlink_domain.empty()) put(context, object, "topology.nvlink_domain", topology.nvlink_domain);
  for (const std::string& missing : topology.missing) {
    Finding finding = finding_of("node-topology-incomplete", missing);
    if (gpus == 0) finding.severity = Severity::Info;
    finding.message = fmt::format("{}: the label {} is missing: a topology with that level leaves the node out", object.name, missing);
    add_for(context, object.name, std::move(finding), topology.levels.front().label);
  }
}

}  // namespace

void read_node(Context& context, const Object& object) {
  const Json& metadata = at(object.json, "metadata");
  const Json& allocatable = path(object.json, {"status", "allocatable"});
  std::int64_t gpus = 0;
  std::int64_t rdma = 0;
  std::int64_t rdma_resources = 0;
  for (const auto& item : allocatable.items()) {
    if (is_gpu(item.key())) gpus = std::min<std::int64_t>(gpus + quantity(item.value()), 1 << 20);
    if (!is_rdma(item.key(), context.options.policy)) continue;
    ++rdma_resources;
    rdma = std::min<std::int64_t>(rdma + quantity(item.value()), 1 << 20);
    put(context, object, "rdma." + item.key(), quantity(item.value()));
  }
  put(context, object, "gpus", gpus);
  put(context, object, "rdma_resources", rdma_resources);
  put(context, object, "rdma_devices", rdma);
  kubernetes::Labels labels;
  std::vector<std::pair<std::string, std::string>> gpu_labels;
  for (const auto& item : at(metadata, "labels").items()) {
    if (!item.value().is_string()) continue;
    labels[item.key()] = item.value().get<std::string>();
    if (item.key().starts_with("nvidia.com/")) gpu_labels.emplace_back(item.key(), labels[item.key()]);
  }
  facts_of(context, object.name).kubernetes.kubelet_version = text_at(path(object.json, {"status", "nodeInfo"}), "kubeletVersion");
  put(context, object, "kubelet_version", facts_of(context, object.name).kubernetes.kubelet_version);
  judge_conditions(context, object);
  judge_taints(context, object);
  judge_topology_labels(context, object, labels, gpus);
  if (!gpu_labels.empty()) judge_gpu_labels(context.reading, gpu_labels, object.name, object.value_path);
  const auto host = labels.find("kubernetes.io/hostname");
  if (host == labels.end()) return;
  put(context, object, "hostname_label", host->second);
  if (host->second == object.name) return;
  Finding finding = finding_of("node-hostname-label", object.name);
  finding.seen = host->second;
  finding.message = fmt::format("{}: the label kubernetes.io/hostname is {}: pinning by that label has to use its value, not the node's name", object.name, host->second);
  add_for(context, object.name, std::move(finding), "kubernetes.io/hostname");
}

void read_node_readiness(Context& context, const Object& object) {
  const Json& status = at(object.json, "status");
  NodeFacts& facts = facts_of(context, object.name);
  nccl::Environment environment;
  environment.kind = nccl::EnvironmentKind::Report;
  for (const Json& setting : at(status, "nccl")) {
    nccl::SettingAt one;
    one.setting.name = text_at(setting, "name");
    one.setting.value = text_at(setting, "value");
    one.source = text_at(setting, "source");
    if (nccl::concerns_communication(one.setting.name)) environment.settings.push_back(std::move(one));
  }
  if (at(status, "nccl").is_array()) facts.nccl.environments.push_back(std::move(environment));
  for (const Json& one : at(status, "interfaces")) {
    fabric::Interface interface;
    interface.name = text_at(one, "name");
    if (interface.name.empty()) continue;
    if (at(one, "up").is_boolean()) interface.up = at(one, "up").get<bool>();
    const std::int64_t mtu = number_at(one, "mtu", 0);
    if (mtu > 0 && mtu < (1 << 24)) interface.mtu = static_cast<std::int32_t>(mtu);
    const std::int64_t speed = number_at(one, "speedMbps", 0);
    if (speed > 0) interface.speed_mbps = speed;
    for (const Json& address : at(one, "addresses")) {
      if (address.is_string()) interface.addresses.push_back(address.get<std::string>());
    }
    facts.fabric.interfaces.push_back(std::move(interface));
  }
  for (const Json& one : at(status, "rdma")) {
    fabric::Port port;
    port.device = text_at(one, "device");
    if (port.device.empty()) continue;
    port.port = static_cast<std::int32_t>(std::clamp<std::int64_t>(number_at(one, "port", 1), 0, 255));
    port.state = text_at(one, "state");
    const std::string layer = text_at(one, "linkLayer");
    port.link_layer = layer == "InfiniBand" ? fabric::LinkLayer::Infiniband : layer == "Ethernet" ? fabric::LinkLayer::Ethernet : fabric::LinkLayer::Unknown;
    const std::int64_t mtu = number_at(one, "activeMTU", number_at(one, "activeMtu", 0));
    if (mtu > 0 && mtu < (1 << 24)) port.active_mtu = static_cast<std::int32_t>(mtu);
    const std::int64_t rate = number_at(one, "rateGbps", 0);
    if (rate > 0) port.rate_gbps = static_cast<double>(rate);
    port.netdev = text_at(one, "netdev");
    port.pci = text_at(one, "pci");
    facts.fabric.ports.push_back(std::move(port));
  }
  put(context, object, "verdict", text_at(status, "verdict"));
}

}  // namespace verl::diagnosis::manifest
