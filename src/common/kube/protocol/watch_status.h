// Reads the Status object of a failed list or watch: as much of it as the reflector's decisions need.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace verl::kube {

struct WatchStatus {
  int code{0};
  std::string reason{};                     // "Expired", "Forbidden"
  std::string message{};                    // shortened to 512 bytes
  bool version_too_large{false};            // asked for a version the server has not reached yet
  std::optional<Seconds> retry_after{};     // details.retryAfterSeconds
  bool operator==(const WatchStatus&) const = default;
};

// `http_status` fills in what the body does not say; pass 0 for the ERROR event of a watch.
WatchStatus parse_watch_status(std::string_view body, int http_status);

bool is_expired(const WatchStatus& status);  // 410, or reason Expired or Gone

}  // namespace verl::kube
