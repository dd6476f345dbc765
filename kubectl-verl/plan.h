// What would be decided about one job now, by the decision code of the operator itself, and why every node is in or out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/verl_job.h"
#include "kubectl-verl/source.h"

namespace verl::cli {

enum class Place { Chosen, Fit, LeftOut };

struct NodeAnswer {
  std::string name{};
  Place place{Place::LeftOut};
  bool unknown{false};    // left out because nobody can tell, not because it is known to be unfit
  bool mendable{false};   // only its readiness keeps it out
  std::string reason{};
  std::string message{};
  bool operator==(const NodeAnswer&) const = default;
};

struct DomainAnswer {
  std::string name{};  // empty: the label is missing
  std::vector<NodeAnswer> nodes{};
  bool operator==(const DomainAnswer&) const = default;
};

struct PlanAnswer {
  api::VerlJob job{};
  bool placed_before{false};  // the placement stands in the job's status already
  bool ended{false};          // the job has finished, well or not: `reason` says how, and no placement is given
  bool searched{false};       // nodes were looked at; otherwise something comes before that, and `reason` says what
  bool refused{false};        // by the job's own status the apiserver did not take pods of this spec, so a placement alone starts nothing
  std::optional<api::Placement> placement{};
  std::string reason{};
  std::string message{};
  std::string smallest_change{};
  std::string level{};                    // that `domains` are of; empty: no level is configured
  std::vector<DomainAnswer> domains{};    // only where nodes were looked at
  std::vector<std::string> notes{};       // what this answer takes for granted
  std::optional<Timestamp> time{};
  std::string source{};
  bool operator==(const PlanAnswer&) const = default;
};

// The answer for a job of the snapshot. Dry runs are assumed to have passed.
PlanAnswer plan_of(const Source& source, const std::string& uid);

// Whether the job runs there, or would start there.
bool fits(const PlanAnswer& answer);

// What the operator wrote about the job: the words of its columns and the message that goes with them. Empty phase: nothing yet.
struct OwnWords {
  std::string phase{};
  std::string reason{};
  std::string message{};
  bool operator==(const OwnWords&) const = default;
};

OwnWords own_words(const api::VerlJob& job);

// Puts a job that is only in a file into the snapshot, in place of the one of that name if there is one. Returns its UID.
std::string suppose(Source& source, api::VerlJob job);

// The job named "name" or "namespace/name".
Result<api::VerlJob> find_job(const Source& source, const std::string& name);

// As it would stand in status.placement, in the operator's own words; "null" without one.
std::string placement_json(const api::VerlJob& job, const std::optional<api::Placement>& placement);

}  // namespace verl::cli
