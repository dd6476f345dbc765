// An apiserver that does exactly what a test wrote down, over real TLS on loopback: chunk boundaries, delays, resets, silence.
// A script is a list of expectations; a request that none of them takes fails the test, and so does one that never came.
// It knows nothing of Kubernetes: what an answer means is the test's business.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/scripted-server/certificates.h"

namespace verl::scripted {

using Milliseconds = std::chrono::milliseconds;
using Fields = std::vector<std::pair<std::string, std::string>>;

// One request as it arrived.
struct Seen {
  int connection{0};               // 1 for the first connection, 2 for the second, ...
  std::string method{};
  std::string target{};            // as sent: "/api/v1/pods?limit=500"
  std::string path{};              // before the '?', as sent
  Fields query{};                  // decoded, in order
  Fields headers{};                // names in lower case, in order
  std::string body{};
  std::string client_name{};       // common name of the client's certificate, "" without one
  std::string sni{};               // server name of the TLS handshake, "" without one

  std::optional<std::string> parameter(std::string_view name) const;  // of the query
  std::string header(std::string_view lower_case_name) const;         // "" when absent
};

enum class Framing { ContentLength, Chunked, UntilClose };

enum class End {
  KeepAlive,           // the connection stays open for the next request
  Close,               // TLS close_notify, then FIN
  CloseWithoutNotify,  // FIN alone
  Reset,               // RST
  Hang,                // nothing more, the connection stays up until the client or the server goes
};

struct Piece {
  std::string bytes{};
  Milliseconds after{0};  // waits this long before sending
};

// A body written while the test runs. Share it between the test and an Answer.
class LiveBody final {
 public:
  LiveBody();
  ~LiveBody();
  void push(std::string bytes);                     // one TLS record; one chunk when chunked
  void end(End how = End::KeepAlive);               // KeepAlive and Close write the last chunk first when chunked
  bool wait_opened(Milliseconds limit = Milliseconds(5000));       // the request has come and its head was answered
  bool wait_client_gone(Milliseconds limit = Milliseconds(5000));  // the client closed its connection

  struct State;
  State& state() { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

struct Answer {
  int status{200};
  Fields headers{};                       // beside Content-Length or Transfer-Encoding
  std::vector<Piece> pieces{};            // each one TLS record, and one chunk when chunked
  Framing framing{Framing::ContentLength};
  std::optional<std::size_t> declared_length{};  // a Content-Length that lies
  bool last_chunk{true};                  // false: the terminating chunk is withheld
  End end{End::KeepAlive};
  Milliseconds before_head{0};
  std::shared_ptr<LiveBody> live{};       // sent after `pieces`; needs Chunked or UntilClose
  std::string raw{};                      // when not empty: sent as it is instead of head and pieces
};

Answer json(int status, std::string body, Fields headers = {});  // Content-Length, application/json
Answer watch_of(std::vector<std::string> lines, End end = End::KeepAlive);  // chunked, one piece a line ("\n" is appended)
Answer live_watch(std::shared_ptr<LiveBody> body);
Answer no_answer(End end);                                       // nothing at all is sent

constexpr int kAnyTimes = -1;  // also zero times

struct Expectation {
  std::string method{"GET"};
  std::string path{};                        // exact, without the query
  Fields query{};                            // each must be there with this value
  std::vector<std::string> absent{};         // none of these query parameters may be there
  std::function<bool(const Seen&)> also{};   // a further condition
  Answer answer{};
  std::function<Answer(const Seen&)> answer_by{};  // instead of `answer`
  int times{1};
};

struct ServerOptions {
  std::string address{"127.0.0.1"};            // "::1" listens on IPv6
  std::vector<std::string> dns_names{"localhost"};
  std::vector<std::string> ip_addresses{"127.0.0.1", "::1"};
  std::chrono::seconds valid_from{-3600};
  std::chrono::seconds valid_until{86400};
  bool never_handshake{false};                 // accepts TCP and then says nothing
  bool unscripted_is_404{false};               // an unmatched request gets 404 instead of failing the test
  bool unused_is_fine{false};                  // expectations that were never used do not fail the test
};

class ScriptedServer final {
 public:
  explicit ScriptedServer(ServerOptions options = {});
  ~ScriptedServer();  // fails the test for expectations that were not used up

  // Takes part in matching from now on. Of several that match, the one given first that is not used up answers.
  ScriptedServer& expect(Expectation expectation);

  int port() const;
  std::string url() const;                 // "https://127.0.0.1:41233", bracketed for IPv6
  const CertificateAuthority& ca() const;  // issues client certificates too
  std::string kubeconfig(std::string_view user_yaml = "{token: test-token}") const;  // one context, CA inline; the user is flow YAML

  std::vector<Seen> seen() const;                                   // every request so far, in order of arrival
  bool wait_seen(std::size_t count, Milliseconds limit = Milliseconds(5000)) const;
  std::size_t connections() const;                                  // accepted so far
  std::size_t open_connections() const;
  void use_identity(const CertificateAuthority& ca, const CertificateRequest& request);  // for new connections
  void stop();                                                      // refuses connections and closes all, as a crash would
  void restart();                                                   // listens again on the same port

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace verl::scripted
