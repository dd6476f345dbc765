#include "kube/client/resolve.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

namespace verl::kube {
namespace {

struct Lookup {
  std::mutex mutex{};
  std::condition_variable_any changed{};
  bool done{false};
  int error{0};
  std::vector<std::string> addresses{};
};

void look_up(const std::string& host, Lookup& lookup) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), nullptr, &hints, &found);
  std::vector<std::string> addresses;
  for (const addrinfo* entry = found; entry != nullptr; entry = entry->ai_next) {
    char text[NI_MAXHOST] = {};
    if (getnameinfo(entry->ai_addr, entry->ai_addrlen, text, sizeof text, nullptr, 0, NI_NUMERICHOST) == 0) addresses.emplace_back(text);
  }
  if (found != nullptr) freeaddrinfo(found);
  const std::lock_guard lock(lookup.mutex);
  lookup.error = error;
  lookup.addresses = std::move(addresses);
  lookup.done = true;
  lookup.changed.notify_all();
}

}  // namespace

bool is_address_literal(const std::string& host) {
  in6_addr six{};
  in_addr four{};
  return inet_pton(AF_INET6, host.c_str(), &six) == 1 || inet_pton(AF_INET, host.c_str(), &four) == 1;
}

Result<std::vector<std::string>> resolve(const std::string& host, std::chrono::milliseconds limit, std::stop_token stop) {
  if (is_address_literal(host)) return std::vector<std::string>{host};
  const auto lookup = std::make_shared<Lookup>();
  std::thread([host, lookup] { look_up(host, *lookup); }).detach();
  std::unique_lock lock(lookup->mutex);
  if (!lookup->changed.wait_for(lock, stop, limit, [&] { return lookup->done; })) {
    if (stop.stop_requested()) return failure(ErrorCode::Cancelled, "stopped while looking up " + host);
    return failure(ErrorCode::Timeout, "the name " + host + " was not resolved in time; is the name server reachable?");
  }
  if (lookup->addresses.empty()) {
    return failure(ErrorCode::Unavailable, "the name " + host + " has no address: " + gai_strerror(lookup->error));
  }
  return lookup->addresses;
}

}  // namespace verl::kube
