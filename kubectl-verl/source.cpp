#include "kubectl-verl/source.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/text.h"
#include "kube/client/http_api.h"
#include "kube/protocol/user_agent.h"
#include "kubectl-verl/files.h"
#include "kubectl-verl/version.h"

namespace verl::cli {
namespace {

Result<void> apply_flags(Source& source, const Options& options) {
  core::ClusterSnapshot& snapshot = source.held.snapshot;
  if (!options.levels.empty()) snapshot.config.levels.clear();
  for (const std::string& level : options.levels) {
    const auto parts = split(level, '=');
    if (parts.size() != 2 || parts[0].empty() || parts[1].empty()) return failure(ErrorCode::Invalid, fmt::format("--level {}: wants NAME=LABEL", level));
    snapshot.config.levels.push_back({.name = std::string(parts[0]), .key = std::string(parts[1])});
  }
  if (!options.now.empty()) {
    const auto now = parse_rfc3339(options.now);
    if (!now) return failure(ErrorCode::Invalid, fmt::format("--now {}: wants a time like 2026-11-30T10:42:07Z", options.now));
    snapshot.now = *now;
    source.time_known = true;
    snapshot::complete(snapshot);
  }
  return {};
}

void assume_fresh(Source& source) {
  core::ClusterSnapshot& snapshot = source.held.snapshot;
  source.fresh_assumed = true;
  snapshot.heartbeats_known = true;
  for (const auto& node : snapshot.nodes) snapshot.heartbeat_age[node->meta.name] = Seconds{0};
}

}  // namespace

Result<nlohmann::json> read_live(const Options& options, const Edges& edges, Extent extent, std::string& origin, std::string& name_space) {
  const auto config = kube::load_client_config(options.kube, edges.environment);
  if (!config) return tl::unexpected<Error>(config.error());
  for (const std::string& warning : config->warnings) edges.err << "kubectl-verl: " << escape_controls(warning) << "\n";
  origin = config->origin;
  name_space = config->name_space;
  const auto api = kube::connect(*config, {.user_agent = kube::user_agent("kubectl-verl", kVersion)});
  if (!api) return tl::unexpected<Error>(api.error());
  const SystemClock clock;
  return take_snapshot(**api, {.operator_namespace = options.operator_namespace, .extent = extent}, clock, {}).map_error(context(config->origin));
}

Result<Source> load_source(const Options& options, const Edges& edges, Extent extent) {
  Source source{.name_space = options.kube.name_space.empty() ? "default" : options.kube.name_space};
  source.held.snapshot.heartbeats_known = false;
  source.held.snapshot.now = SystemClock().now();
  if (options.from.empty()) {
    if (options.assume_fresh) return failure(ErrorCode::Invalid, "--assume-fresh is for exports: a live cluster says when its agents were heard of");
    const auto document = read_live(options, edges, extent, source.origin, source.name_space);
    if (!document) return tl::unexpected<Error>(document.error());
    if (auto added = snapshot::add_document(source.held, *document); !added) return tl::unexpected<Error>(added.error());
    source.time_known = true;
    return source;
  }
  for (const std::string& path : options.from) {
    const auto text = read_whole(path);
    if (!text) return tl::unexpected<Error>(text.error());
    if (auto added = snapshot::add_export(source.held, *text).map_error(context(path)); !added) return tl::unexpected<Error>(added.error());
  }
  source.origin = join(options.from, ", ");
  source.time_known = source.held.snapshot.heartbeats_known;
  if (auto applied = apply_flags(source, options); !applied) return tl::unexpected<Error>(applied.error());
  if (options.assume_fresh) assume_fresh(source);
  return source;
}

std::string unread(const Source& source) {
  std::vector<std::string> sentences;
  for (const snapshot::NotRead& one : source.held.not_read) sentences.push_back(fmt::format("{}: {}", one.resource, one.why));
  return escape_controls(join(sentences, "; "));
}

}  // namespace verl::cli
