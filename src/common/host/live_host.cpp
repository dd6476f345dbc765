#include "host/live_host.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <linux/magic.h>
#include <netinet/in.h>
#include <sys/timex.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>

namespace verl::host {
namespace {

class LiveHost final : public Host {
 public:
  LiveHost(LiveHostOptions options, FileRoot root) : options_(std::move(options)), root_(std::move(root)) {}

  Result<std::string> read_file(std::string_view path, Bytes limit) const override { return root_.read_file(path, limit); }
  Result<std::vector<std::string>> list_dir(std::string_view path) const override { return root_.list_dir(path); }
  Result<std::string> read_link(std::string_view path) const override { return root_.read_link(path); }
  Result<bool> is_directory(std::string_view path) const override { return root_.is_directory(path); }

  Timestamp now() const override { return SystemClock().now(); }

  Result<KernelClock> kernel_clock() const override {
    if (auto mine = about_this_machine("/proc", PROC_SUPER_MAGIC, "the clock"); !mine) return tl::unexpected(mine.error());
    timex answer{};
    const int state = ::adjtimex(&answer);
    if (state < 0) return failure(ErrorCode::Denied, fmt::format("asking the kernel's clock (adjtimex): {}", std::strerror(errno)));
    return KernelClock{.state = state,
                       .status = answer.status,
                       .max_error = Microseconds(answer.maxerror),
                       .estimated_error = Microseconds(answer.esterror),
                       .tai_offset = answer.tai};
  }

  Result<std::vector<InterfaceAddress>> addresses() const override {
    if (auto mine = about_this_machine("/proc", PROC_SUPER_MAGIC, "addresses"); !mine) return tl::unexpected(mine.error());
    ifaddrs* all = nullptr;
    if (::getifaddrs(&all) != 0) {
      return failure(ErrorCode::Unavailable, fmt::format("listing addresses (getifaddrs): {}", std::strerror(errno)));
    }
    std::vector<InterfaceAddress> found;
    for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
      if (one->ifa_addr == nullptr || one->ifa_name == nullptr) continue;
      std::array<char, INET6_ADDRSTRLEN> text{};
      const void* bytes = nullptr;
      sockaddr_in v4{};
      sockaddr_in6 v6{};
      if (one->ifa_addr->sa_family == AF_INET) {
        std::memcpy(&v4, one->ifa_addr, sizeof v4);
        bytes = &v4.sin_addr;
      } else if (one->ifa_addr->sa_family == AF_INET6) {
        std::memcpy(&v6, one->ifa_addr, sizeof v6);
        bytes = &v6.sin6_addr;
      } else {
        continue;
      }
      if (::inet_ntop(one->ifa_addr->sa_family, bytes, text.data(), text.size()) == nullptr) continue;
      found.push_back({.interface = one->ifa_name, .address = text.data()});
    }
    ::freeifaddrs(all);
    return found;
  }

  // Read at most every quarter of an hour: it costs the most of all and changes with the hardware only.
  Result<CpuTopology> cpu_topology() const override {
    if (auto mine = about_this_machine("/sys", SYSFS_MAGIC, "CPUs and NUMA nodes"); !mine) return tl::unexpected(mine.error());
    const auto now = std::chrono::steady_clock::now();
    if (topology_ && now - topology_read_ < std::chrono::minutes(15)) return *topology_;
    auto read = hwloc_topology();
    if (read) {
      topology_ = *read;
      topology_read_ = now;
    }
    return read;
  }

  Result<std::string> ask_chronyd(std::string_view request) const override {
    if (auto mine = about_this_machine("/proc", PROC_SUPER_MAGIC, "the clock"); !mine) return tl::unexpected(mine.error());
    return chronyd_exchange(request, options_);
  }

  Result<std::int32_t> active_mtu(std::string_view device, std::int32_t port) const override {
    return failure(ErrorCode::Unavailable,
                   fmt::format("the active MTU of {}/{} is not in sysfs and this build does not speak verbs", device, port));
  }

 private:
  // What is asked of the running kernel says something of the machine below the root only if that is this very machine. A proc
  // or sysfs that is mounted there is this kernel's own; a folder of copied files may be of any machine.
  Result<void> about_this_machine(std::string_view folder, std::uint64_t filesystem, std::string_view what) const {
    const auto mounted = root_.is_mounted(folder, filesystem);
    if (!mounted) return tl::unexpected(mounted.error());
    if (*mounted) return {};
    const std::string at = options_.root == "/" ? std::string(folder) : fmt::format("{}{}", options_.root, folder);
    return failure(ErrorCode::Unavailable, fmt::format("{} cannot be told: {} is not the {} of a running machine, and no recording says; mount the node's own {} there, or "
                                                       "give a folder that `verl-node-agent record` wrote", what, at, folder.substr(1), folder));
  }

  LiveHostOptions options_;
  FileRoot root_;
  mutable std::optional<CpuTopology> topology_{};  // one thread uses a host
  mutable std::chrono::steady_clock::time_point topology_read_{};
};

}  // namespace

Result<std::unique_ptr<Host>> live_host(const LiveHostOptions& options) {
  auto root = FileRoot::open(options.root);
  if (!root) return tl::unexpected(root.error());
  std::unique_ptr<Host> host = std::make_unique<LiveHost>(options, std::move(*root));
  return host;
}

}  // namespace verl::host
