#include <fmt/format.h>

#include "base/text.h"
#include "node-agent/checks/observe.h"
#include "node-agent/checks/read.h"

namespace verl::agent {
namespace {

constexpr std::string_view kNet = "/sys/class/net";

Reading<PacketCounters> counters_of(const host::Host& host, const std::string& base) {
  PacketCounters sum;
  for (const char* name : {"rx_packets", "tx_packets"}) {
    const auto value = read_counter(host, base + "/statistics/" + name);
    if (!value) return tl::unexpected(value.error());
    sum.packets += *value;
  }
  for (const char* name : {"rx_missed_errors", "rx_crc_errors", "tx_dropped"}) {
    const auto value = read_counter(host, base + "/statistics/" + name);
    if (!value) return tl::unexpected(value.error());
    sum.lost += *value;
  }
  return sum;
}

Reading<Interface> observe_one(const host::Host& host, const std::string& name) {
  const std::string base = fmt::format("{}/{}", kNet, name);
  Interface out;
  out.name = name;
  const auto device = host.read_link(base + "/device");
  // Which device it is decides whether it carries a rail; an interface that cannot be told must not be taken for a virtual one.
  if (!device && device.error().code != ErrorCode::NotFound) return tl::unexpected(device.error().message);
  out.physical = device.has_value();
  out.pci = link_name(host, base + "/device").value_or("");
  // A virtio or other non-PCI bus has names of its own.
  if (out.pci.find(':') == std::string::npos) out.pci.clear();
  out.mtu = read_number(host, base + "/mtu");
  out.operstate = read_text(host, base + "/operstate");
  out.type = read_number(host, base + "/type");
  out.speed_mbps = read_number(host, base + "/speed");
  if (out.speed_mbps && *out.speed_mbps <= 0) out.speed_mbps = tl::unexpected(base + "/speed holds -1: the driver does not say");
  out.counters = counters_of(host, base);
  if (const auto numa = read_number(host, base + "/device/numa_node")) out.numa_node = *numa;
  if (out.physical) {
    const auto rdma = host.list_dir(base + "/device/infiniband");
    if (!rdma && rdma.error().code != ErrorCode::NotFound) return tl::unexpected(rdma.error().message);
    if (rdma && !rdma->empty()) out.rdma_device = rdma->front();
  }
  if (const auto members = host.read_file(base + "/bonding/slaves")) {
    for (const std::string_view member : split_whitespace(*members)) out.bond_members.emplace_back(member);
  } else if (members.error().code != ErrorCode::NotFound) {
    out.mtu = tl::unexpected("the members of a bond are not known: " + members.error().message);
  }
  return out;
}

}  // namespace

Reading<std::vector<Interface>> observe_interfaces(const host::Host& host) {
  const auto names = host.list_dir(kNet);
  if (!names) return tl::unexpected(why_unread(host, kNet, names.error()));
  std::vector<Interface> out;
  for (const std::string& name : *names) {
    if (name == "lo" || name == "bonding_masters") continue;
    // Overlay and pod interfaces of a busy node number hundreds and none of them carries a rail.
    if (name.starts_with("veth") || name.starts_with("cali") || name.starts_with("lxc")) continue;
    auto one = observe_one(host, name);
    if (!one) return tl::unexpected(one.error());
    out.push_back(std::move(*one));
  }
  return out;
}

}  // namespace verl::agent
