#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "host/live_host.h"

namespace verl::host {
namespace {

constexpr int kDeadlineMilliseconds = 1000;

// A datagram socket with, for the unix kind, the name that chronyd answers to.
class Datagram final {
 public:
  explicit Datagram(int fd, std::string own_path = {}) : fd_(fd), own_path_(std::move(own_path)) {}
  ~Datagram() {
    if (fd_ >= 0) ::close(fd_);
    if (!own_path_.empty()) ::unlink(own_path_.c_str());
  }
  Datagram(const Datagram&) = delete;
  Datagram& operator=(const Datagram&) = delete;

  Result<std::string> exchange(std::string_view request, std::string_view peer) const {
    if (::send(fd_, request.data(), request.size(), MSG_NOSIGNAL) < 0) return refused(peer, errno);
    pollfd waiting{.fd = fd_, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&waiting, 1, kDeadlineMilliseconds);
    if (ready < 0) return refused(peer, errno);
    if (ready == 0) return failure(ErrorCode::Timeout, fmt::format("asking chronyd at {}: no answer within 1 s", peer));
    std::array<char, 2048> answer{};
    const ssize_t got = ::recv(fd_, answer.data(), answer.size(), 0);
    if (got < 0) return refused(peer, errno);
    return std::string(answer.data(), static_cast<size_t>(got));
  }

 private:
  static tl::unexpected<Error> refused(std::string_view peer, int error) {
    const ErrorCode code = error == ECONNREFUSED || error == ENOENT ? ErrorCode::NotFound
                           : error == EACCES || error == EPERM      ? ErrorCode::Denied
                                                                    : ErrorCode::Unavailable;
    return failure(code, fmt::format("asking chronyd at {}: {}", peer, std::strerror(error)));
  }

  int fd_;
  std::string own_path_;
};

Result<std::string> over_unix(std::string_view request, const std::string& path) {
  sockaddr_un server{};
  server.sun_family = AF_UNIX;
  // chronyd answers only to a named socket, which therefore lives beside its own, as chronyc's does.
  const std::string own = path.substr(0, path.rfind('/') + 1) + fmt::format("verl-node-agent.{}.sock", ::getpid());
  if (own.size() >= sizeof server.sun_path || path.size() >= sizeof server.sun_path) {
    return failure(ErrorCode::Invalid, fmt::format("the path of chronyd's socket is too long: {}", path));
  }
  const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return failure(ErrorCode::Unavailable, fmt::format("opening a socket: {}", std::strerror(errno)));
  sockaddr_un client{};
  client.sun_family = AF_UNIX;
  std::memcpy(client.sun_path, own.c_str(), own.size() + 1);
  ::unlink(own.c_str());
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&client), sizeof client) != 0) {
    const int error = errno;
    ::close(fd);
    return failure(ErrorCode::Denied, fmt::format("naming a socket beside {}: {}", path, std::strerror(error)));
  }
  const Datagram socket(fd, own);
  ::chmod(own.c_str(), 0666);  // chronyd has dropped root by then and must be able to write to it
  std::memcpy(server.sun_path, path.c_str(), path.size() + 1);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&server), sizeof server) != 0) {
    return failure(ErrorCode::Unavailable, fmt::format("connecting to {}: {}", path, std::strerror(errno)));
  }
  return socket.exchange(request, path);
}

Result<std::string> over_udp(std::string_view request, std::uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return failure(ErrorCode::Unavailable, fmt::format("opening a socket: {}", std::strerror(errno)));
  const Datagram socket(fd);
  sockaddr_in server{};
  server.sin_family = AF_INET;
  server.sin_port = htons(port);
  server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const std::string peer = fmt::format("127.0.0.1:{}", port);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&server), sizeof server) != 0) {
    return failure(ErrorCode::Unavailable, fmt::format("connecting to {}: {}", peer, std::strerror(errno)));
  }
  return socket.exchange(request, peer);
}

}  // namespace

Result<std::string> chronyd_exchange(std::string_view request, const LiveHostOptions& options) {
  if (!options.chronyd_socket.empty()) {
    auto answer = over_unix(request, options.chronyd_socket);
    if (answer) return answer;
  }
  return over_udp(request, options.chronyd_port);
}

}  // namespace verl::host
