// Why registering memory with an RDMA device failed for want of memory (ENOMEM of ibv_reg_mr): likely causes, the likeliest first.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace verl::kubernetes {

struct MemoryState {
  std::optional<std::int64_t> memlock_bytes{};  // of the process; -1: unlimited; nothing: not known
  std::optional<std::int64_t> total_bytes{};    // /proc/meminfo
  std::optional<std::int64_t> free_bytes{};
  std::optional<std::int64_t> cma_total_bytes{};
  std::optional<std::int64_t> cma_free_bytes{};
};

enum class RegistrationCause { LockedMemoryLimit, LowFreeMemory, DeviceLimits };

struct RankedCause {
  RegistrationCause cause{RegistrationCause::DeviceLimits};
  bool supported{false};  // a value at hand speaks for it; without one it is only possible
  std::string why{};      // with the values
  bool operator==(const RankedCause&) const = default;
};

// "MemFree: 1153434 kB" lines; lines of other names are passed over.
MemoryState memory_state(std::string_view meminfo, std::optional<std::int64_t> memlock_bytes);

// Never empty. A limit that is known to be unlimited is no cause that is certain: it comes last.
std::vector<RankedCause> registration_causes(const MemoryState& state);

}  // namespace verl::kubernetes
