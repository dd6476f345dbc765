// Requests for the usual verbs, as pure functions. Bodies are JSON text; what they say is the caller's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kube/protocol/http.h"
#include "kube/protocol/resource.h"

namespace verl::kube {

// One object, or with an empty name the collection.
struct Target {
  Resource resource{};
  std::string name_space{};
  std::string name{};
  std::string subresource{};  // "status", "binding", "eviction"
  bool operator==(const Target&) const = default;
};

std::string describe(const Target& target);  // "pods/status rl/qwen-0": for messages

struct ListOptions {
  int limit{500};                      // 0: no paging
  std::string continue_token{};        // excludes resource_version
  std::string resource_version{};      // "": the newest; "0": whatever the server's cache holds
  std::string label_selector{};
  std::string field_selector{};
  bool operator==(const ListOptions&) const = default;
};

struct WriteOptions {
  std::string field_manager{};
  bool dry_run{false};
  bool force{false};                   // server-side apply only: take fields over from other managers
  bool strict{true};                   // unknown and duplicate fields are errors, not silently dropped
  bool operator==(const WriteOptions&) const = default;
};

struct DeleteOptions {
  std::string uid{};                   // preconditions: the object seen, at the version seen
  std::string resource_version{};
  std::string propagation{};           // "Background", "Foreground", "Orphan"; "": the kind's default
  std::optional<Seconds> grace{};
  bool dry_run{false};
  bool operator==(const DeleteOptions&) const = default;
};

Request get_request(const Target& target);
Request list_request(const Target& collection, const ListOptions& options);
Request create_request(const Target& collection, std::string body, const WriteOptions& options);
Request replace_request(const Target& target, std::string body, const WriteOptions& options);  // body carries metadata.resourceVersion
Request apply_request(const Target& target, std::string body, const WriteOptions& options);    // server-side apply; needs field_manager
Request merge_patch_request(const Target& target, std::string patch, const WriteOptions& options);
Request delete_request(const Target& target, const DeleteOptions& options);

}  // namespace verl::kube
