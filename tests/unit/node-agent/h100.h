// An observation of a healthy machine and what a policy wants of it, for tests to spoil.
#pragma once

#include <fmt/format.h>

#include "node-agent/checks/judge.h"

namespace verl::agent {

inline Observation h100() {
  Observation seen;
  seen.boot_id = "boot-1";
  seen.addresses = std::vector<host::InterfaceAddress>{{.interface = "eno1", .address = "10.0.0.1"}};
  std::vector<Interface> interfaces;
  std::vector<RdmaPort> ports;
  std::vector<topology::PciDevice> pci;
  interfaces.push_back({.name = "eno1", .physical = true, .mtu = 1500, .operstate = "up", .type = 1, .speed_mbps = 25000, .addresses = {"10.0.0.1"}});
  interfaces.back().counters = PacketCounters{.packets = 10, .lost = 0};
  for (int rail = 0; rail < 2; ++rail) {
    const std::string netdev = fmt::format("ens{}f0", rail);
    const std::string nic = fmt::format("0000:{}8:00.0", rail + 1);
    const std::string bridge = fmt::format("0000:{}0:01.0", rail + 1);
    interfaces.push_back({.name = netdev, .physical = true, .rdma_device = fmt::format("mlx5_{}", rail), .mtu = 9000, .operstate = "up", .type = 1,
                          .speed_mbps = 400000, .pci = nic, .numa_node = rail});
    interfaces.back().counters = PacketCounters{.packets = 1'000'000, .lost = 3};
    RdmaPort port{.device = fmt::format("mlx5_{}", rail), .port = 1, .hardware = true, .state = "ACTIVE", .physical_state = "LinkUp",
                  .link_layer = "Ethernet", .rate_gbps = 400, .active_mtu = 4096, .netdev = netdev, .pci = nic, .numa_node = rail};
    port.gids = std::vector<rdma::GidEntry>{{.index = 3, .gid = *rdma::parse_gid("0000:0000:0000:0000:0000:ffff:0a64:0001"), .type = "RoCE v2"}};
    ports.push_back(port);
    const std::vector<std::string> path{fmt::format("pci0000:{}0", rail + 1), bridge};
    pci.push_back({.address = nic, .vendor = 0x15B3, .device_class = 0x020000, .numa_node = rail, .path = path});
    pci.back().path.push_back(nic);
    pci.push_back({.address = fmt::format("0000:{}9:00.0", rail + 1), .vendor = topology::kNvidia, .device_class = 0x030200, .numa_node = rail, .path = path});
    pci.back().path.push_back(pci.back().address);
  }
  seen.interfaces = interfaces;
  seen.rdma = ports;
  seen.pci = pci;
  seen.time.now = Timestamp(Seconds(1'700'000'000));
  clock::Daemon daemon;
  daemon.tracking = {.reference_id = 1, .reference = "10.0.0.254", .stratum = 3, .leap = chrony::Leap::Normal,
                     .reference_time = seen.time.now - Seconds(10), .root_delay = 0.001, .root_dispersion = 0.0005};
  daemon.sources = {{.poll = 6, .state = chrony::SourceState::Selected, .reach = 0xFF}};
  seen.time.daemon = daemon;
  seen.time.kernel = clock::Kernel{.state = 0, .status = 0, .max_error = Microseconds(1000)};
  seen.nccl_conf = nccl::Conf{};
  seen.cpu = host::CpuTopology{.sockets = 2, .cores = 4, .cpus = 8, .memory_bytes = 1,
                               .numa_nodes = {{.os_index = 0, .cpus = "0-3", .memory_bytes = 1}, {.os_index = 1, .cpus = "4-7", .memory_bytes = 1}}};
  seen.ephemeral_ports = PortRange{.first = 32768, .last = 60999, .reserved = ""};
  return seen;
}

inline api::NodeReadinessSpec h100_spec() {
  api::NodeReadinessSpec spec;
  spec.node_uid = "uid-1";
  spec.address = "10.0.0.1";
  spec.expectations.inventory = {.gpus = 2, .rdma_devices = 2, .numa_nodes = 2};
  spec.expectations.thresholds = {.mtu_min = 9000, .rdma_mtu_min = 4096, .link_gbps_min = 400, .clock_offset_max = Microseconds(50'000)};
  return spec;
}

}  // namespace verl::agent
