// What the container check knows: what the pod's environment asks for, and what was seen from inside the container. Values only;
// who reads them is read.h, what they mean is judge.h. This folder includes nothing else of the project: the program is copied
// into images of others and stays small and self-contained.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "node-agent/incontainer/cpu_list.h"

namespace verl::incontainer {

enum class Numa { Required, Preferred, None };

struct Wanted {
  std::uint64_t shm_bytes{0};
  std::uint64_t gpus{0};
  std::uint64_t rdma_devices{0};  // 0: the job uses no RDMA, and neither devices nor locked memory are looked at
  Numa numa{Numa::Preferred};
  bool operator==(const Wanted&) const = default;
};

// A value, or why there is none.
template <class T>
struct Read {
  std::optional<T> value{};
  std::string trouble{};
  bool operator==(const Read&) const = default;
};

constexpr std::uint64_t kUnlimited = ~std::uint64_t{0};

struct VerbsDevice {
  std::string name{};     // uverbs0
  std::string trouble{};  // empty: could be opened for reading and writing
  bool operator==(const VerbsDevice&) const = default;
};

struct Gpu {
  std::string name{};           // PCI address, or /dev/nvidia0 where that could not be found
  std::optional<int> node{};    // -1: the firmware did not say
  std::string trouble{};        // why `node` is absent
  bool operator==(const Gpu&) const = default;
};

struct Facts {
  Read<std::uint64_t> shm_bytes{};
  Read<std::uint64_t> memlock_bytes{};  // soft limit
  Read<std::uint64_t> capabilities{};   // effective
  std::vector<VerbsDevice> verbs{};     // sorted by name
  Read<std::uint64_t> open_files{};     // hard limit
  Read<std::uint64_t> processes{};      // smallest pids limit of the control groups that can be seen
  Read<CpuList> cpus{};                 // that the container may run on
  Read<std::map<int, CpuList>> nodes{};  // NUMA nodes of the machine with their CPUs, none for memory alone
  std::vector<Gpu> gpus{};              // in the order of their device numbers
  bool operator==(const Facts&) const = default;
};

}  // namespace verl::incontainer
