// Reads a live cluster once, by paged LISTs, into the document that `kubectl verl snapshot` writes and `--from` reads.
// What may not be read is recorded in the document, so that what follows from it is Unknown and not silently absent.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <stop_token>
#include <string>

#include "base/time.h"
#include "kube/protocol/http.h"

namespace verl::cli {

enum class Extent {
  Readiness,  // nodes, reports, policies, heartbeats
  Everything  // also jobs, pods, priority classes, quotas
};

struct TakeOptions {
  std::string operator_namespace{};  // empty: where the operator's ConfigMap is found, else verl-system
  Extent extent{Extent::Everything};
};

// Never a Secret. Left out of objects: managed fields (but those of Leases, which tell when a heartbeat came), the last applied
// configuration, environments of pods and images of nodes. `clock` only stands in when no answer carries a Date.
Result<nlohmann::json> take_snapshot(kube::Api& api, const TakeOptions& options, const Clock& clock, std::stop_token stop);

}  // namespace verl::cli
