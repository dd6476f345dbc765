// Puts a ClusterSnapshot together from what caches or files hold: sorted, with the age of every heartbeat reckoned on the
// server's clock. Decides nothing about the cluster itself.
#pragma once

#include <nlohmann/json_fwd.hpp>
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
struct NotRead {  // a kind that whoever made the export could not list
  std::string resource{};  // "leases.coordination.k8s.io"
  std::string why{};
  bool operator==(const NotRead&) const = default;
};

struct Export {
  core::ClusterSnapshot snapshot{};
  std::vector<std::string> skipped{};  // kinds that decisions do not use, with their count
  std::vector<core::Shared<api::Heartbeat>> leaders{};  // Leases in the operator's namespace that are no agent's heartbeat
  std::vector<NotRead> not_read{};
  std::string docs_url{};
};

// Reads one JSON document. `snapshot.now` and freshness come from a snapshot file; a plain list has neither: freshness is
// then Unknown and `now` stays as given. At most 512 MiB. Levels and the like come from a snapshot's `config`, or from the
// operator's ConfigMap among the items. The same object twice is refused: nobody could say which one holds.
Result<Export> read_export(std::string_view json, Timestamp now);

// Adds what another document holds.
Result<void> add_export(Export& into, std::string_view json);
Result<void> add_document(Export& into, const nlohmann::json& document);  // the same, parsed already

// Stands in for the apiserver's dry run where there is none: the pod as rendered, taken for allowed. What only the server
// knows (PodSecurity, LimitRange, admission webhooks) is not seen.
void assume_dry_runs(core::ClusterSnapshot& snapshot);

}  // namespace verl::snapshot
