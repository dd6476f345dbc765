// What the checks may ask of the machine they judge. Every answer is a value or an Error; nothing here judges.
// LiveHost asks the real machine, TreeHost a recorded one, and the checks cannot tell which.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "base/units.h"

namespace verl::host {

// adjtimex with modes 0 (kernel/time/ntp.c). `state` 5 is TIME_ERROR: the kernel calls itself unsynchronised.
struct KernelClock {
  int state{5};
  std::int64_t status{0};  // STA_ bits; 0x40 is STA_UNSYNC
  Microseconds max_error{0};
  Microseconds estimated_error{0};
  std::int64_t tai_offset{0};  // seconds
  bool operator==(const KernelClock&) const = default;
};

struct InterfaceAddress {
  std::string interface{};
  std::string address{};  // without prefix length or zone
  bool operator==(const InterfaceAddress&) const = default;
};

struct NumaNode {
  std::int32_t os_index{0};
  std::string cpus{};  // "0-47,96-143"; empty for a memory-only node
  std::int64_t memory_bytes{0};
  bool operator==(const NumaNode&) const = default;
};

struct CpuTopology {
  std::int32_t sockets{0};
  std::int32_t cores{0};
  std::int32_t cpus{0};
  std::int64_t memory_bytes{0};
  std::vector<NumaNode> numa_nodes{};  // by OS index
  bool operator==(const CpuTopology&) const = default;
};

constexpr Bytes kMaxFile{64 * kKiB.count};
constexpr size_t kMaxDirectoryEntries = 4096;

class Host {
 public:
  virtual ~Host() = default;

  // Paths are absolute as on the machine itself ("/sys/class/net/eth0/mtu"). A symbolic link never leads out of the
  // machine's root. NotFound: no such file. Denied: may not read. TooLarge: more than `limit`. Unavailable: the kernel
  // refused (the speed of a link that is down, for one).
  virtual Result<std::string> read_file(std::string_view path, Bytes limit = kMaxFile) const = 0;
  virtual Result<std::vector<std::string>> list_dir(std::string_view path) const = 0;  // names, sorted
  virtual Result<std::string> read_link(std::string_view path) const = 0;              // the link's own text
  // Whether the folder is there; an Error when one cannot tell. "No such file" means something only where this is true.
  virtual Result<bool> is_directory(std::string_view path) const = 0;

  virtual Timestamp now() const = 0;  // the machine's wall clock; of a recorded machine, the time of the recording
  virtual Result<KernelClock> kernel_clock() const = 0;
  virtual Result<std::vector<InterfaceAddress>> addresses() const = 0;
  virtual Result<CpuTopology> cpu_topology() const = 0;
  // One request to chronyd's command port and its answer, within a second. NotFound: nobody listens.
  virtual Result<std::string> ask_chronyd(std::string_view request) const = 0;
  // MTU that an RDMA port really uses, by verbs. Not in sysfs, so often Unavailable.
  virtual Result<std::int32_t> active_mtu(std::string_view device, std::int32_t port) const = 0;
};

}  // namespace verl::host
