// What the name and address of an interface that NCCL took say about it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace verl::log {

struct SocketInterface {
  std::string name{};
  std::string address{};
  bool operator==(const SocketInterface&) const = default;
};

// A container's end, a bridge of a container runtime, a tunnel of a network plugin: never leads to another node's job.
bool is_container_interface(std::string_view name);

// Why it cannot carry a job between nodes; empty: nothing against it.
std::string fault_of(const SocketInterface& one);

// What to set: "NCCL_SOCKET_IFNAME=ens3f0 (or ^lo,docker,veth)". Without a good interface only the exclusion.
std::string interface_advice(const std::vector<SocketInterface>& all);

// "[0]ens3f0:192.0.2.31<0> [1]veth7:fe80::1%veth7<0>", "eth0:192.0.2.1<0>"
std::vector<SocketInterface> read_interfaces(std::string_view text);

}  // namespace verl::log
