#include "diagnosis/log/nccl_run.h"

#include <algorithm>
#include <charconv>
#include <type_traits>

#include "base/text.h"
#include "diagnosis/log/scan.h"

namespace verl::log {
namespace {

using diagnosis::Evidence;

constexpr std::size_t kFew = 16;       // of things a process has a handful of
constexpr std::size_t kSettings = 64;  // echoed variables of a process
constexpr std::size_t kRings = 64;

template <class K, class V>
void remember(std::vector<std::pair<K, V>>& known, const std::type_identity_t<K>& key, const std::type_identity_t<V>& value) {
  const auto found = std::find_if(known.begin(), known.end(), [&](const auto& one) { return one.first == key; });
  if (found != known.end()) {
    found->second = value;
    return;
  }
  if (known.size() >= kFew) known.erase(known.begin());
  known.emplace_back(key, value);
}

void set_once(std::vector<std::string>& known, std::string_view text) {
  if (known.size() < kFew && std::find(known.begin(), known.end(), text) == known.end()) known.emplace_back(shorten(text, 2000));
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::string name_of(const ProcessState& process) {
  if (!process.host.empty()) return process.pid < 0 ? process.host : process.host + ":" + std::to_string(process.pid);
  return process.devices.empty() ? "unknown" : "device " + std::to_string(process.devices.front());
}

Evidence NcclRun::evidence(const Line& line) const {
  return {.source = source_, .line = line.number, .text = shorten(line.text, diagnosis::kEvidenceBytes)};
}

// Text of another writer may be glued to the host: "0gpu-c3:22710:22961" where gpu-c3:22710 is known.
std::string_view NcclRun::known_host(const Line& line) const {
  if (!line.torn || by_key_.contains(KeyView{line.host, line.pid})) return line.host;
  for (const ProcessState& one : processes_) {
    if (one.pid == line.pid && !one.host.empty() && line.host.ends_with(one.host)) return line.host.substr(line.host.size() - one.host.size());
  }
  return line.host;
}

ProcessState* NcclRun::process_of(const Line& line) {
  const std::string_view host = known_host(line);
  // Without a header the device is all that tells processes apart.
  const std::int64_t pid = host.empty() ? std::int64_t{-2} - line.device : line.pid;
  if (last_ < processes_.size() && processes_[last_].host == host && (host.empty() ? false : processes_[last_].pid == pid)) {
    // the same writer as before, most often
  } else if (const auto found = by_key_.find(KeyView{host, pid}); found != by_key_.end()) {
    last_ = found->second;
  } else {
    if (processes_.size() >= kProcesses) {
      ++processes_more_;
      return nullptr;
    }
    last_ = static_cast<std::uint32_t>(processes_.size());
    by_key_.emplace(Key{std::string(host), pid}, last_);
    processes_.emplace_back();
    processes_.back().host = std::string(host);
    processes_.back().pid = host.empty() ? -1 : pid;
  }
  ProcessState& process = processes_[last_];
  if (line.rank >= 0) process.tagged_rank = line.rank;
  if (line.device >= 0 && process.devices.size() < kFew && std::find(process.devices.begin(), process.devices.end(), line.device) == process.devices.end()) {
    process.devices.push_back(line.device);
  }
  return &process;
}

void NcclRun::note_version(const Line& line, ProcessState* process) {
  const auto rest = after(line.message, "NCCL version ");
  const auto version = rest ? read_version(*rest) : std::nullopt;
  if (!version) return;
  if (process) {
    process->version = *version;
    return;
  }
  if (banner_at_.line == 0) banner_at_ = evidence(line);
  if (banners_.size() < kFew && std::find(banners_.begin(), banners_.end(), *version) == banners_.end()) banners_.push_back(*version);
}

bool NcclRun::note_rank(const Line& line) {
  const std::string_view message = line.message;
  if (!message.starts_with('#')) return false;
  const auto rank = number_after(message, " Rank ");
  const auto pid = number_after(message, " Pid ");
  const auto device = number_after(message, " device ");
  const auto host = after(message, " on ");
  if (!rank || !pid || !device || !host || *rank < 0 || places_.size() >= kProcesses) return false;
  places_[*rank] = {.host = shorten(word_at(*host), 253), .pid = *pid, .device = *device};
  return true;
}

void NcclRun::note_channel(const Line& line, ProcessState& process) {
  const auto path = read_channel(line.message);
  if (!path) {
    // "Channel 00/02 :    0   1": the order of a ring.
    const std::size_t colon = line.message.find(" :");
    if (colon != std::string_view::npos && line.message.find("->") == std::string_view::npos && process.rings.size() < kRings) {
      process.rings.push_back(shorten(trim(line.message.substr(colon + 2)), 1000));
    }
    return;
  }
  const auto same = std::find_if(process.paths.begin(), process.paths.end(), [&](const PathCount& one) { return one.gdr == path->gdr && one.kind == path->kind; });
  if (same != process.paths.end()) {
    same->count += line.times;
  } else if (process.paths.size() < kFew) {
    process.paths.push_back({.kind = std::string(path->kind), .gdr = path->gdr, .count = line.times});
  }
  if (path->net && !path->gdr && process.host_bounce_at.line == 0) process.host_bounce_at = evidence(line);
  if (path->kind.starts_with("SHM") && process.shm_at.line == 0) process.shm_at = evidence(line);
  if (process.channels.size() >= kChannelsPerProcess || channels_ >= kChannels) {
    ++process.channels_more;
    return;
  }
  ++channels_;
  Channel channel;
  channel.number = path->number;
  channel.from = path->from;
  channel.to = path->to;
  channel.device = path->device;
  channel.direction = std::string(path->direction);
  channel.via = shorten(path->via, 100);
  channel.net = path->net;
  if (path->net) channel.at = evidence(line);
  process.channels.push_back(std::move(channel));
}

std::optional<std::uint32_t> NcclRun::communicator(std::string_view id, std::int64_t ranks) {
  const std::string key(id);
  if (const auto found = communicator_by_id_.find(key); found != communicator_by_id_.end()) return found->second;
  if (communicators_.size() >= kCommunicators) {
    ++communicators_more_;
    return std::nullopt;
  }
  CommunicatorState state;
  state.id = key;
  state.ranks = ranks;
  const std::size_t kept = std::min(static_cast<std::size_t>(ranks), kRanks - ranks_);
  ranks_ += kept;
  state.process_of_rank.assign(kept, -1);
  state.stage.assign(kept, 0);
  state.channels_of_rank.assign(kept, 0);
  communicators_.push_back(std::move(state));
  const auto index = static_cast<std::uint32_t>(communicators_.size() - 1);
  communicator_by_id_.emplace(key, index);
  return index;
}

void NcclRun::note_communicator(const Line& line, ProcessState& process) {
  const auto read = read_communicator(line.message);
  if (!read) return;
  if (read->ranks > process.ranks) {
    process.ranks = read->ranks;
    process.rank = read->rank;
  }
  if (read->stage == "Init COMPLETE") ++process.completed;
  std::uint64_t address = 0;
  std::from_chars(read->address.data(), read->address.data() + read->address.size(), address, 16);
  std::optional<std::uint32_t> index;
  if (!read->id.empty()) {
    index = communicator(read->id, read->ranks);
    if (index) {
      remember(process.addresses, address, *index);
      remember(process.threads, line.tid, {*index, read->rank});
    }
  } else {
    const auto known = std::find_if(process.addresses.begin(), process.addresses.end(), [&](const auto& one) { return one.first == address; });
    if (known != process.addresses.end()) index = known->second;
  }
  if (!index) return;
  CommunicatorState& state = communicators_[*index];
  if (read->nodes > 0) state.nodes = std::max(state.nodes, read->nodes);
  const auto rank = static_cast<std::size_t>(read->rank);
  if (rank >= state.stage.size()) return;
  state.process_of_rank[rank] = static_cast<std::int32_t>(&process - processes_.data());
  if (read->stage == "Init START") state.stage[rank] |= 1U;
  if (read->stage == "Init COMPLETE") state.stage[rank] |= 2U;
  if (read->stage.starts_with("Abort")) state.stage[rank] |= 4U;
  if (!state.at.contains(process.host) && state.at.size() < 1024) state.at[process.host] = evidence(line);
}

// "16 coll channels, 0 collnet channels, 16 nvls channels, 16 p2p channels, 2 p2p channels per peer"
void NcclRun::note_counts(const Line& line, ProcessState& process) {
  const std::string counts = shorten(line.message, 200);
  const auto known = std::find_if(process.threads.begin(), process.threads.end(), [&](const auto& one) { return one.first == line.tid; });
  if (known == process.threads.end()) {
    process.channel_counts = process.channel_counts.empty() || process.channel_counts == counts ? counts : "several";
    return;
  }
  CommunicatorState& state = communicators_[known->second.first];
  const auto rank = static_cast<std::size_t>(known->second.second);
  if (rank >= state.channels_of_rank.size()) return;
  auto place = std::find(state.channels.begin(), state.channels.end(), counts);
  if (place == state.channels.end()) {
    if (state.channels.size() >= kFew) return;
    place = state.channels.insert(state.channels.end(), counts);
  }
  state.channels_of_rank[rank] = static_cast<std::uint8_t>(place - state.channels.begin() + 1);
}

void NcclRun::note_net(const Line& line, ProcessState& process) {
  const std::string_view message = line.message;
  if (message.find("No device found") != std::string_view::npos) {
    process.no_device = true;
    if (process.no_device_at.line == 0) process.no_device_at = evidence(line);
    return;
  }
  if (message.starts_with("NET/OFI ")) {
    if (auto provider = after(message, "rovider is ")) {
      process.provider = std::string(word_at(*provider));
      process.provider_nics = number_after(*provider, "found ");
    }
    if (message.find("Initializing") != std::string_view::npos || message.find("rovider") != std::string_view::npos) set_once(process.plugins, message.substr(8));
    return;
  }
  const auto devices = after(message, "Using ");
  const std::size_t name_end = message.find_first_of(" :");
  if (!devices || !devices->starts_with('[') || name_end == std::string_view::npos || name_end < 5) {
    if (message.starts_with("NET/Plugin")) set_once(process.plugins, message);
    return;
  }
  const std::string_view name = message.substr(4, name_end - 4);
  if (name == "Socket" || name == "FastSocket") {
    process.sockets = read_interfaces(*devices);
    process.sockets_at = evidence(line);
    process.listed = std::string(name);
    process.listed_at = process.sockets_at;
    return;
  }
  NetDevices read = read_net_devices(*devices);
  if (read.devices.empty()) return;  // 2.24 prints an empty list after "No device found."
  process.rdma = std::move(read);
  process.rdma_net = std::string(name);
  process.listed = std::string(name);
  process.listed_at = evidence(line);
}

bool NcclRun::note(const Line& line, ProcessState& process) {
  const std::string_view message = line.message;
  if (message.empty()) return false;
  switch (message.front()) {
    case 'C':
      if (message.starts_with("Channel ")) return note_channel(line, process), true;
      if (message.starts_with("Connected all rings")) {
        if (const auto gdr = number_after(message, " GDR ")) process.rings_gdr = gdr;
        if (const auto pxn = number_after(message, " PXN ")) process.rings_pxn = pxn;
        return true;
      }
      return message.starts_with("Connected") || message.starts_with("CollNet");
    case 'R':
      if (message.starts_with("Ring ")) return note_channel(line, process), true;
      return false;
    case 'T':
      if (message.starts_with("Trees ")) {
        if (process.trees.empty()) process.trees = shorten(message.substr(6), 500);
        return true;
      }
      return false;
    case 'B':
      if (message.starts_with("Bootstrap")) {
        const auto rest = after(message, "Using ");
        if (!rest) return false;
        process.bootstrap = read_interfaces(*rest);
        process.bootstrap_text = shorten(*rest, 200);
        process.bootstrap_at = evidence(line);
        return true;
      }
      return false;
    case 'U':
      if (message.starts_with("Using network")) {
        const std::string_view name = trim(message.substr(13));
        if (name.empty()) return false;
        process.network = shorten(name, 80);
        process.network_said = true;
        process.network_at = evidence(line);
        return true;
      }
      return false;
    case 'S':
      if (message.starts_with("Set")) {  // "Setting affinity for GPU 1 to ff,…"
        const auto gpu = number_after(message, "affinity for GPU ");
        const auto mask = after(message, " to ");
        if (!gpu || !mask || *gpu < 0 || *gpu > 1024) return false;
        remember(process.affinity, static_cast<std::int32_t>(*gpu), read_affinity(*mask));
        return true;
      }
      if (message.starts_with("Successfully loaded external")) return set_once(process.plugins, message), true;
      return false;
    case 'P':
      if (message.starts_with("P2P plugin ") || message.starts_with("Plugin Path")) return set_once(process.plugins, message), true;
      return false;
    case 'I':
    case 'A':
      if (message.starts_with("Initialized NET plugin ") || message.starts_with("Assigned NET plugin ")) return set_once(process.plugins, message), true;
      return message.starts_with("Init timings");
    case 'N': {
      if (message.starts_with("NET/")) return note_net(line, process), true;
      if (message.starts_with("NCCL version ")) return note_version(line, &process), true;
      if (!message.starts_with("NCCL_")) return false;
      const std::size_t name = message.find(' ');
      std::size_t value = message.find(" set by environment to ");
      std::size_t skip = 23;
      if (value == std::string_view::npos) {
        value = message.find(" set to ");
        skip = 8;
      }
      if (name == std::string_view::npos || value != name) return false;
      std::string_view text = message.substr(value + skip);
      // Integers are echoed with a final dot, names without.
      if (text.ends_with('.') && text.size() > 1 && number_at(text) && std::all_of(text.begin() + 1, text.end() - 1, is_digit)) text.remove_suffix(1);
      std::string variable(message.substr(0, name));
      const auto known = std::find_if(process.settings.begin(), process.settings.end(), [&](const auto& one) { return one.first == variable; });
      if (known != process.settings.end()) {
        known->second = shorten(text, 2000);
      } else if (process.settings.size() < kSettings && variable.size() < 80) {
        process.settings.emplace_back(std::move(variable), shorten(text, 2000));
      }
      return true;
    }
    case 'c':
    case 'n':
    case '[':
      if (message.find("comm 0x") != std::string_view::npos) return note_communicator(line, process), true;
      return message.starts_with("cudaDriverVersion");
    case 'F':
      // "Failed to open libibverbs.so[.1]": no devices either; the cause tables know it too.
      if (message.find("libibverbs") != std::string_view::npos && process.no_device_at.line == 0) process.no_device_at = evidence(line);
      return false;
    default:
      if (is_digit(message.front()) && message.find(" coll channels") != std::string_view::npos) return note_counts(line, process), true;
      if (const std::size_t arrow = message.rfind(" -> "); arrow != std::string_view::npos && arrow + 6 >= message.size()) {
        ++process.traces;
        process.trace_code = number_at(message.substr(arrow + 4)).value_or(0);
        return true;
      }
      return false;
  }
}

}  // namespace verl::log
