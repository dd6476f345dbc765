#include "kube/protocol/watch_status.h"

#include <nlohmann/json.hpp>

#include "base/text.h"

namespace verl::kube {
namespace {

using nlohmann::json;

std::string text_at(const json& object, const char* field) {
  const auto found = object.find(field);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

int int_at(const json& object, const char* field) {
  const auto found = object.find(field);
  if (found == object.end() || !found->is_number_integer()) return 0;
  const auto value = found->get<std::int64_t>();
  return value > 0 && value < 1'000'000 ? static_cast<int>(value) : 0;
}

}  // namespace

WatchStatus parse_watch_status(std::string_view body, int http_status) {
  constexpr std::size_t kMostRead = 64 * 1024;
  WatchStatus status{.code = http_status};
  const json document = body.size() > kMostRead ? json{} : json::parse(body, nullptr, false);
  if (!document.is_object() || text_at(document, "kind") != "Status") {
    status.message = shorten(escape_controls(body.substr(0, 512)), 512);
    return status;
  }
  if (const int code = int_at(document, "code"); code != 0) status.code = code;
  status.reason = text_at(document, "reason");
  status.message = shorten(escape_controls(text_at(document, "message")), 512);
  status.version_too_large = status.message.find("Too large resource version") != std::string::npos;
  const auto details = document.find("details");
  if (details == document.end() || !details->is_object()) return status;
  if (const int seconds = int_at(*details, "retryAfterSeconds"); seconds != 0) status.retry_after = Seconds{seconds};
  const auto causes = details->find("causes");
  if (causes == details->end() || !causes->is_array()) return status;
  for (const auto& cause : *causes) {
    if (cause.is_object() && text_at(cause, "reason") == "ResourceVersionTooLarge") status.version_too_large = true;
  }
  return status;
}

bool is_expired(const WatchStatus& status) {
  return status.code == 410 || status.reason == "Expired" || status.reason == "Gone";
}

}  // namespace verl::kube
