#include "kube/protocol/api_status.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace verl::kube {
namespace {

using nlohmann::json;

constexpr size_t kLongestMessage = 2048;
constexpr size_t kMostCauses = 64;

std::string text_at(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? shorten(found->get<std::string>(), kLongestMessage) : std::string{};
}

void read_details(ApiStatus& out, const json& details) {
  out.object_name = text_at(details, "name");
  if (const auto seconds = details.find("retryAfterSeconds"); seconds != details.end() && seconds->is_number_unsigned() && !out.retry_after) {
    out.retry_after = Seconds(std::min<std::uint64_t>(seconds->get<std::uint64_t>(), 86400));
  }
  const auto causes = details.find("causes");
  if (causes == details.end() || !causes->is_array()) return;
  for (const json& cause : *causes) {
    if (!cause.is_object() || out.causes.size() >= kMostCauses) continue;
    out.causes.push_back(StatusCause{.reason = text_at(cause, "reason"), .field = text_at(cause, "field"), .message = text_at(cause, "message")});
  }
}

ErrorCode code_of(int status) {
  if (status == 401 || status == 403) return ErrorCode::Denied;
  if (status == 404) return ErrorCode::NotFound;
  if (status == 409) return ErrorCode::Conflict;
  if (status == 408 || status == 504) return ErrorCode::Timeout;
  if (status == 429 || status >= 500) return ErrorCode::Unavailable;
  if (status >= 400) return ErrorCode::Invalid;
  return ErrorCode::Unknown;
}

}  // namespace

bool is_success(const Reply& reply) { return reply.status >= 200 && reply.status < 300; }

ApiStatus decode_status(const Reply& reply) {
  ApiStatus out{.code = reply.status, .retry_after = reply.retry_after};
  const json body = json::parse(reply.body, nullptr, false);
  if (!body.is_object() || text_at(body, "kind") != "Status") {
    out.message = escape_controls(shorten(trim(reply.body), 512));
    return out;
  }
  out.reason = text_at(body, "reason");
  out.message = text_at(body, "message");
  if (const auto details = body.find("details"); details != body.end() && details->is_object()) read_details(out, *details);
  return out;
}

bool is_resource_absent(const ApiStatus& status) { return status.code == 404 && status.object_name.empty(); }

bool is_already_exists(const ApiStatus& status) { return status.code == 409 && status.reason == "AlreadyExists"; }

std::vector<FieldConflict> field_conflicts(const ApiStatus& status) {
  std::vector<FieldConflict> out;
  for (const StatusCause& cause : status.causes) {
    if (cause.reason != "FieldManagerConflict") continue;
    const size_t first = cause.message.find('"');  // conflict with "kubectl" using v1
    const size_t last = first == std::string::npos ? first : cause.message.find('"', first + 1);
    std::string manager = last == std::string::npos ? cause.message : cause.message.substr(first + 1, last - first - 1);
    out.push_back(FieldConflict{.manager = std::move(manager), .field = cause.field});
  }
  return out;
}

std::string summary(const ApiStatus& status) {
  std::string out = status.reason.empty() ? fmt::format("{}", status.code) : fmt::format("{} ({})", status.reason, status.code);
  if (!status.message.empty()) out += ": " + escape_controls(status.message);
  size_t shown = 0;
  for (const StatusCause& cause : status.causes) {
    if (status.message.find(cause.message) != std::string::npos && status.message.find(cause.field) != std::string::npos) continue;
    if (++shown > 3) break;
    out += fmt::format("; {}: {}", escape_controls(cause.field), escape_controls(cause.message));
  }
  return out;
}

Error error_of(const ApiStatus& status, std::string_view doing) {
  return Error{.code = code_of(status.code), .message = fmt::format("{}: {}", doing, summary(status))};
}

Result<Reply> expect_success(Result<Reply> reply, std::string_view doing) {
  if (!reply.has_value() || is_success(*reply)) return reply;
  return tl::unexpected<Error>(error_of(decode_status(*reply), doing));
}

}  // namespace verl::kube
