// What single INFO messages of NCCL say, from 2.4 to 2.32. Pure readers of one message; the state of a run is in nccl_run.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnosis/log/interfaces.h"

namespace verl::log {

struct NetDevice {
  std::string name{};   // "mlx5_3"
  std::int64_t port{0};
  std::string link{};   // "IB", "RoCE", "UNSPECIFIED"
  bool operator==(const NetDevice&) const = default;
};

// "NET/IB : Using [0]mlx5_3:1/IB [1]mlx5_0:1/RoCE [RO]; OOB ib1:192.0.2.111<0>", merged NICs "[0]={[0] a:1/RoCE, [1] b:1/RoCE}".
struct NetDevices {
  std::vector<NetDevice> devices{};  // in the order of the line
  bool relaxed_ordering{false};
  std::optional<SocketInterface> oob{};
  bool operator==(const NetDevices&) const = default;
};
NetDevices read_net_devices(std::string_view text);  // what follows "Using "

// "Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/0/GDRDMA"; views into the message.
struct ChannelPath {
  std::int32_t number{-1};
  std::int32_t from{-1};
  std::int32_t to{-1};
  std::string_view direction{};  // "send", "receive", or nothing
  std::string_view kind{};       // "NET/IB", "P2P/CUMEM", "SHM", without device and flags
  std::int32_t device{-1};       // of NET
  bool net{false};
  bool gdr{false};
  std::string_view via{};        // all after "via "
};
std::optional<ChannelPath> read_channel(std::string_view message);

// "ff,ffff0000,00ffffff" (32-bit words, most significant first) as "0-23,48-71"; a list of CPUs stays as it is. Empty: not readable.
std::string read_affinity(std::string_view mask);

// "NCCL version 2.21.5+cuda12.4": what follows "version ".
struct Version {
  std::string nccl{};
  std::string cuda{};  // empty: not said
  bool operator==(const Version&) const = default;
};
std::optional<Version> read_version(std::string_view text);

// "ncclCommInitRank comm 0x5580 rank 1 nranks 2 … nNodes 2 … commId 0x71b0 - Init COMPLETE"
struct CommunicatorLine {
  std::string_view address{};
  std::string_view id{};          // commId without "0x"; empty: not printed
  std::int32_t rank{-1};
  std::int64_t ranks{0};
  std::int64_t nodes{0};
  std::string_view stage{};       // "Init START", "Init COMPLETE", "Abort COMPLETE", or nothing
};
std::optional<CommunicatorLine> read_communicator(std::string_view message);

// Does a record end before its value, so that the next line continues it?
bool is_cut_short(std::string_view message);

}  // namespace verl::log
