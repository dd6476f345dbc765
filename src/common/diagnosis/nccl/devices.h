// Which RDMA ports NCCL would use on a node: NCCL_IB_HCA laid over the ports that are known there. Decides what is selected,
// which of those work and which are rails; whether that is good is for the rules.
#pragma once

#include <string>
#include <vector>

#include "diagnosis/fabric/facts.h"
#include "diagnosis/nccl/selection.h"
#include "diagnosis/nccl/situation.h"

namespace verl::nccl {

enum class Life { Alive, Dead, Unknown };

// IBV_PORT_ACTIVE, or for RoCE what its interface says where nothing else does. An InfiniBand port is never judged by its interface.
Life life_of(const fabric::Port& port, const fabric::Facts& facts);

// As said, else as the interface's kind or name tells.
fabric::LinkLayer layer_of(const fabric::Port& port, const fabric::Facts& facts);

struct Devices {
  Selection list{};
  bool listed{false};                          // NCCL_IB_HCA is set
  std::vector<const fabric::Port*> selected{}; // in order of name and number, dead ones too
  std::vector<const fabric::Port*> alive{};    // those of `selected` that work
  std::vector<const fabric::Port*> unknown{};  // those of which nobody said it
};

Devices devices_of(const Situation& situation);
Devices devices_of(const fabric::Facts& facts, std::string_view list, std::optional<Version> version);

// Alive, no software device, no bond beside others, of the link layer that most have.
std::vector<const fabric::Port*> rails_of(const Devices& devices, const fabric::Facts& facts);

// Alive ports of RoCE among them, without software devices.
std::vector<const fabric::Port*> roce_of(const Devices& devices, const fabric::Facts& facts);

// Does anything say that NCCL may use its own RDMA transport here? False with NCCL_NET=Socket or NCCL_IB_DISABLE.
bool may_use_rdma(const Situation& situation);

std::string port_name(const fabric::Port& port);  // "mlx5_0 port 1"
std::vector<std::string> port_names(const std::vector<const fabric::Port*>& ports);
std::string_view to_string(fabric::LinkLayer layer);  // "InfiniBand", "RoCE", "unknown"

}  // namespace verl::nccl
