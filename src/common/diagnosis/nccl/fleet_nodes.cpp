// Bootstrap addresses, libraries, files and machines of nodes against each other.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <set>

#include "base/text.h"
#include "diagnosis/nccl/fleet.h"
#include "diagnosis/nccl/interfaces.h"
#include "diagnosis/rule.h"

namespace verl::nccl {
namespace {

using diagnosis::Finding;
using diagnosis::Findings;
using diagnosis::Fleet;
using diagnosis::NodeFacts;

// What a node says; nothing: not known.
using Question = std::function<std::string(const NodeFacts&)>;

Split ask(const Fleet& fleet, const Question& question) {
  std::vector<Said> said;
  for (const auto& [name, facts] : fleet) {
    std::string answer = question(facts);
    if (!answer.empty()) said.push_back({.node = name, .value = std::move(answer)});
  }
  return split_of(std::move(said));
}

void compare(const Fleet& fleet, std::string_view id, std::string subject, std::string_view what, const Question& question, Findings& out) {
  const Split split = ask(fleet, question);
  if (differs(split)) out.push_back(finding_of_split(id, std::move(subject), what, split));
}

std::string loaded(const NodeFacts& node) {
  const auto version = parse_version(node.nccl.loaded_version);
  return version ? to_string(*version) : node.nccl.loaded_version;
}

// "8 x NVIDIA H100 80GB HBM3".
std::string models(const NodeFacts& node) {
  std::map<std::string, size_t> count;
  for (const topology::Gpu& gpu : node.topology.gpus) ++count[gpu.name];
  if (count.empty() || node.topology.incomplete || count.count("") != 0) return {};
  std::vector<std::string> texts;
  for (const auto& [name, number] : count) texts.push_back(fmt::format("{} x {}", number, name));
  return join(texts, ", ");
}

// Links between GPUs, each kind with its number of pairs: "NV18 x 28".
std::string nvlinks(const NodeFacts& node) {
  if (node.topology.nvlink_shown != true || node.topology.incomplete) return {};
  std::map<std::int32_t, size_t> count;
  for (const topology::Relation& one : node.topology.relations) {
    if (one.link == topology::Link::NvLink) ++count[one.links];
  }
  if (count.empty()) return "no NVLink";
  std::vector<std::string> texts;
  for (const auto& [links, pairs] : count) texts.push_back(fmt::format("NV{} between {} pairs", links, pairs));
  return join(texts, ", ");
}

std::string driver_branch(const NodeFacts& node) { return node.nccl.host.driver.substr(0, node.nccl.host.driver.find('.')); }

bool is_library(const std::string& path) { return path.ends_with(".so") || path.find(".so.") != std::string::npos; }

// The file is named by what it is for, so that the same plugin in two places is one.
std::string digest_of(const NodeFacts& node, const std::string& path) {
  const auto file = node.nccl.host.files.find(path);
  if (file == node.nccl.host.files.end()) return {};
  return file->second.present == false ? "missing" : file->second.digest;
}

void compare_files(const Fleet& fleet, Findings& out) {
  std::set<std::string> paths;
  for (const auto& [name, facts] : fleet) {
    for (const auto& [path, file] : facts.nccl.host.files) paths.insert(path);
  }
  for (const std::string& path : paths) {
    if (is_library(path)) {
      compare(fleet, "NCCL415", path, fmt::format("{} differs", path), [&](const NodeFacts& node) { return digest_of(node, path); }, out);
      continue;
    }
    std::map<std::string, Fleet> by_type;  // a file describes one kind of machine
    for (const auto& [name, facts] : fleet) {
      if (digest_of(facts, path).empty()) continue;
      NodeFacts own;
      own.nccl.host.files = facts.nccl.host.files;
      by_type[facts.nccl.host.instance_type].emplace(name, std::move(own));
    }
    for (const auto& [type, nodes] : by_type) {
      compare(nodes, "NCCL417", path, fmt::format("{} differs{}", path, type.empty() ? "" : " inside " + type),
              [&](const NodeFacts& node) { return digest_of(node, path); }, out);
    }
  }
}

std::string_view kind_of(const Candidate& candidate) {
  if (rdma::is_loopback(candidate.address)) return "a loopback address";
  if (rdma::is_link_local(candidate.address)) return "a link-local address";
  return candidate.address.family == rdma::AddressFamily::Inet4 ? "an IPv4 address" : "an IPv6 address";
}

}  // namespace

void compare_software(const Fleet& fleet, Findings& out) {
  compare(fleet, "NCCL405", "NCCL", "the loaded NCCL differs", loaded, out);
  compare(fleet, "NCCL418", "GPU model", "the GPUs differ", models, out);
  compare(fleet, "NCCL418", "NVLink", "NVLink differs", nvlinks, out);
  compare(fleet, "NCCL418", "driver", "the driver's branch differs", driver_branch, out);
  compare_files(fleet, out);
}

void compare_bootstrap(const FleetGroup& group, Findings& out) {
  std::vector<Said> kinds;
  std::map<std::array<std::uint8_t, 16>, std::vector<std::string>> by_address;
  std::map<std::string, std::string> shown;
  for (const FleetNode& node : group.nodes) {
    const InterfaceChoice choice = interfaces_of(node.situation);
    if (!choice.known || choice.taken.empty()) continue;
    const Candidate& first = choice.taken.front();
    kinds.push_back({.node = node.name, .value = std::string(kind_of(first))});
    shown[node.name] = fmt::format("{} {}", first.interface->name, first.text);
    if (!rdma::is_loopback(first.address) && !rdma::is_link_local(first.address)) by_address[first.address.bytes].push_back(node.name);
  }
  const Split split = split_of(std::move(kinds));
  if (differs(split)) {
    Finding finding = finding_of_split("NCCL414", "bootstrap", "the bootstrap interfaces differ in kind", split);
    std::vector<std::string> places;
    for (const Side& side : split.sides) places.push_back(fmt::format("{} on {}", shown[side.nodes.front()], side.nodes.front()));
    finding.message += fmt::format(" ({})", join(places, ", "));
    out.push_back(std::move(finding));
  }
  for (const auto& [address, nodes] : by_address) {
    if (nodes.size() < 2) continue;
    Finding finding = diagnosis::finding_of("NCCL414", "bootstrap");
    finding.nodes = nodes;
    finding.seen = shown[nodes.front()];
    finding.message = fmt::format("{} bootstrap on the same address, {}: each reaches only itself", join_some(nodes, 4), finding.seen);
    out.push_back(std::move(finding));
  }
}

}  // namespace verl::nccl
