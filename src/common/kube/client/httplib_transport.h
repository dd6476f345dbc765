// Transport over cpp-httplib: a pool of connections for calls, one connection of its own for every stream.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "kube/client/transport.h"
#include "kube/protocol/server_url.h"

namespace verl::kube {

struct TransportOptions {
  int most_connections{16};               // of the pool: exchanges beyond it wait for their turn
  Milliseconds connect_limit{5000};       // look-up and TCP, and once more for TLS
  Milliseconds idle_limit{60000};         // an idle connection older than this is not used again
  Milliseconds idle_limit_for_writes{2000};  // a write is not risked on a connection the server may be closing
};

Result<std::unique_ptr<Transport>> make_httplib_transport(const ServerUrl& server, const TlsMaterial& material,
                                                          const TransportOptions& options);

}  // namespace verl::kube
