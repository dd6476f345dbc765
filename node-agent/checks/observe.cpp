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
  if (text.error().code == ErrorCode::NotFound) return nccl::Conf{};
  return tl::unexpected(text.error().message);
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
  const auto names = read_names(host, kPciDevices);
  if (!names) return tl::unexpected(names.error());
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
    device.numa_node = read_number(host, base + "/numa_node").value_or(-1);
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
