// What an apiserver's refusal says, as a value, and what kind of failure it is for the caller.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kube/protocol/http.h"

namespace verl::kube {

struct StatusCause {
  std::string reason{};   // "FieldValueInvalid", "FieldManagerConflict"
  std::string field{};    // "spec.pools[0].nodes"
  std::string message{};
  bool operator==(const StatusCause&) const = default;
};

struct ApiStatus {
  int code{0};                       // the HTTP status
  std::string reason{};              // "NotFound", "AlreadyExists", "Conflict", "Invalid", "Forbidden"; "" when the body did not say
  std::string message{};             // shortened; of a body that is no Status, its beginning
  std::string object_name{};         // details.name: empty when the resource itself is what is missing
  std::vector<StatusCause> causes{};
  std::optional<Seconds> retry_after{};
  bool operator==(const ApiStatus&) const = default;
};

bool is_success(const Reply& reply);           // 2xx
ApiStatus decode_status(const Reply& reply);   // of a reply that is no success; never fails

// The kind that this resource path serves is unknown to the server (its CRD is not installed), as opposed to one object missing.
bool is_resource_absent(const ApiStatus& status);
bool is_already_exists(const ApiStatus& status);

struct FieldConflict {
  std::string manager{};
  std::string field{};
  bool operator==(const FieldConflict&) const = default;
};
std::vector<FieldConflict> field_conflicts(const ApiStatus& status);  // of a refused server-side apply

// One sentence: code, reason, message, and at most three causes with their fields.
std::string summary(const ApiStatus& status);

// 401, 403: Denied. 404: NotFound. 409: Conflict. 400, 422 and other 4xx: Invalid. 408, 504: Timeout. 429 and the other 5xx: Unavailable.
Error error_of(const ApiStatus& status, std::string_view doing);

// The reply when it is a success, otherwise its Status as an Error.
Result<Reply> expect_success(Result<Reply> reply, std::string_view doing);

}  // namespace verl::kube
