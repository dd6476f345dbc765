#include "operator/snapshot/assemble.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "codec/decode.h"
#include "operator/core/job_plan.h"
#include "operator/core/json_at.h"
#include "operator/snapshot/config.h"

namespace verl::snapshot {
namespace {

using core::ClusterSnapshot;
using core::Shared;
using nlohmann::json;

constexpr size_t kExportLimit = size_t{512} << 20;
constexpr int kMaxDepth = 64;

// nlohmann's documents are destroyed level by level on the stack, so depth is bounded before one is made.
bool nested_too_deep(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kMaxDepth) return true;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return false;
}

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

Result<void> read_lease(Export& into, const std::string& text, bool heartbeat, std::map<std::string, int>& skipped) {
  auto lease = codec::decode_object<api::Heartbeat>(text);
  if (!lease) return tl::unexpected<Error>(lease.error());
  // Only what lies where the operator looks counts: anybody may label a Lease of his own.
  if (lease->meta.name_space != into.snapshot.config.name_space) {
    ++skipped["Lease"];
    return {};
  }
  (heartbeat ? into.snapshot.heartbeats : into.leaders).push_back(std::make_shared<const api::Heartbeat>(std::move(*lease)));
  return {};
}

// The operator's own ConfigMap, whose namespace is where heartbeats lie.
Result<void> read_config_map(Export& into, const json& item, std::map<std::string, int>& skipped) {
  const json* text = core::json_at(item, {"data", "config.yaml"});
  const bool ours = text_at(item, {"metadata", "labels", "app.kubernetes.io/component"}) == "operator" && text != nullptr && text->is_string();
  if (!ours) {
    ++skipped["ConfigMap"];
    return {};
  }
  auto file = parse_config(text->get<std::string>());
  if (!file) return tl::unexpected<Error>(file.error());
  into.snapshot.config = std::move(file->config);
  into.snapshot.config.name_space = text_at(item, {"metadata", "namespace"});
  into.docs_url = std::move(file->docs_url);
  return {};
}

Result<void> read_item(Export& into, const json& item, std::map<std::string, int>& skipped) {
  ClusterSnapshot& snapshot = into.snapshot;
  const std::string kind = text_at(item, {"kind"});
  const std::string text = item.dump(-1, ' ', false, json::error_handler_t::replace);
  if (kind == "Node") return read_into(snapshot.nodes, text);
  if (kind == "Pod") return read_into(snapshot.pods, text);
  if (kind == "NodeReadiness") return read_into(snapshot.reports, text);
  if (kind == "ReadinessPolicy") return read_into(snapshot.policies, text);
  if (kind == "VerlJob") return read_into(snapshot.jobs, text);
  if (kind == "PriorityClass") return read_into(snapshot.priority_classes, text);
  if (kind == "ResourceQuota") return read_into(snapshot.quotas, text);
  // Only agents' Leases are labelled so; a leader election's is no heartbeat.
  if (kind == "Lease") return read_lease(into, text, text_at(item, {"metadata", "labels", "app.kubernetes.io/component"}) == "heartbeat", skipped);
  if (kind == "ConfigMap") return read_config_map(into, item, skipped);
  ++skipped[kind.empty() ? "(no kind)" : kind];
  return {};
}

Result<void> read_config(Export& into, const json& config) {
  core::Config& out = into.snapshot.config;
  std::vector<std::string> faults;
  if (const json* levels = core::json_at(config, {"levels"}); levels != nullptr && levels->is_array()) {
    out.levels.clear();
    for (const json& level : *levels) out.levels.push_back({.name = text_at(level, {"name"}), .key = text_at(level, {"key"})});
  }
  if (out.levels.size() > 8) faults.emplace_back("config.levels: at most 8");
  const auto number = [&](std::initializer_list<const char*> keys, const char* field, std::int64_t lowest, std::int64_t highest, std::int64_t otherwise) {
    const json* value = core::json_at(config, keys);
    if (value == nullptr) return otherwise;
    const bool whole = value->is_number_integer() && (!value->is_number_unsigned() || value->get<std::uint64_t>() <= static_cast<std::uint64_t>(highest));
    if (whole && value->get<std::int64_t>() >= lowest && value->get<std::int64_t>() <= highest) return value->get<std::int64_t>();
    faults.push_back(fmt::format("config.{}: must be a whole number from {} to {}", field, lowest, highest));
    return otherwise;
  };
  if (auto gpu = text_at(config, {"gpuResource"}); !gpu.empty()) out.gpu_resource = gpu;
  if (auto name_space = text_at(config, {"namespace"}); !name_space.empty()) out.name_space = name_space;
  if (auto docs = text_at(config, {"docsUrl"}); !docs.empty()) into.docs_url = docs;
  out.port_first = static_cast<std::int32_t>(number({"ports", "first"}, "ports.first", 1024, 32767, out.port_first));
  out.port_last = static_cast<std::int32_t>(number({"ports", "last"}, "ports.last", 1024, 32767, out.port_last));
  out.renewal_idle = Seconds{number({"heartbeat", "idleSeconds"}, "heartbeat.idleSeconds", 1, 3600, out.renewal_idle.count())};
  out.renewal_busy = Seconds{number({"heartbeat", "busySeconds"}, "heartbeat.busySeconds", 1, 3600, out.renewal_busy.count())};
  if (!faults.empty()) return failure(ErrorCode::Invalid, "the snapshot's configuration: " + join_some(faults, 4));
  return {};
}

template <class T>
void find_twice(const std::vector<Shared<T>>& sorted, const char* kind, std::vector<std::string>& twice) {
  for (size_t i = 1; i < sorted.size(); ++i) {
    const api::Meta& meta = sorted[i]->meta;
    if (meta.name != sorted[i - 1]->meta.name || meta.name_space != sorted[i - 1]->meta.name_space) continue;
    twice.push_back(escape_controls(fmt::format("{} {}{}{}", kind, meta.name_space, meta.name_space.empty() ? "" : "/", meta.name)));
  }
}

Result<void> refuse_twice(const ClusterSnapshot& snapshot) {
  std::vector<std::string> twice;
  find_twice(snapshot.nodes, "Node", twice);
  find_twice(snapshot.pods, "Pod", twice);
  find_twice(snapshot.reports, "NodeReadiness", twice);
  find_twice(snapshot.policies, "ReadinessPolicy", twice);
  find_twice(snapshot.jobs, "VerlJob", twice);
  find_twice(snapshot.priority_classes, "PriorityClass", twice);
  find_twice(snapshot.quotas, "ResourceQuota", twice);
  find_twice(snapshot.heartbeats, "Lease", twice);
  if (twice.empty()) return {};
  return failure(ErrorCode::Invalid, "the export holds the same object twice: " + join_some(twice, 4));
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
    // Date has whole seconds, so a renewal may seem a moment ahead; one that is further ahead proves nothing about now.
    constexpr Seconds kAhead{5};
    if (age < -kAhead) continue;
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
  if (nested_too_deep(json_text)) return failure(ErrorCode::Invalid, fmt::format("the export is nested more than {} levels deep", kMaxDepth));
  return add_document(into, json::parse(json_text, nullptr, false));
}

Result<void> add_document(Export& into, const json& root) {
  if (!root.is_object()) return failure(ErrorCode::Invalid, "the export is no JSON object; make one with `kubectl verl snapshot` or `kubectl get … -o json`");
  if (text_at(root, {"kind"}) == "ClusterSnapshot") {
    const auto date = parse_rfc3339(text_at(root, {"serverTime"}));
    if (!date) return failure(ErrorCode::Invalid, "the snapshot names no serverTime, so the age of nothing in it can be told");
    into.snapshot.now = *date;
    into.snapshot.heartbeats_known = true;
    if (const json* config = core::json_at(root, {"config"})) {
      if (auto read = read_config(into, *config); !read) return read;
    }
    if (const json* missing = core::json_at(root, {"notRead"}); missing != nullptr && missing->is_array()) {
      for (const json& one : *missing) into.not_read.push_back({.resource = text_at(one, {"resource"}), .why = text_at(one, {"why"})});
    }
    for (const NotRead& one : into.not_read) {
      if (one.resource.starts_with("leases")) into.snapshot.heartbeats_known = false;
    }
  }
  std::map<std::string, int> skipped;
  if (const json* items = core::json_at(root, {"items"}); items != nullptr && items->is_array()) {
    // The configuration first: it says whose Leases count.
    for (const bool configuration : {true, false}) {
      for (size_t i = 0; i < items->size(); ++i) {
        if ((text_at((*items)[i], {"kind"}) == "ConfigMap") != configuration) continue;
        auto read = read_item(into, (*items)[i], skipped).map_error(context(fmt::format("item {} of the export", i)));
        if (!read) return read;
      }
    }
  } else if (auto read = read_item(into, root, skipped); !read) {
    return read;
  }
  for (const auto& [name, count] : skipped) into.skipped.push_back(fmt::format("{} {}", count, escape_controls(name)));
  complete(into.snapshot);
  return refuse_twice(into.snapshot);
}

void assume_dry_runs(ClusterSnapshot& snapshot) {
  const Bytes memory = largest_memory_per_gpu(snapshot);
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
