// What can be wrong, as log lines say it: a phrase, the rule it stands for, how near it is to the root, and what else the line tells.
// The tables are split by who writes the lines; events.h gathers what they find.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "diagnosis/finding.h"
#include "diagnosis/log/line.h"
#include "diagnosis/reading.h"

namespace verl::log {

// The order of blame: what stands first explains what stands later. Equal ones: the first in time.
enum class Blame {
  Port,        // a port of this host lost its link
  Mismatch,    // ranks run different versions, settings or devices
  Setting,     // an address, interface or name that cannot work
  First,       // a fault that a call met
  Transport,   // completion errors: a packet never arrived
  Connection,  // a peer could not be reached
  Closed,      // a peer went away first
  Follows,     // flushes, proxies, watchdogs: they only repeat what happened
  Symptom,     // actors that died of it
};

// What one line says.
struct Sighting {
  std::string_view rule{};
  Blame blame{Blame::First};
  std::optional<diagnosis::Severity> severity{};  // nothing: the rule's
  std::string subject{};                        // peer, device, segment: sightings of one rule, host and subject are one finding
  std::string seen{};
  std::string wanted{};
  std::string message{};                        // a sentence; empty: the rule's, with the text of the line
  std::string remedy{};                         // empty: the rule's
  std::vector<diagnosis::Value> values{};
};

struct Cause {
  std::string_view rule{};
  Blame blame{Blame::First};
  std::string_view phrase{};  // stands in the message
  std::string_view also{};    // this too; empty: nothing more
  // Fills in what the line says; false: the line does not mean it after all. Null: the phrase is all.
  bool (*read)(const Line& line, Sighting& out){nullptr};
};

std::span<const Cause> network_causes();    // causes_network.cpp: RDMA and sockets under NCCL
std::span<const Cause> host_causes();       // causes_host.cpp: memory, libraries, GPUs
std::span<const Cause> framework_causes();  // causes_framework.cpp: PyTorch and Gloo
std::span<const Cause> ray_causes();        // causes_ray.cpp: Ray, vLLM and verl
std::span<const Cause> cluster_causes();    // causes_cluster.cpp: kubelet, scheduler, kernel

constexpr bool is_consequence(Blame blame) { return blame >= Blame::Closed; }

// " on trn-03", " on 192.0.2.61 (WorkerDict)", or nothing.
std::string on_host(const Line& line);

void add_value(Sighting& out, std::string_view name, diagnosis::Scalar value, std::string_view unit = {});

// "\"text\"" of the message, cut.
std::string quoted(std::string_view text);

}  // namespace verl::log
