#include "arrange.h"

#include <algorithm>
#include <iterator>

namespace verl::nccl {

void nothing_set(diagnosis::NodeFacts& node) {
  if (node.nccl.environments.empty()) node.nccl.environments.push_back(Environment{});
}

void set(diagnosis::NodeFacts& node, std::string name, std::string value) {
  nothing_set(node);
  auto& settings = node.nccl.environments.front().settings;
  SettingAt at;
  at.setting = {.name = std::move(name), .value = std::move(value)};
  at.source = "env";
  at.line = static_cast<std::int64_t>(settings.size()) + 1;
  settings.push_back(std::move(at));
}

fabric::Port& add_port(diagnosis::NodeFacts& node, std::string device, fabric::LinkLayer layer, std::string state, double rate) {
  fabric::Port port;
  port.device = std::move(device);
  port.link_layer = layer;
  port.state = std::move(state);
  port.rate_gbps = rate;
  node.fabric.ports.push_back(std::move(port));
  return node.fabric.ports.back();
}

void add_interface(diagnosis::NodeFacts& node, std::string name, std::vector<std::string> addresses, bool running) {
  fabric::Interface interface;
  interface.name = std::move(name);
  interface.running = running;
  interface.addresses = std::move(addresses);
  node.fabric.interfaces.push_back(std::move(interface));
}

rdma::GidEntry gid(std::int32_t index, std::string_view text, std::string_view type) {
  return {.index = index, .gid = rdma::parse_gid(text).value_or(rdma::Gid{}), .type = std::string(type)};
}

std::vector<rdma::GidEntry> gid_table(std::string_view mapped) {
  constexpr std::string_view kLocal = "fe80:0000:0000:0000:0ec4:7aff:fe11:2201";
  const std::string address = "0000:0000:0000:0000:0000:ffff:" + std::string(mapped);
  return {gid(0, kLocal, "IB/RoCE v1"), gid(1, kLocal, "RoCE v2"), gid(2, address, "IB/RoCE v1"), gid(3, address, "RoCE v2")};
}

std::vector<std::string> brief(const diagnosis::Findings& findings) {
  std::vector<std::string> texts;
  for (const diagnosis::Finding& one : findings) texts.push_back(one.id + " " + std::string(diagnosis::to_string(one.severity)));
  return texts;
}

diagnosis::Findings of(const diagnosis::Findings& findings, std::string_view id) {
  diagnosis::Findings some;
  std::copy_if(findings.begin(), findings.end(), std::back_inserter(some), [&](const diagnosis::Finding& one) { return one.id == id; });
  return some;
}

}  // namespace verl::nccl
