// Which network interfaces NCCL takes for its bootstrap and its socket transport, and in what order (src/misc/socket.cc,
// src/os/linux.cc): getifaddrs lists IPv4 addresses in the order of interfaces, then those of IPv6.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "diagnosis/fabric/facts.h"
#include "diagnosis/nccl/selection.h"
#include "diagnosis/nccl/situation.h"
#include "diagnosis/rdma/address.h"

namespace verl::nccl {

struct Candidate {
  const fabric::Interface* interface{nullptr};
  std::string text{};       // the address as the tool printed it
  rdma::Address address{};
};

struct InterfaceChoice {
  bool known{false};                // the node's addresses are known at all; without them the rest says nothing
  bool listed{false};               // NCCL_SOCKET_IFNAME decides: it is longer than one character
  Selection list{};                 // of NCCL_SOCKET_IFNAME, or the step of the automatic order that found something
  std::vector<Candidate> taken{};   // at most kMostInterfaces; the first carries the bootstrap
  std::vector<Candidate> others{};  // have an address too and were not taken
};

InterfaceChoice interfaces_of(const Situation& situation);

// No carrier: an address there reaches nobody.
bool is_dead(const fabric::Interface& interface);

// Loopback, bridges of containers and machines, tunnels, CNI interfaces: no way to another node. By kind, else by name.
bool is_inner(const fabric::Interface& interface);
bool is_inner_name(std::string_view name);

std::vector<std::string> names_of(const std::vector<Candidate>& candidates);

// Those a person would choose: with a carrier, not inner, not link-local. The policy's control interface alone where it is among them.
std::vector<std::string> sane_names(const Situation& situation, const InterfaceChoice& choice);

}  // namespace verl::nccl
