// Where decisions get their snapshot from: a live cluster or exported files. Says what could not be read.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "kubectl-verl/options.h"
#include "kubectl-verl/take_snapshot.h"
#include "operator/snapshot/assemble.h"

namespace verl::cli {

struct Source {
  snapshot::Export held{};
  std::string origin{};      // "context kind of /home/a/.kube/config", "nodes.json"
  std::string name_space{};  // what -n or the kubeconfig says; "default"
  bool fresh_assumed{false};
  bool time_known{false};    // `now` is the apiserver's, or was given
};

Result<Source> load_source(const Options& options, const Edges& edges, Extent extent);

// The document itself, for `snapshot`.
Result<nlohmann::json> read_live(const Options& options, const Edges& edges, Extent extent, std::string& origin, std::string& name_space);

// One sentence about every kind that could not be listed; empty when all could.
std::string unread(const Source& source);

}  // namespace verl::cli
