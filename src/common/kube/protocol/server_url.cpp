#include "kube/protocol/server_url.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/broken_invariant.h"
#include "base/text.h"
#include "kube/protocol/resource.h"

namespace verl::kube {
namespace {

tl::unexpected<Error> unusable(std::string_view text, std::string_view why) {
  return failure(ErrorCode::Invalid, fmt::format("server URL \"{}\": {}", escape_controls(shorten(text, 200)), why));
}

bool is_clean(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

std::string bracketed(const std::string& host) { return host.find(':') == std::string::npos ? host : "[" + host + "]"; }

}  // namespace

Result<ServerUrl> parse_server_url(std::string_view text) {
  if (!is_clean(text)) return unusable(text, "holds spaces or control characters");
  std::string_view rest = text;
  if (const size_t scheme = rest.find("://"); scheme != std::string_view::npos) {
    const std::string_view name = rest.substr(0, scheme);
    if (name == "http") return unusable(text, "plain http is not supported, since credentials would be readable on the way; use https");
    if (name != "https") return unusable(text, "the scheme must be https");
    rest.remove_prefix(scheme + 3);
  }
  rest = rest.substr(0, rest.find_first_of("?#"));
  const size_t slash = rest.find('/');
  std::string_view authority = rest.substr(0, slash);
  std::string prefix(slash == std::string_view::npos ? std::string_view{} : rest.substr(slash));
  while (!prefix.empty() && prefix.back() == '/') prefix.pop_back();
  if (authority.find('@') != std::string_view::npos) return unusable("(with a user name)", "user names in the URL are not supported");
  std::string_view host = authority;
  std::string_view port;
  if (!authority.empty() && authority.front() == '[') {
    const size_t close = authority.find(']');
    if (close == std::string_view::npos) return unusable(text, "the bracket is not closed");
    host = authority.substr(1, close - 1);
    const std::string_view after = authority.substr(close + 1);
    if (!after.empty() && after.front() != ':') return unusable(text, "something other than a port follows the bracket");
    if (!after.empty()) port = after.substr(1);
    if (after == ":") return unusable(text, "the port is empty");
  } else if (const size_t colon = authority.find(':'); colon != std::string_view::npos) {
    host = authority.substr(0, colon);
    port = authority.substr(colon + 1);
    if (port.find(':') != std::string_view::npos) return unusable(text, "an IPv6 address needs brackets");
    if (port.empty()) return unusable(text, "the port is empty");
  }
  if (host.empty()) return unusable(text, "the host is empty");
  ServerUrl url{.host = std::string(host), .path_prefix = std::move(prefix)};
  if (!port.empty()) {
    const std::optional<int> number = parse_int<int>(port);
    if (!number.has_value() || *number < 1 || *number > 65535) return unusable(text, "the port must be 1 to 65535");
    url.port = *number;
  }
  return url;
}

std::string to_string(const ServerUrl& url) {
  return fmt::format("https://{}:{}{}", bracketed(url.host), url.port, url.path_prefix);
}

std::string host_header(const ServerUrl& url) {
  return url.port == 443 ? bracketed(url.host) : fmt::format("{}:{}", bracketed(url.host), url.port);
}

std::string request_target(const ServerUrl& url, const Request& request) {
  std::string out = url.path_prefix + request.path;
  char separator = '?';
  for (const Header& pair : request.query) {
    out += separator;
    out += percent_encode(pair.name) + "=" + percent_encode(pair.value);
    separator = '&';
  }
  return out;
}

std::string_view to_string(Method method) {
  switch (method) {
    case Method::Get:
      return "GET";
    case Method::Post:
      return "POST";
    case Method::Put:
      return "PUT";
    case Method::Patch:
      return "PATCH";
    case Method::Delete:
      return "DELETE";
  }
  broken_invariant("a method outside its enumeration");
}

std::string header_fault(const Header& header) {
  if (header.name.empty() || !is_clean(header.name) || header.name.find(':') != std::string::npos) {
    return "a header's name is empty or holds characters that no header name may hold";
  }
  const bool clean = std::all_of(header.value.begin(), header.value.end(), [](char c) {
    return c == '\t' || (static_cast<unsigned char>(c) >= 0x20 && c != '\x7f');
  });
  return clean ? "" : "the value of header " + header.name + " holds control characters";
}

}  // namespace verl::kube
