// Puts a ClusterSnapshot together from what caches or files hold: sorted, with the age of every heartbeat reckoned on the
// server's clock. Decides nothing about the cluster itself.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "operator/core/model.h"

namespace verl::snapshot {

// Sorts everything and reckons heartbeat ages at snapshot.now. `now` is the apiserver's time, as its Date header tells it:
// the times it is compared with were stamped by the apiserver, so no other machine's clock matters.
// A heartbeat without a stamp has no age: its agent was never heard of.
void complete(core::ClusterSnapshot& snapshot);

// What people can export: a file of `kubectl verl snapshot`, or plain lists as `kubectl get … -o json` writes them.
struct Export {
  core::ClusterSnapshot snapshot{};
  std::vector<std::string> skipped{};  // kinds that decisions do not use, with their count
};

// Reads one JSON document. `snapshot.now` and freshness come from a snapshot file; a plain list has neither: freshness is
// then Unknown and `now` stays as given. At most 512 MiB.
Result<Export> read_export(std::string_view json, Timestamp now);

// Adds what another document holds.
Result<void> add_export(Export& into, std::string_view json);

// Stands in for the apiserver's dry run where there is none: the pod as rendered, taken for allowed. What only the server
// knows (PodSecurity, LimitRange, admission webhooks) is not seen.
void assume_dry_runs(core::ClusterSnapshot& snapshot);

}  // namespace verl::snapshot
