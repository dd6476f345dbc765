// Units live in types: a bare number never says what it counts.
#pragma once

#include <compare>
#include <cstdint>

namespace verl {

struct Bytes {
  std::int64_t count{0};
  auto operator<=>(const Bytes&) const = default;
};

// Thousandths, as Kubernetes counts CPU: 1 core is 1000.
struct MilliCores {
  std::int64_t count{0};
  auto operator<=>(const MilliCores&) const = default;
};

struct GigabitsPerSecond {
  double count{0};
  auto operator<=>(const GigabitsPerSecond&) const = default;
};

constexpr Bytes kKiB{1024};
constexpr Bytes kMiB{1024 * 1024};
constexpr Bytes kGiB{1024LL * 1024 * 1024};

}  // namespace verl
