#include "kube/protocol/lease_record.h"

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>

namespace verl::kube {
namespace {

using nlohmann::json;

const json& object_at(const json& parent, const char* field) {
  static const json empty = json::object();
  const auto found = parent.find(field);
  return found != parent.end() && found->is_object() ? *found : empty;
}

std::string text_at(const json& parent, const char* field) {
  const auto found = parent.find(field);
  return found != parent.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

int int_at(const json& parent, const char* field) {
  const auto found = parent.find(field);
  if (found == parent.end() || !found->is_number_integer()) return 0;
  const auto value = found->get<std::int64_t>();
  return value < 0 || value > std::numeric_limits<int>::max() ? 0 : static_cast<int>(value);
}

}  // namespace

bool same_claim(const LeaseRecord& a, const LeaseRecord& b) {
  return a.uid == b.uid && a.holder == b.holder && a.duration_seconds == b.duration_seconds && a.acquire_time == b.acquire_time &&
         a.renew_time == b.renew_time && a.transitions == b.transitions;
}

Result<LeaseRecord> parse_lease(std::string_view text) {
  const json document = json::parse(text, nullptr, false);
  if (!document.is_object() || text_at(document, "kind") != "Lease") {
    return failure(ErrorCode::Invalid, "read a lease: the server sent something else");
  }
  const json& metadata = object_at(document, "metadata");
  const json& spec = object_at(document, "spec");
  LeaseRecord record{.holder = text_at(spec, "holderIdentity"),
                     .duration_seconds = int_at(spec, "leaseDurationSeconds"),
                     .acquire_time = text_at(spec, "acquireTime"),
                     .renew_time = text_at(spec, "renewTime"),
                     .transitions = int_at(spec, "leaseTransitions"),
                     .uid = text_at(metadata, "uid"),
                     .resource_version = text_at(metadata, "resourceVersion"),
                     .document = std::string(text)};
  if (record.resource_version.empty()) return failure(ErrorCode::Invalid, "read a lease: it has no resourceVersion");
  return record;
}

std::string render_lease(const LeaseRecord& record, std::string_view name_space, std::string_view name) {
  json document = json::parse(record.document, nullptr, false);
  if (!document.is_object()) document = json::object();
  document["apiVersion"] = api_version(kLeases);
  document["kind"] = kLeases.kind;
  if (!document["metadata"].is_object()) document["metadata"] = json::object();
  json& metadata = document["metadata"];
  metadata["name"] = name;
  metadata["namespace"] = name_space;
  metadata.erase("managedFields");
  if (record.resource_version.empty()) {
    metadata.erase("resourceVersion");
    metadata.erase("uid");
  } else {
    metadata["resourceVersion"] = record.resource_version;
  }
  if (!document["spec"].is_object()) document["spec"] = json::object();
  json& spec = document["spec"];
  spec["holderIdentity"] = record.holder;
  spec["leaseDurationSeconds"] = record.duration_seconds;
  spec["acquireTime"] = record.acquire_time;
  spec["renewTime"] = record.renew_time;
  spec["leaseTransitions"] = record.transitions;
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace verl::kube
