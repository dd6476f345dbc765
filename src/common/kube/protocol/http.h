// Requests to an apiserver and what comes back, as values, and the two ways to send one.
// The client (kube/client) implements Api over TLS; the runtime (reflector, leader election, events) and tests only know this.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "base/units.h"

namespace verl::kube {

enum class Method { Get, Post, Put, Patch, Delete };

struct Header {
  std::string name{};
  std::string value{};
  bool operator==(const Header&) const = default;
};

struct Request {
  Method method{Method::Get};
  std::string path{};                // "/api/v1/pods": absolute, already percent-encoded, no query
  std::vector<Header> query{};       // name/value pairs in order, not yet encoded
  std::string content_type{};        // only with a body
  std::string body{};
  std::vector<Header> headers{};     // extra ones; an Authorization here wins over every other source
  Seconds timeout{30};               // unary: whole call; stream: longest silence
  Bytes max_body{4 * kMiB.count};    // more is ErrorCode::TooLarge and nothing of it is returned
  bool operator==(const Request&) const = default;
};

struct Reply {
  int status{0};
  std::string body{};
  std::optional<Seconds> retry_after{};
  std::optional<Timestamp> date{};   // the server's clock when it answered
  bool operator==(const Reply&) const = default;
};

// Receives a streamed answer. All calls come from the thread that called Api::stream. Returning false ends the stream.
class StreamSink {
 public:
  virtual ~StreamSink() = default;
  virtual bool on_reply(int status, std::optional<Seconds> retry_after, std::optional<Timestamp> date) = 0;
  virtual bool on_bytes(std::string_view bytes) = 0;
};

class Api {
 public:
  virtual ~Api() = default;

  // One request, one whole reply. Any HTTP status is a Reply; an Error means that no complete answer came
  // (Unavailable, Timeout, TooLarge, Denied for TLS and credentials, Cancelled). 429 and 5xx with Retry-After have been
  // retried inside; a write whose answer was lost has not: its outcome is unknown and the caller reads back by name.
  virtual Result<Reply> send(const Request& request, std::stop_token stop) = 0;

  // A long answer in pieces, on a connection of its own. Returns when the server ended it (true), when the sink did
  // (false), or with an Error (Unavailable: connection lost; Timeout: silent for longer than request.timeout; Cancelled).
  // Never retried inside. A stop request ends it within one second.
  virtual Result<bool> stream(const Request& request, StreamSink& sink, std::stop_token stop) = 0;
};

}  // namespace verl::kube
