// Records what the checks read: wraps a Host, remembers every answer, and writes them as a tree for TreeHost.
#pragma once

#include <memory>
#include <string>

#include "host/host.h"

namespace verl::host {

class Recorder final : public Host {
 public:
  explicit Recorder(const Host& inner);
  ~Recorder() override;

  Result<std::string> read_file(std::string_view path, Bytes limit) const override;
  Result<std::vector<std::string>> list_dir(std::string_view path) const override;
  Result<std::string> read_link(std::string_view path) const override;
  Result<bool> is_directory(std::string_view path) const override;
  Timestamp now() const override;
  Result<KernelClock> kernel_clock() const override;
  Result<std::vector<InterfaceAddress>> addresses() const override;
  Result<CpuTopology> cpu_topology() const override;
  Result<std::string> ask_chronyd(std::string_view request) const override;
  Result<std::int32_t> active_mtu(std::string_view device, std::int32_t port) const override;

  // Writes the tree below `directory`, which must be new or empty. Returns how many files it wrote.
  Result<int> write(const std::string& directory) const;

 private:
  struct Seen;
  const Host& inner_;
  std::unique_ptr<Seen> seen_;
};

}  // namespace verl::host
