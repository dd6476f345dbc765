// What the logs of one host say about the run, for the rules that compare hosts or need the node's other documents.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "diagnosis/finding.h"

namespace verl::log {

// One process as NCCL names it.
struct Process {
  std::string name{};            // "host:pid"
  std::int32_t rank{-1};         // in the largest communicator, or of the launcher's tag; -1: not said
  std::string network{};         // the last one it said: "IB", "Socket", "AWS Libfabric"; empty: not said
  bool network_said{false};      // by "Using network"; otherwise told from the devices it listed
  diagnosis::Evidence network_at{};
  diagnosis::Evidence fallback_at{};  // why it is not RDMA: "No device found", libibverbs missing
  std::string version{};         // "2.27.3"
  std::int64_t net_channels{0};  // paths through the network by way of RDMA, and of them with GPUDirect
  std::int64_t gdr_channels{0};
  std::int64_t socket_channels{0};
  std::int64_t shm_channels{0};
  std::int64_t p2p_channels{0};
  std::optional<bool> gdr{};     // NCCL's own summary over the rings
  diagnosis::Evidence path_at{}; // a path through NET without GPUDirect, or else through SHM
  bool operator==(const Process&) const = default;
};

// A communicator as this host's ranks saw it. Ranks as they are numbered in it.
struct Communicator {
  std::string id{};              // commId in hexadecimal; the address where an old version prints no id
  std::int64_t ranks{0};
  std::int64_t nodes{0};         // as NCCL counted; 0: not said
  std::vector<std::int32_t> started{};    // sorted, unique
  std::vector<std::int32_t> completed{};
  std::map<std::string, std::vector<std::int32_t>> channels{};  // "16 coll channels, …": the ranks that said so
  diagnosis::Evidence at{};
  bool shared_id{false};         // the id is NCCL's own, equal on all hosts
  bool operator==(const Communicator&) const = default;
};

// "NCCL_X set by environment to V"
struct Echo {
  std::string name{};
  std::string value{};
  std::string process{};
  diagnosis::Evidence at{};
  bool operator==(const Echo&) const = default;
};

// Memory that the kernel would not register with the HCA; why depends on the node's limits.
struct Registration {
  std::string call{};            // "ibv_reg_mr_iova2"
  std::string process{};
  std::int64_t count{0};
  diagnosis::Evidence at{};
  bool operator==(const Registration&) const = default;
};

struct Facts {
  std::vector<Process> processes{};
  std::vector<Communicator> communicators{};
  std::vector<Echo> echoes{};
  std::vector<Registration> registrations{};
  std::int64_t local_net{0};     // paths through NET between two ranks of this host
  diagnosis::Evidence local_net_at{};
  bool operator==(const Facts&) const = default;
};

void merge(Facts& into, Facts more);

// Sockets of the host's TCP stack: no RDMA. Every other network that NCCL names is one or stands for one.
bool is_socket(const std::string& network);

}  // namespace verl::log
