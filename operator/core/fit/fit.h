// Whether one pod fits one node, as kube-scheduler judges it (1.36: NodeResourcesFit, NodePorts, TaintToleration,
// NodeUnschedulable, NodeAffinity for nodeSelector), and what pods use of a node. Stricter in three things: a node must
// be Ready whatever is tolerated, every nominated pod counts, and what could not be read is a misfit, never a pass.
// Leaves readiness reports, policies and rejected nodes to others.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/node.h"

namespace verl::core::fit {

struct NodeUse {
  api::Resources requests{};             // sum of effective requests
  std::int64_t pods{0};
  std::vector<api::HostPort> ports{};    // sorted, each once
  std::vector<std::string> unreadable{};  // pods whose requests could not be read: "ns/name: field"
  bool operator==(const NodeUse&) const = default;
};

struct PodNeeds {
  api::Resources requests{};  // effective
  std::vector<api::HostPort> host_ports{};
  std::vector<api::Toleration> tolerations{};
  api::Labels node_selector{};
  bool operator==(const PodNeeds&) const = default;
};

// Stable words, in the order in which they are reported.
constexpr std::string_view kNodeUnreadable = "NodeUnreadable";              // subject: the field
constexpr std::string_view kUseUnknown = "NodeUseUnknown";                  // subject: the pod that cannot be read
constexpr std::string_view kSelectorMismatch = "NodeSelectorMismatch";      // subject: the label key
constexpr std::string_view kCordoned = "NodeCordoned";
constexpr std::string_view kNotReady = "NodeNotReady";
constexpr std::string_view kUntolerated = "UntoleratedTaint";               // subject: the taint key
constexpr std::string_view kTooManyPods = "TooManyPods";
constexpr std::string_view kInsufficient = "InsufficientResource";          // subject: the resource
constexpr std::string_view kPortTaken = "HostPortTaken";                    // subject: the port

struct Misfit {
  std::string reason{};
  std::string subject{};
  std::string message{};    // one sentence with what was seen and what is wanted
  std::int64_t seen{0};     // TooManyPods, InsufficientResource: what is free, as in api::Resources; may be negative
  std::int64_t wanted{0};
  bool operator==(const Misfit&) const = default;
};

// Every misfit, most telling first; empty: it fits. `use` is what others hold of the node, without the pod itself.
std::vector<Misfit> misfits(const api::Node& node, const NodeUse& use, const PodNeeds& needs);

// The same verdict without words, for many nodes.
bool fits(const api::Node& node, const NodeUse& use, const PodNeeds& needs);

// Does the pod hold anything of a node? Bound or nominated, and not ended; a terminating pod still does.
bool holds_node(const api::Pod& pod);
// That node; empty when there is none.
std::string_view held_node(const api::Pod& pod);

// One more pod on the node: also for gangs that are promised the node and whose pods are not seen yet.
void add(NodeUse& use, const api::Resources& requests, const std::vector<api::HostPort>& ports);
void add(NodeUse& use, const api::Pod& pod);

// Zero when the resource is not named. In thousandths.
std::int64_t amount(const api::Resources& resources, const std::string& name);

// An amount of a resource (thousandths, as in api::Resources) for people: "8", "1500m", "100Gi".
std::string shown(std::string_view resource, std::int64_t milli);

using UseByNode = std::map<std::string, NodeUse, std::less<>>;

// What all these pods hold, by node name. A node without pods has no entry.
UseByNode use_by_node(const std::vector<std::shared_ptr<const api::Pod>>& pods);

}  // namespace verl::core::fit
