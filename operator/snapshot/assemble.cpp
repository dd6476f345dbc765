#include "operator/snapshot/assemble.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "codec/decode.h"
#include "operator/core/job_plan.h"
#include "operator/core/json_at.h"

namespace verl::snapshot {
namespace {

using core::ClusterSnapshot;
using core::Shared;
using nlohmann::json;

constexpr size_t kExportLimit = size_t{512} << 20;

template <class T>
void sort_by_name(std::vector<Shared<T>>& objects) {
  std::sort(objects.begin(), objects.end(), [](const auto& a, const auto& b) {
    if (a->meta.name_space != b->meta.name_space) return a->meta.name_space < b->meta.name_space;
    return a->meta.name < b->meta.name;
  });
}

template <class T>
Result<void> read_into(std::vector<Shared<T>>& objects, const std::string& text) {
  auto object = codec::decode_object<T>(text);
  if (!object) return tl::unexpected<Error>(object.error());
  objects.push_back(std::make_shared<const T>(std::move(*object)));
  return {};
}

std::string text_at(const json& item, std::initializer_list<const char*> keys) {
  const json* value = core::json_at(item, keys);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

Result<void> read_item(ClusterSnapshot& snapshot, const json& item, std::map<std::string, int>& skipped) {
  const std::string kind = text_at(item, {"kind"});
  const std::string text = item.dump(-1, ' ', false, json::error_handler_t::replace);
  if (kind == "Node") return read_into(snapshot.nodes, text);
  if (kind == "Pod") return read_into(snapshot.pods, text);
  if (kind == "NodeReadiness") return read_into(snapshot.reports, text);
  if (kind == "ReadinessPolicy") return read_into(snapshot.policies, text);
  if (kind == "VerlJob") return read_into(snapshot.jobs, text);
  if (kind == "PriorityClass") return read_into(snapshot.priority_classes, text);
  if (kind == "ResourceQuota") return read_into(snapshot.quotas, text);
  if (kind == "Lease") {
    // Only agents' Leases are labelled so; a leader election's is no heartbeat.
    if (text_at(item, {"metadata", "labels", "app.kubernetes.io/component"}) == "heartbeat") return read_into(snapshot.heartbeats, text);
  }
  ++skipped[kind.empty() ? "(no kind)" : kind];
  return {};
}

Result<void> read_config(ClusterSnapshot& snapshot, const json& config) {
  if (const json* levels = core::json_at(config, {"levels"}); levels != nullptr && levels->is_array()) {
    for (const json& level : *levels) snapshot.config.levels.push_back({.name = text_at(level, {"name"}), .key = text_at(level, {"key"})});
  }
  const auto number = [&](std::initializer_list<const char*> keys, std::int64_t otherwise) {
    const json* value = core::json_at(config, keys);
    return value != nullptr && value->is_number_integer() ? value->get<std::int64_t>() : otherwise;
  };
  if (auto gpu = text_at(config, {"gpuResource"}); !gpu.empty()) snapshot.config.gpu_resource = gpu;
  if (auto name_space = text_at(config, {"namespace"}); !name_space.empty()) snapshot.config.name_space = name_space;
  snapshot.config.port_first = static_cast<std::int32_t>(number({"ports", "first"}, snapshot.config.port_first));
  snapshot.config.port_last = static_cast<std::int32_t>(number({"ports", "last"}, snapshot.config.port_last));
  snapshot.config.renewal_idle = Seconds{number({"heartbeat", "idleSeconds"}, snapshot.config.renewal_idle.count())};
  snapshot.config.renewal_busy = Seconds{number({"heartbeat", "busySeconds"}, snapshot.config.renewal_busy.count())};
  return {};
}

}  // namespace

void complete(ClusterSnapshot& snapshot) {
  sort_by_name(snapshot.nodes);
  sort_by_name(snapshot.pods);
  sort_by_name(snapshot.reports);
  sort_by_name(snapshot.policies);
  sort_by_name(snapshot.jobs);
  sort_by_name(snapshot.priority_classes);
  sort_by_name(snapshot.quotas);
  sort_by_name(snapshot.heartbeats);
  snapshot.heartbeat_age.clear();
  for (const auto& heartbeat : snapshot.heartbeats) {
    if (!heartbeat->renewed || heartbeat->holder.empty()) continue;
    const auto age = std::chrono::floor<Seconds>(snapshot.now - *heartbeat->renewed);
    snapshot.heartbeat_age[heartbeat->meta.name] = std::max(age, Seconds{0});
  }
}

Result<Export> read_export(std::string_view json_text, Timestamp now) {
  Export out{};
  out.snapshot.now = now;
  out.snapshot.heartbeats_known = false;
  if (auto added = add_export(out, json_text); !added) return tl::unexpected<Error>(added.error());
  return out;
}

Result<void> add_export(Export& into, std::string_view json_text) {
  if (json_text.size() > kExportLimit) return failure(ErrorCode::TooLarge, fmt::format("the export has {} bytes, at most {} are read", json_text.size(), kExportLimit));
  const json root = json::parse(json_text, nullptr, false);
  if (!root.is_object()) return failure(ErrorCode::Invalid, "the export is no JSON object; make one with `kubectl verl snapshot` or `kubectl get … -o json`");
  const std::string kind = text_at(root, {"kind"});
  if (kind == "ClusterSnapshot") {
    const auto date = parse_rfc3339(text_at(root, {"serverTime"}));
    if (!date) return failure(ErrorCode::Invalid, "the snapshot names no serverTime, so the age of nothing in it can be told");
    into.snapshot.now = *date;
    into.snapshot.heartbeats_known = true;
    if (const json* config = core::json_at(root, {"config"})) {
      if (auto read = read_config(into.snapshot, *config); !read) return read;
    }
  }
  std::map<std::string, int> skipped;
  if (const json* items = core::json_at(root, {"items"}); items != nullptr && items->is_array()) {
    for (size_t i = 0; i < items->size(); ++i) {
      auto read = read_item(into.snapshot, (*items)[i], skipped).map_error(context(fmt::format("item {} of the export", i)));
      if (!read) return read;
    }
  } else if (auto read = read_item(into.snapshot, root, skipped); !read) {
    return read;
  }
  for (const auto& [name, count] : skipped) into.skipped.push_back(fmt::format("{} {}", count, escape_controls(name)));
  complete(into.snapshot);
  return {};
}

void assume_dry_runs(ClusterSnapshot& snapshot) {
  Bytes memory{};
  for (const auto& policy : snapshot.policies) memory = std::max(memory, policy->spec.memory_per_gpu.value_or(Bytes{}));
  for (const auto& job : snapshot.jobs) {
    auto& runs = snapshot.dry_runs[job->meta.uid];
    if (!runs.empty()) continue;
    for (const auto& [pool, manifest] : core::dry_run_pods(snapshot.config, *job, memory).pods) {
      const auto pod = codec::decode_object<api::Pod>(manifest);
      if (!pod) continue;
      runs.push_back({.job_generation = job->meta.generation, .asked = snapshot.now, .pool = pool, .allowed = true, .requests = pod->requests});
    }
  }
}

}  // namespace verl::snapshot
