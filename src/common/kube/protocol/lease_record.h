// A coordination.k8s.io/v1 Lease as leader election sees it, and its JSON. Who may hold it is decided by leader_step.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "kube/protocol/kinds.h"

namespace verl::kube {

using kinds::kLeases;

struct LeaseRecord {
  std::string holder{};            // empty: released
  int duration_seconds{0};
  std::string acquire_time{};      // text for people; never compared with a clock
  std::string renew_time{};
  int transitions{0};
  std::string uid{};
  std::string resource_version{};
  std::string document{};          // as the server sent it: labels and unknown fields survive our update
  bool operator==(const LeaseRecord&) const = default;
};

// Whether its holder wrote it again: metadata and unknown fields do not count.
bool same_claim(const LeaseRecord& a, const LeaseRecord& b);

Result<LeaseRecord> parse_lease(std::string_view json);

// The body to create or update it with; with the record's resource_version as precondition unless that is empty.
std::string render_lease(const LeaseRecord& record, std::string_view name_space, std::string_view name);

}  // namespace verl::kube
