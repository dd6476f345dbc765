// What nccl_run.h gathered, as values for machines and as facts about hosts.
#include <algorithm>
#include <set>

#include "diagnosis/log/nccl_run.h"

namespace verl::log {
namespace {

using diagnosis::Evidence;
using diagnosis::Reading;
using diagnosis::Scalar;

void add(Reading& reading, std::string name, Scalar value, std::string unit = {}) {
  reading.values.push_back({.name = std::move(name), .value = std::move(value), .unit = std::move(unit)});
}

std::string numbered(const std::string& name, std::size_t index) { return name + "[" + std::to_string(index) + "]"; }

// ncclResult_t
std::string_view result_of(std::int64_t code) {
  switch (code) {
    case 0: return "success";
    case 1: return "unhandled CUDA error";
    case 2: return "system error";
    case 3: return "internal error";
    case 4: return "invalid argument";
    case 5: return "invalid usage";
    case 6: return "remote error";
    case 7: return "in progress";
    default: return "unknown";
  }
}

void add_interfaces(Reading& reading, const std::string& prefix, const std::vector<SocketInterface>& all) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    add(reading, numbered(prefix, i) + ".interface", all[i].name);
    add(reading, numbered(prefix, i) + ".address", all[i].address);
  }
}

// The network a process ended with; what it listed last stands in where an old version does not say.
std::string network_of(const ProcessState& process) { return process.network_said ? process.network : process.listed; }

std::string transport_of(const ProcessState& process) {
  const std::string network = network_of(process);
  if (network.empty()) return {};
  if (is_socket(network)) return "TCP sockets";
  if (!process.provider.empty()) return "libfabric (" + process.provider + ")";
  std::set<std::string> links;
  for (const NetDevice& one : process.rdma.devices) links.insert(one.link);
  if (links.size() == 1) return *links.begin() == "IB" ? "InfiniBand" : *links.begin();
  if (links.size() > 1) return "InfiniBand and RoCE";
  return network == "IB" ? "RDMA" : network;  // NCCL says IB for both
}

void write_process(Reading& reading, const ProcessState& process) {
  const std::string own = "process[" + name_of(process) + "].";
  if (!process.host.empty()) add(reading, own + "host", process.host);
  if (process.pid >= 0) add(reading, own + "pid", process.pid);
  const std::int32_t rank = process.tagged_rank >= 0 ? process.tagged_rank : process.rank;
  if (rank >= 0) add(reading, own + "rank", std::int64_t{rank});
  if (process.ranks > 0) add(reading, own + "ranks", process.ranks);
  if (process.devices.size() == 1) add(reading, own + "device", std::int64_t{process.devices.front()});
  for (std::size_t i = 0; process.devices.size() > 1 && i < process.devices.size(); ++i) add(reading, numbered(own + "device", i), std::int64_t{process.devices[i]});
  if (!process.version.nccl.empty()) add(reading, own + "nccl", process.version.nccl);
  if (!process.version.cuda.empty()) add(reading, own + "cuda", process.version.cuda);
  add_interfaces(reading, own + "bootstrap", process.bootstrap);
  if (process.bootstrap.empty() && !process.bootstrap_text.empty()) add(reading, own + "bootstrap", process.bootstrap_text);
  for (std::size_t i = 0; i < process.rdma.devices.size(); ++i) {
    add(reading, numbered(own + "hca", i) + ".name", process.rdma.devices[i].name);
    add(reading, numbered(own + "hca", i) + ".port", process.rdma.devices[i].port);
    add(reading, numbered(own + "hca", i) + ".link", process.rdma.devices[i].link);
  }
  if (!process.rdma.devices.empty()) {
    add(reading, own + "hcas", static_cast<std::int64_t>(process.rdma.devices.size()));
    add(reading, own + "relaxed_ordering", process.rdma.relaxed_ordering);
  }
  if (process.rdma.oob) {
    add(reading, own + "oob.interface", process.rdma.oob->name);
    add(reading, own + "oob.address", process.rdma.oob->address);
  }
  add_interfaces(reading, own + "socket", process.sockets);
  if (process.no_device) add(reading, own + "no_device_found", true);
  if (const std::string network = network_of(process); !network.empty()) add(reading, own + "network", network);
  if (const std::string transport = transport_of(process); !transport.empty()) add(reading, own + "transport", transport);
  if (!process.provider.empty()) add(reading, own + "provider", process.provider);
  if (process.provider_nics) add(reading, own + "provider_nics", *process.provider_nics);
  for (const PathCount& one : process.paths) add(reading, own + "channels[" + one.kind + (one.gdr ? "/GDRDMA" : "") + "]", one.count);
  for (std::size_t i = 0; i < process.channels.size(); ++i) {
    const Channel& channel = process.channels[i];
    const std::string name = numbered(own + "channel", i) + ".";
    add(reading, name + "number", std::int64_t{channel.number});
    add(reading, name + "from", std::int64_t{channel.from});
    add(reading, name + "to", std::int64_t{channel.to});
    if (!channel.direction.empty()) add(reading, name + "direction", channel.direction);
    add(reading, name + "via", channel.via);
  }
  if (process.channels_more > 0) add(reading, own + "channels_not_listed", process.channels_more);
  for (std::size_t i = 0; i < process.rings.size(); ++i) add(reading, numbered(own + "ring", i), process.rings[i]);
  if (!process.trees.empty()) add(reading, own + "trees", process.trees);
  if (process.rings_gdr) add(reading, own + "rings.gdr", *process.rings_gdr);
  if (process.rings_pxn) add(reading, own + "rings.pxn", *process.rings_pxn);
  for (const auto& [gpu, cpus] : process.affinity) add(reading, own + "affinity[GPU" + std::to_string(gpu) + "]", cpus);
  for (std::size_t i = 0; i < process.plugins.size(); ++i) add(reading, numbered(own + "plugin", i), process.plugins[i]);
  for (const auto& [name, value] : process.settings) add(reading, own + "env." + name, value);
  if (!process.channel_counts.empty()) add(reading, own + "channel_counts", process.channel_counts);
  if (process.completed > 0) add(reading, own + "initialised", process.completed);
  if (process.traces > 0) {
    add(reading, own + "trace_lines", process.traces);
    add(reading, own + "trace_code", process.trace_code);
    add(reading, own + "trace_result", std::string(result_of(process.trace_code)));
  }
}

Process fact_of(const ProcessState& process, const Version& banner) {
  Process fact;
  fact.name = name_of(process);
  fact.rank = process.rank >= 0 ? process.rank : process.tagged_rank;
  fact.network = network_of(process);
  fact.network_said = process.network_said;
  fact.network_at = process.network_said ? process.network_at : process.listed_at;
  if (is_socket(fact.network)) fact.fallback_at = process.no_device_at;
  fact.version = process.version.nccl.empty() ? banner.nccl : process.version.nccl;
  for (const PathCount& one : process.paths) {
    if (one.kind.starts_with("NET/")) {
      const bool socket = is_socket(one.kind.substr(4));
      (socket ? fact.socket_channels : fact.net_channels) += one.count;
      if (one.gdr) fact.gdr_channels += one.count;
    } else if (one.kind.starts_with("SHM")) {
      fact.shm_channels += one.count;
    } else if (one.kind.starts_with("P2P")) {
      fact.p2p_channels += one.count;
    }
  }
  if (process.rings_gdr) fact.gdr = *process.rings_gdr != 0;
  fact.path_at = process.host_bounce_at.line > 0 ? process.host_bounce_at : process.shm_at;
  return fact;
}

}  // namespace

std::vector<std::string> NcclRun::hosts() const {
  std::vector<std::string> all;
  std::set<std::string> known;
  for (const ProcessState& one : processes_) {
    if (!one.host.empty() && known.insert(one.host).second) all.push_back(one.host);
  }
  return all;
}

bool NcclRun::all_completed() const {
  bool any = false;
  for (const CommunicatorState& one : communicators_) {
    for (const std::uint8_t stage : one.stage) {
      if ((stage & 1U) != 0 && (stage & 2U) == 0) return false;
    }
  }
  for (const ProcessState& one : processes_) any = any || one.completed > 0;
  return any;
}

std::int64_t NcclRun::largest_nodes() const {
  std::int64_t ranks = 0;
  std::int64_t nodes = 0;
  for (const CommunicatorState& one : communicators_) {
    if (one.ranks < ranks) continue;
    nodes = one.ranks > ranks ? one.nodes : std::max(nodes, one.nodes);
    ranks = one.ranks;
  }
  return nodes;
}

std::vector<std::string> NcclRun::versions() const {
  std::vector<std::string> all;
  const auto keep = [&](const std::string& one) {
    if (!one.empty() && std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
  };
  for (const Version& one : banners_) keep(one.nccl);
  for (const ProcessState& one : processes_) keep(one.version.nccl);
  return all;
}

std::string NcclRun::version_of(const std::string& host) const {
  std::set<std::string> own;
  for (const ProcessState& one : processes_) {
    if ((host.empty() || one.host == host) && !one.version.nccl.empty()) own.insert(one.version.nccl);
  }
  // The banner has no header: it is of the whole run.
  if (own.empty()) {
    for (const Version& one : banners_) own.insert(one.nccl);
  }
  return own.size() == 1 ? *own.begin() : std::string();
}

void NcclRun::write_values(Reading& reading) const {
  const std::vector<std::string> all_hosts = hosts();
  for (std::size_t i = 0; i < all_hosts.size(); ++i) add(reading, numbered("host", i), all_hosts[i]);
  const std::vector<std::string> all_versions = versions();
  if (all_versions.size() == 1) add(reading, "nccl", all_versions.front());
  for (std::size_t i = 0; all_versions.size() > 1 && i < all_versions.size(); ++i) add(reading, numbered("nccl", i), all_versions[i]);
  std::set<std::string> cuda;
  std::set<std::string> networks;
  std::set<std::string> transports;
  for (const Version& one : banners_) cuda.insert(one.cuda);
  for (const ProcessState& one : processes_) {
    cuda.insert(one.version.cuda);
    networks.insert(network_of(one));
    transports.insert(transport_of(one));
  }
  for (std::set<std::string>* one : {&cuda, &networks, &transports}) one->erase("");
  if (cuda.size() == 1) add(reading, "cuda", *cuda.begin());
  if (networks.size() == 1) add(reading, "network", *networks.begin());
  if (transports.size() == 1) add(reading, "transport", *transports.begin());
  if (!processes_.empty()) add(reading, "processes", static_cast<std::int64_t>(processes_.size()));
  if (processes_more_ > 0) add(reading, "lines_of_more_processes", processes_more_);
  if (communicators_more_ > 0) add(reading, "lines_of_more_communicators", communicators_more_);
  for (const ProcessState& one : processes_) write_process(reading, one);
  for (const auto& [rank, place] : places_) {
    const std::string own = "rank[" + std::to_string(rank) + "].";
    add(reading, own + "host", place.host);
    add(reading, own + "pid", place.pid);
    add(reading, own + "device", place.device);
  }
  for (const CommunicatorState& one : communicators_) {
    const std::string name = "communicator[0x" + one.id + "].";
    add(reading, name + "ranks", one.ranks);
    if (one.nodes > 0) add(reading, name + "nodes", one.nodes);
    const auto count = [&](unsigned bit) { return static_cast<std::int64_t>(std::count_if(one.stage.begin(), one.stage.end(), [&](std::uint8_t stage) { return (stage & bit) != 0; })); };
    add(reading, name + "started", count(1));
    add(reading, name + "completed", count(2));
    for (std::size_t i = 0; i < one.channels.size(); ++i) {
      const auto said = std::count(one.channels_of_rank.begin(), one.channels_of_rank.end(), static_cast<std::uint8_t>(i + 1));
      add(reading, name + "channels[" + one.channels[i] + "]", static_cast<std::int64_t>(said));
    }
  }
}

std::vector<std::pair<std::string, Facts>> NcclRun::facts() const {
  const std::vector<std::string> all_hosts = hosts();
  const bool several = all_hosts.size() > 1;
  std::map<std::string, Facts> by_host;
  const Version banner = banners_.size() == 1 ? banners_.front() : Version{};
  for (const ProcessState& one : processes_) {
    Facts& facts = by_host[several ? one.host : ""];
    facts.processes.push_back(fact_of(one, banner));
    for (const auto& [name, value] : one.settings) facts.echoes.push_back({.name = name, .value = value, .process = name_of(one), .at = {}});
    // Which ranks share a host is known where all belong to one communicator.
    if (one.addresses.size() != 1) continue;
    const CommunicatorState& state = communicators_[one.addresses.front().second];
    for (const Channel& channel : one.channels) {
      const auto host_of = [&](std::int32_t rank) -> const std::string* {
        if (rank < 0 || static_cast<std::size_t>(rank) >= state.process_of_rank.size()) return nullptr;
        const std::int32_t process = state.process_of_rank[static_cast<std::size_t>(rank)];
        return process < 0 ? nullptr : &processes_[static_cast<std::size_t>(process)].host;
      };
      const std::string* from = host_of(channel.from);
      const std::string* to = host_of(channel.to);
      if (!channel.net || !from || !to || *from != *to) continue;
      ++facts.local_net;
      if (facts.local_net_at.line == 0) facts.local_net_at = channel.at;
    }
  }
  for (const CommunicatorState& state : communicators_) {
    std::map<std::string, Communicator> parts;
    for (std::size_t rank = 0; rank < state.process_of_rank.size(); ++rank) {
      if (state.process_of_rank[rank] < 0) continue;
      const std::string& host = processes_[static_cast<std::size_t>(state.process_of_rank[rank])].host;
      Communicator& part = parts[several ? host : ""];
      const auto number = static_cast<std::int32_t>(rank);
      if ((state.stage[rank] & 1U) != 0) part.started.push_back(number);
      if ((state.stage[rank] & 2U) != 0) part.completed.push_back(number);
      if (const std::uint8_t counts = state.channels_of_rank[rank]; counts > 0) part.channels[state.channels[counts - 1U]].push_back(number);
      const auto at = state.at.find(host);
      if (at != state.at.end() && part.at.line == 0) part.at = at->second;
    }
    for (auto& [host, part] : parts) {
      part.id = state.id;
      part.ranks = state.ranks;
      part.nodes = state.nodes;
      part.shared_id = true;
      by_host[host].communicators.push_back(std::move(part));
    }
  }
  return {by_host.begin(), by_host.end()};
}

}  // namespace verl::log
