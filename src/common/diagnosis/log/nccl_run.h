// What NCCL did, as its INFO lines tell, process by process: version, interfaces, devices, the network it ended with, the path of
// every channel, communicators. Memory is bounded; what does not fit is counted and said. What failed stands in events.h.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "diagnosis/log/facts.h"
#include "diagnosis/log/line.h"
#include "diagnosis/log/nccl_message.h"
#include "diagnosis/reading.h"

namespace verl::log {

constexpr std::size_t kProcesses = 8192;
constexpr std::size_t kChannelsPerProcess = 256;
constexpr std::size_t kChannels = 32768;
constexpr std::size_t kCommunicators = 2048;
constexpr std::size_t kRanks = 1U << 20;  // of all communicators together whose ranks are told apart

struct PathCount {
  std::string kind{};
  bool gdr{false};
  std::int64_t count{0};
};

struct Channel {
  std::int32_t number{0};
  std::int32_t from{0};
  std::int32_t to{0};
  std::int32_t device{-1};
  std::string direction{};
  std::string via{};
  bool net{false};
  diagnosis::Evidence at{};
};

struct ProcessState {
  std::string host{};
  std::int64_t pid{-1};
  std::int32_t tagged_rank{-1};
  std::int32_t rank{-1};
  std::int64_t ranks{0};
  std::vector<std::int32_t> devices{};
  Version version{};
  std::vector<SocketInterface> bootstrap{};
  std::string bootstrap_text{};
  diagnosis::Evidence bootstrap_at{};
  std::string rdma_net{};                // "IB": the plugin that listed the devices
  NetDevices rdma{};
  bool no_device{false};
  diagnosis::Evidence no_device_at{};
  std::vector<SocketInterface> sockets{};
  diagnosis::Evidence sockets_at{};
  std::string network{};
  bool network_said{false};
  diagnosis::Evidence network_at{};
  std::string listed{};                  // the last network that listed devices: what a version without "Using network" uses
  diagnosis::Evidence listed_at{};
  std::vector<PathCount> paths{};
  std::vector<Channel> channels{};
  std::int64_t channels_more{0};
  diagnosis::Evidence host_bounce_at{};
  diagnosis::Evidence shm_at{};
  std::optional<std::int64_t> rings_gdr{};
  std::optional<std::int64_t> rings_pxn{};
  std::vector<std::pair<std::int32_t, std::string>> affinity{};  // GPU, CPUs
  std::vector<std::string> rings{};
  std::string trees{};
  std::vector<std::string> plugins{};    // what plugins said of themselves
  std::string provider{};                // libfabric provider
  std::optional<std::int64_t> provider_nics{};
  std::vector<std::pair<std::string, std::string>> settings{};
  std::vector<std::pair<std::uint64_t, std::uint32_t>> addresses{};  // communicator by its address, latest last
  std::vector<std::pair<std::int64_t, std::pair<std::uint32_t, std::int32_t>>> threads{};  // communicator and rank that it initialises
  std::string channel_counts{};          // of a version whose communicators have no id
  std::int64_t completed{0};             // Init COMPLETE lines
  std::int64_t traces{0};                // "file.cc:12 -> 2" lines
  std::int64_t trace_code{0};            // the last of them: ncclResult_t
};

class NcclRun {
 public:
  explicit NcclRun(std::string source) : source_(std::move(source)) {}

  // The state of the process that wrote the line; nullptr when too many are known. The pointer is valid until the next call.
  ProcessState* process_of(const Line& line);
  // Takes an INFO line in. False: a message that says nothing we keep.
  bool note(const Line& line, ProcessState& process);
  void note_version(const Line& line, ProcessState* process);  // banner without header: process is nullptr
  bool note_rank(const Line& line);  // "#  Rank  8 Group  0 Pid  30 on  host device  0 [0x10] NAME" of nccl-tests

  const std::vector<ProcessState>& processes() const { return processes_; }
  std::vector<std::string> hosts() const;  // in order of appearance
  std::int64_t processes_more() const { return processes_more_; }
  bool all_completed() const;              // every process that began an initialisation ended one
  std::int64_t largest_nodes() const;      // nodes of the largest communicator, 0: not said

  void write_values(diagnosis::Reading& reading) const;
  // By host; "" for all together when there is at most one.
  std::vector<std::pair<std::string, Facts>> facts() const;
  std::string version_of(const std::string& host) const;  // loaded NCCL; empty: not said, or several
  std::vector<std::string> versions() const;

 private:
  struct CommunicatorState {
    std::string id{};
    std::int64_t ranks{0};
    std::int64_t nodes{0};
    std::vector<std::int32_t> process_of_rank{};  // -1: not seen
    std::vector<std::uint8_t> stage{};            // bit 0 started, bit 1 completed, bit 2 aborted
    std::vector<std::string> channels{};          // "16 coll channels, …"
    std::vector<std::uint8_t> channels_of_rank{};  // index + 1; 0: not said
    std::map<std::string, diagnosis::Evidence> at{};  // by host
  };
  struct Key {
    std::string host{};
    std::int64_t pid{0};
  };
  struct KeyView {
    std::string_view host{};
    std::int64_t pid{0};
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(const KeyView& key) const { return std::hash<std::string_view>{}(key.host) * 31 + static_cast<std::size_t>(key.pid); }
    std::size_t operator()(const Key& key) const { return (*this)(KeyView{key.host, key.pid}); }
  };
  struct Same {
    using is_transparent = void;
    template <class A, class B>
    bool operator()(const A& a, const B& b) const { return a.pid == b.pid && std::string_view(a.host) == std::string_view(b.host); }
  };

  diagnosis::Evidence evidence(const Line& line) const;
  std::string_view known_host(const Line& line) const;
  void note_channel(const Line& line, ProcessState& process);
  void note_communicator(const Line& line, ProcessState& process);
  void note_counts(const Line& line, ProcessState& process);
  void note_net(const Line& line, ProcessState& process);
  std::optional<std::uint32_t> communicator(std::string_view id, std::int64_t ranks);

  std::string source_;
  std::vector<ProcessState> processes_{};
  std::unordered_map<Key, std::uint32_t, Hash, Same> by_key_{};
  std::uint32_t last_{UINT32_MAX};
  std::int64_t processes_more_{0};
  std::size_t channels_{0};
  std::size_t ranks_{0};
  std::vector<CommunicatorState> communicators_{};
  std::unordered_map<std::string, std::uint32_t> communicator_by_id_{};
  std::int64_t communicators_more_{0};
  std::vector<Version> banners_{};
  struct RankPlace {
    std::string host{};
    std::int64_t pid{0};
    std::int64_t device{0};
  };
  std::map<std::int64_t, RankPlace> places_{};
  diagnosis::Evidence banner_at_{};
};

// "host:pid", "host", "device 1" or "unknown": as it stands in the names of values.
std::string name_of(const ProcessState& process);

}  // namespace verl::log
