#include "node-agent/checks/observe.h"

#include <fmt/format.h>

#include "base/text.h"
#include "node-agent/checks/read.h"

namespace verl::agent {
namespace {

constexpr std::string_view kPciDevices = "/sys/bus/pci/devices";
constexpr std::string_view kNcclConf = "/etc/nccl.conf";

Reading<nccl::Conf> observe_nccl(const host::Host& host) {
  const auto text = host.read_file(kNcclConf);
  if (text) return nccl::parse_conf(*text);
  if (text.error().code != ErrorCode::NotFound) return tl::unexpected(text.error().message);
  // No file is no settings, where there is a folder that it could be in.
  const auto folder = host.is_directory("/etc");
  if (!folder) return tl::unexpected(folder.error().message);
  if (!*folder) return tl::unexpected(why_unread(host, "/etc", Error{ErrorCode::NotFound, "there is no folder /etc"}));
  const auto link = host.read_link(kNcclConf);
  if (link) return tl::unexpected(fmt::format("{} is a link to {}, which is not there: mount its folder too, or remove the link", kNcclConf, escape_controls(*link)));
  if (link.error().code != ErrorCode::NotFound) return tl::unexpected(link.error().message);
  return nccl::Conf{};
}

Reading<PortRange> observe_ports(const host::Host& host) {
  constexpr std::string_view kRange = "/proc/sys/net/ipv4/ip_local_port_range";
  const auto text = read_text(host, kRange);
  if (!text) return tl::unexpected(text.error());
  const auto numbers = split_whitespace(*text);
  if (numbers.size() != 2) return tl::unexpected(fmt::format("{} holds no two numbers", kRange));
  const auto first = parse_int<std::int32_t>(numbers[0]);
  const auto last = parse_int<std::int32_t>(numbers[1]);
  if (!first || !last) return tl::unexpected(fmt::format("{} holds no two numbers", kRange));
  const auto reserved = read_text(host, "/proc/sys/net/ipv4/ip_local_reserved_ports");
  if (!reserved) return tl::unexpected(reserved.error());
  return PortRange{.first = *first, .last = *last, .reserved = *reserved};
}

void give_addresses(const std::vector<host::InterfaceAddress>& addresses, std::vector<Interface>& interfaces) {
  for (Interface& interface : interfaces) {
    for (const host::InterfaceAddress& one : addresses) {
      if (one.interface == interface.name) interface.addresses.push_back(one.address);
    }
  }
}

}  // namespace

Reading<std::vector<topology::PciDevice>> observe_pci(const host::Host& host) {
  const auto names = host.list_dir(kPciDevices);
  if (!names) return tl::unexpected(why_unread(host, kPciDevices, names.error()));
  std::vector<topology::PciDevice> out;
  for (const std::string& name : *names) {
    const std::string base = fmt::format("{}/{}", kPciDevices, name);
    topology::PciDevice device{.address = name};
    for (auto [file, field] : {std::pair{"/vendor", &device.vendor}, std::pair{"/class", &device.device_class}}) {
      const auto text = read_text(host, base + file);
      if (!text) return tl::unexpected(text.error());
      const auto value = topology::parse_hex(*text);
      if (!value) return tl::unexpected(fmt::format("{}{} holds no hexadecimal number", base, file));
      *field = *value;
    }
    if (!topology::is_gpu(device) && !topology::is_network(device)) continue;
    const auto numa = read_number_if_there(host, base + "/numa_node", -1);
    if (!numa) return tl::unexpected(numa.error());
    device.numa_node = *numa;
    if (const auto link = host.read_link(base)) device.path = topology::bridge_path(*link);
    out.push_back(std::move(device));
  }
  return out;
}

Observation observe(const host::Host& host) {
  Observation out;
  out.boot_id = read_text(host, "/proc/sys/kernel/random/boot_id");
  out.interfaces = observe_interfaces(host);
  out.rdma = observe_rdma(host);
  out.addresses = reading(host.addresses());
  if (out.addresses && out.interfaces) give_addresses(*out.addresses, *out.interfaces);
  out.time = observe_time(host);
  out.nccl_conf = observe_nccl(host);
  out.cpu = reading(host.cpu_topology());
  out.pci = observe_pci(host);
  out.ephemeral_ports = observe_ports(host);
  return out;
}

PacketSample packet_sample(const Observation& observation) {
  PacketSample sample;
  if (!observation.interfaces) return sample;
  for (const Interface& interface : *observation.interfaces) {
    if (interface.counters) sample[interface.name] = *interface.counters;
  }
  return sample;
}

}  // namespace verl::agent
