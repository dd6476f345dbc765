#include "kube/protocol/verbs.h"

#include <nlohmann/json.hpp>

#include "base/broken_invariant.h"

namespace verl::kube {
namespace {

using nlohmann::json;

// A list of 500 pods is a few mebibytes; single objects are bounded by etcd's 1.5 MiB.
constexpr Bytes kListBody{512 * kMiB.count};

std::string path_of(const Target& target) { return resource_path(target.resource, target.name_space, target.name, target.subresource); }

void add(Request& request, std::string name, std::string value) {
  if (!value.empty()) request.query.push_back(Header{.name = std::move(name), .value = std::move(value)});
}

Request write(Method method, const Target& target, std::string content_type, std::string body, const WriteOptions& options) {
  Request out{.method = method, .path = path_of(target), .content_type = std::move(content_type), .body = std::move(body)};
  add(out, "fieldManager", options.field_manager);
  if (options.dry_run) add(out, "dryRun", "All");
  if (options.strict) add(out, "fieldValidation", "Strict");
  return out;
}

}  // namespace

std::string describe(const Target& target) {
  std::string out = target.resource.plural;
  if (!target.subresource.empty()) out += "/" + target.subresource;
  if (target.name_space.empty() && target.name.empty()) return out;
  out += " ";
  if (!target.name_space.empty()) out += target.name_space + (target.name.empty() ? "" : "/");
  return out + target.name;
}

Request get_request(const Target& target) { return Request{.path = path_of(target)}; }

Request list_request(const Target& collection, const ListOptions& options) {
  Request out{.path = path_of(collection), .max_body = kListBody};
  if (options.limit > 0) add(out, "limit", std::to_string(options.limit));
  add(out, "continue", options.continue_token);
  if (options.continue_token.empty()) add(out, "resourceVersion", options.resource_version);
  add(out, "labelSelector", options.label_selector);
  add(out, "fieldSelector", options.field_selector);
  return out;
}

Request create_request(const Target& collection, std::string body, const WriteOptions& options) {
  return write(Method::Post, collection, "application/json", std::move(body), options);
}

Request replace_request(const Target& target, std::string body, const WriteOptions& options) {
  return write(Method::Put, target, "application/json", std::move(body), options);
}

Request apply_request(const Target& target, std::string body, const WriteOptions& options) {
  if (options.field_manager.empty()) broken_invariant("a server-side apply without a field manager");
  // JSON is YAML, and the one body type that every supported server takes for an apply.
  Request out = write(Method::Patch, target, "application/apply-patch+yaml", std::move(body), options);
  if (options.force) add(out, "force", "true");
  return out;
}

Request merge_patch_request(const Target& target, std::string patch, const WriteOptions& options) {
  return write(Method::Patch, target, "application/merge-patch+json", std::move(patch), options);
}

Request delete_request(const Target& target, const DeleteOptions& options) {
  json body = {{"kind", "DeleteOptions"}, {"apiVersion", "v1"}};
  if (!options.uid.empty()) body["preconditions"]["uid"] = options.uid;
  if (!options.resource_version.empty()) body["preconditions"]["resourceVersion"] = options.resource_version;
  if (!options.propagation.empty()) body["propagationPolicy"] = options.propagation;
  if (options.grace.has_value()) body["gracePeriodSeconds"] = options.grace->count();
  if (options.dry_run) body["dryRun"] = json::array({"All"});
  return Request{.method = Method::Delete, .path = path_of(target), .content_type = "application/json", .body = body.dump()};
}

}  // namespace verl::kube
