// One accepted connection of the scripted server: reads requests, writes answers with exact boundaries.
#pragma once

#include <openssl/ssl.h>

#include <atomic>
#include <optional>
#include <string>

#include "tests/scripted-server/scripted_server.h"

namespace verl::scripted {

class Connection final {
 public:
  Connection(int socket, int number, const std::atomic<bool>& stop) : socket_(socket), number_(number), stop_(stop) {}
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  bool handshake(SSL_CTX* context);
  std::optional<Seen> read_request();  // nullopt: the client is gone, or what it sent is no request
  bool write(const Answer& answer, bool head_only = false);  // true: the connection stays open
  bool wait_client_gone();             // returns when the client closed or the server stops

 private:
  bool readable(int milliseconds) const;
  bool read_more();
  bool send(std::string_view bytes);
  bool pause(Milliseconds time) const;  // false when the server stops meanwhile
  bool write_live(LiveBody& live, bool chunked);
  bool finish(End end);

  int socket_;
  int number_;
  const std::atomic<bool>& stop_;
  SSL* ssl_{nullptr};
  std::string buffer_{};
};

}  // namespace verl::scripted
