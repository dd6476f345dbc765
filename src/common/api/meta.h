// The part of object metadata that decisions use.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace verl::api {

constexpr std::string_view kGroup = "verl.run";
constexpr std::string_view kVersion = "v1alpha1";

// Labels on everything made for a job; values fit 63 characters because the CRD bounds the job's name.
constexpr std::string_view kJobNameLabel = "verl.run/job-name";
constexpr std::string_view kAttemptLabel = "verl.run/attempt";
constexpr std::string_view kRankLabel = "verl.run/rank";
constexpr std::string_view kPoolLabel = "verl.run/pool";

using Labels = std::map<std::string, std::string>;

struct Meta {
  std::string name_space{};  // empty for cluster-scoped kinds
  std::string name{};
  std::string uid{};
  std::string resource_version{};  // opaque: compared for equality only
  std::int64_t generation{0};
  Labels labels{};
  Timestamp created{};
  std::optional<Timestamp> deleted{};  // metadata.deletionTimestamp
  bool operator==(const Meta&) const = default;
};

}  // namespace verl::api
