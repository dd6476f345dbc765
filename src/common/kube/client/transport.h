// Bytes to and from one apiserver. Everything that knows an HTTP library or a socket is behind this interface; everything that knows
// credentials, retries or Kubernetes is in front of it.
#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kube/protocol/http.h"
#include "kube/protocol/retry.h"

namespace verl::kube {

using Milliseconds = std::chrono::milliseconds;

struct TlsMaterial {
  std::string ca_pem{};           // empty: the system's roots
  std::string certificate_pem{};  // client certificate with its chain, or empty
  std::string key_pem{};
  std::string server_name{};      // verified (and sent as SNI) instead of the host that is dialled
  bool insecure_skip_verify{false};
  bool operator==(const TlsMaterial&) const = default;
};

struct Exchange {
  std::string method{};
  std::string target{};
  std::vector<Header> headers{};  // complete but for Content-Length
  std::string body{};
  bool own_connection{false};     // a stream: never pooled
  Milliseconds time_limit{0};     // of the whole exchange; 0: none
  Milliseconds silence_limit{0};  // between two bytes; 0: none
};

// Called from the thread that called Transport::exchange. False ends the exchange.
class ExchangeSink {
 public:
  virtual ~ExchangeSink() = default;
  virtual bool on_head(int status, const std::vector<Header>& headers) = 0;
  virtual bool on_bytes(std::string_view bytes) = 0;
};

enum class Trouble {
  None,
  Unresolved,       // the name has no address
  Refused,          // no TCP connection
  TlsHandshake,     // TLS was not agreed, no verdict on the certificate
  UnknownAuthority, // the certificate's issuer is not among the CAs
  Expired,          // the certificate is not valid now
  WrongName,        // the certificate is for other names
  BadMaterial,      // our own CA, certificate or key cannot be used
  Lost,             // reset or end of file
  Malformed,        // the answer is not HTTP we can trust to be whole
  SinkEnded,
  OutOfTime,        // time_limit or the wait for a connection
  Silent,           // silence_limit
  Retired,          // the client certificate was replaced
  Cancelled,
};

struct Outcome {
  Trouble trouble{Trouble::None};
  Reach reach{Reach::Answered};
  bool reused_connection{false};
  std::string detail{};  // for people, without secrets
};

class Transport {
 public:
  virtual ~Transport() = default;
  virtual Outcome exchange(const Exchange& exchange, ExchangeSink& sink, std::stop_token stop) = 0;

  // For connections made from now on. A changed client certificate closes idle connections and streams; an exchange under way on a
  // pooled connection is finished first, so that no write's answer is lost for this.
  virtual Result<bool> use(const TlsMaterial& material) = 0;  // true: something changed
  virtual void close_idle() = 0;
};

}  // namespace verl::kube
