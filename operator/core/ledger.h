// Who uses what on which node: pods that are bound or nominated, and ranks of placements that are written down but not yet
// seen as pods. A terminating pod counts until it is gone.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "operator/core/fit/fit.h"
#include "operator/core/model.h"

namespace verl::core {

struct RankNeeds;

class Ledger {
 public:
  explicit Ledger(const ClusterSnapshot& snapshot);

  const fit::NodeUse& use(std::string_view node) const;

  // Adds the ranks of a gang in `name_space` that have no pod among `pods` yet.
  void promise(const std::string& name_space, const std::vector<RankNeeds>& ranks, std::span<const api::Pod* const> pods);

  // Requests of pods that will be made in this namespace and that no ResourceQuota counts yet, one entry a pod.
  const std::vector<api::Resources>& promised_in(std::string_view name_space) const;

 private:
  std::map<std::string, std::vector<api::Resources>, std::less<>> unmade_{};
  fit::UseByNode uses_{};
};

// Pods of our jobs by the UID of their owner, and the two selections of them that decisions use.
using JobPods = std::map<std::string, std::vector<const api::Pod*>, std::less<>>;
JobPods pods_by_owner(const ClusterSnapshot& snapshot);
std::vector<const api::Pod*> owned_pods(const JobPods& pods, const api::VerlJob& job);
std::vector<const api::Pod*> current_pods(const JobPods& pods, const api::VerlJob& job);  // of the placement's attempt

}  // namespace verl::core
