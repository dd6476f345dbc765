// Which CPUs a GPU's worker may be pinned to, or why it must not be pinned. Never a guess: a list that a tool cut, a node
// without CPUs and a machine without locality give no CPUs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "diagnosis/topology/facts.h"

namespace verl::topology {

struct PinPlan {
  std::int32_t gpu{0};
  std::optional<std::int32_t> node{};  // NUMA node whose CPUs to take; nothing: do not pin
  std::string cpus{};                  // to pin to; empty with a node: ask the system for that node's CPUs
  std::string why_not{};               // why nothing is pinned, or why the CPUs are not known here; empty: all is known
  bool fell_back{false};               // the node given for the GPU has no CPUs: this is the one that its CPUs belong to
  bool operator==(const PinPlan&) const = default;
};

PinPlan pin_plan(const Facts& facts, const Gpu& gpu);
std::vector<PinPlan> pin_plans(const Facts& facts);  // one for each GPU, in order

// NUMA nodes that have CPUs; empty when no nodes are known.
std::vector<std::int32_t> nodes_with_cpus(const Facts& facts);

// Is that node known, and known to have no CPU?
bool is_memory_only(const Facts& facts, std::int32_t node);

// Does a machine that should have two sockets show one NUMA node only? Its sockets when they are known, else eight GPUs all on node 0.
bool hides_second_socket(const Facts& facts);

// A CPU list that cannot be meant as such: "1-1", backwards, no numbers, or one CPU alone.
bool is_unusable(const std::string& cpus);

}  // namespace verl::topology
