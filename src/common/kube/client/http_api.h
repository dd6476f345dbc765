// Api over a Transport: credentials, retries, limits, decompression. One object serves all threads of a process.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/time.h"
#include "kube/client/credentials.h"
#include "kube/client/httplib_transport.h"
#include "kube/client/read_file.h"
#include "kube/client/sleeper.h"
#include "kube/client/transport.h"
#include "kube/protocol/client_config.h"
#include "kube/protocol/http.h"
#include "kube/protocol/user_agent.h"

namespace verl::kube {

struct ApiOptions {
  std::string user_agent{kube::user_agent("verl-operator", "unknown")};
  TransportOptions transport{};
  Seconds tls_reread_period{300};    // CA, client certificate and key files
  Seconds token_reread_period{60};
  std::function<void(const std::string&)> warn{};   // each distinct text once: Warning headers, credentials kept past a failed re-read
  std::function<void(const std::string&)> debug{};  // one line per 429, naming its flow schema
};

// Reads the CA, certificate and key of `config`: called at start, then every tls_reread_period.
using ReadTls = std::function<Result<TlsMaterial>()>;

// The pieces, each replaceable in a test.
struct ApiParts {
  std::unique_ptr<Transport> transport{};
  std::unique_ptr<Credentials> credentials{};
  ReadTls read_tls{};
  std::shared_ptr<Clock> clock{};
  std::shared_ptr<Sleeper> sleeper{};
  std::function<double()> jitter{};  // in [0, 1)
};

class HttpApi final : public Api {
 public:
  HttpApi(ClientConfig config, ApiOptions options, ApiParts parts);
  ~HttpApi() override;

  Result<Reply> send(const Request& request, std::stop_token stop) override;
  Result<bool> stream(const Request& request, StreamSink& sink, std::stop_token stop) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

class FileReader;

// The PEM texts that the configuration gives or names.
Result<TlsMaterial> read_tls_material(const ClientConfig& config, const ReadFile& read);

// What mains call: everything out of `config`, on the system's clock. Reads the files that the configuration names, so that a missing
// certificate is an error here and not at the first request.
Result<std::unique_ptr<Api>> connect(const ClientConfig& config, const ApiOptions& options);

}  // namespace verl::kube
