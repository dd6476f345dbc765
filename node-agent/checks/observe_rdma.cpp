#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "diagnosis/rdma/port.h"
#include "node-agent/checks/observe.h"
#include "node-agent/checks/read.h"

namespace verl::agent {
namespace {

constexpr std::string_view kClass = "/sys/class/infiniband";

template <class Parse>
auto parsed(const host::Host& host, const std::string& path, Parse parse) -> Reading<typename decltype(parse(std::string_view{}))::value_type> {
  const auto text = read_text(host, path);
  if (!text) return tl::unexpected(text.error());
  const auto value = parse(*text);
  if (!value) return tl::unexpected(fmt::format("{} holds \"{}\", which is not understood", path, shorten(escape_controls(*text), 60)));
  return *value;
}

Reading<std::vector<rdma::GidEntry>> observe_gids(const host::Host& host, const std::string& port) {
  const auto names = host.list_dir(port + "/gids");
  if (!names) return tl::unexpected(names.error().message);
  std::vector<rdma::GidEntry> table;
  for (const std::string& name : *names) {
    const auto index = parse_int<std::int32_t>(name);
    if (!index) continue;
    const auto text = host.read_file(port + "/gids/" + name);
    if (!text) continue;  // the kernel refuses entries of another network namespace
    const auto gid = rdma::parse_gid(*text);
    if (!gid) return tl::unexpected(fmt::format("{}/gids/{} holds \"{}\", no GID", port, name, shorten(escape_controls(*text), 60)));
    if (rdma::is_zero(*gid)) continue;
    table.push_back({.index = *index, .gid = *gid, .type = read_text(host, port + "/gid_attrs/types/" + name).value_or("")});
  }
  std::sort(table.begin(), table.end(), [](const rdma::GidEntry& a, const rdma::GidEntry& b) { return a.index < b.index; });
  return table;
}

// The netdev that the port's GIDs belong to, or else the one of the same PCI function and port.
Reading<std::string> netdev_of(const host::Host& host, const std::string& base, const std::string& port) {
  if (const auto names = host.list_dir(port + "/gid_attrs/ndevs")) {
    for (const std::string& name : *names) {
      const auto netdev = read_text(host, port + "/gid_attrs/ndevs/" + name);  // the kernel refuses those of empty entries
      if (netdev && !netdev->empty()) return *netdev;
    }
  }
  const auto netdevs = host.list_dir(base + "/device/net");
  // A rail whose interface is not known would have its MTU and speed judged by nobody.
  if (!netdevs && netdevs.error().code != ErrorCode::NotFound) return tl::unexpected(netdevs.error().message);
  return netdevs && netdevs->size() == 1 ? netdevs->front() : std::string{};
}

Reading<RdmaPort> observe_port(const host::Host& host, const std::string& device, const std::string& pci, std::int32_t number) {
  const std::string base = fmt::format("{}/{}", kClass, device);
  const std::string port = fmt::format("{}/ports/{}", base, number);
  RdmaPort out;
  out.device = device;
  out.port = number;
  out.pci = pci;
  out.hardware = !out.pci.empty();
  out.numa_node = read_number(host, base + "/device/numa_node").value_or(-1);
  out.state = parsed(host, port + "/state", rdma::state_name);
  out.physical_state = parsed(host, port + "/phys_state", rdma::state_name);
  out.link_layer = read_text(host, port + "/link_layer");
  out.rate_gbps = parsed(host, port + "/rate", rdma::rate_gbps);
  out.active_mtu = reading(host.active_mtu(device, number));
  out.gids = observe_gids(host, port);
  const auto netdev = netdev_of(host, base, port);
  if (!netdev) return tl::unexpected(netdev.error());
  out.netdev = *netdev;
  return out;
}

}  // namespace

Reading<std::vector<RdmaPort>> observe_rdma(const host::Host& host) {
  const auto devices = read_names(host, kClass, "/sys/class");
  if (!devices) return tl::unexpected(devices.error());
  std::vector<RdmaPort> out;
  for (const std::string& device : *devices) {
    const auto ports = host.list_dir(fmt::format("{}/{}/ports", kClass, device));
    if (!ports) return tl::unexpected(ports.error().message);
    // Whether it is hardware or software hangs on this link.
    const auto pci = link_name(host, fmt::format("{}/{}/device", kClass, device));
    if (!pci) return tl::unexpected(pci.error());
    for (const std::string& name : *ports) {
      const auto number = parse_int<std::int32_t>(name);
      if (!number) continue;
      auto one = observe_port(host, device, *pci, *number);
      if (!one) return tl::unexpected(one.error());
      out.push_back(std::move(*one));
    }
  }
  return out;
}

}  // namespace verl::agent
