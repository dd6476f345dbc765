// Where an apiserver is, and how a Request becomes the request line and Host header for it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "kube/protocol/http.h"

namespace verl::kube {

struct ServerUrl {
  std::string host{};         // name or address, an IPv6 address without brackets
  int port{443};
  std::string path_prefix{};  // "" or "/k8s/clusters/c-1", never with a slash at its end
  bool operator==(const ServerUrl&) const = default;
};

// Accepts https only: over plain http every token would be readable on the way. Query and fragment are dropped, as kubectl
// does; user names in the URL are refused. "host:6443" without a scheme is https.
Result<ServerUrl> parse_server_url(std::string_view text);

std::string to_string(const ServerUrl& url);    // "https://[::1]:6443/prefix"
std::string host_header(const ServerUrl& url);  // "[::1]:6443"; the port is left out when it is 443

// "/prefix/api/v1/pods?limit=500&continue=a%2Bb"
std::string request_target(const ServerUrl& url, const Request& request);

std::string_view to_string(Method method);  // "GET"

// What makes a header unfit to be sent. A line break inside a value would add headers of its own.
std::string header_fault(const Header& header);  // "" when it is fine

}  // namespace verl::kube
