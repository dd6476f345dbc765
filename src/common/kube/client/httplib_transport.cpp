#include "kube/client/httplib_transport.h"

// The one file of the client that includes the library. Its macros change class layouts, so a second file without them would
// corrupt memory silently; they come from the package's own description and are checked here.
#include <httplib.h>
#if !defined(CPPHTTPLIB_OPENSSL_SUPPORT) || !defined(CPPHTTPLIB_ZLIB_SUPPORT) || !defined(CPPHTTPLIB_BROTLI_SUPPORT)
#error "compile with the flags of cpp-httplib's pkg-config file: class layouts depend on them"
#endif

#include <fmt/format.h>

#include <condition_variable>
#include <mutex>

#include "base/text.h"
#include "kube/client/resolve.h"
#include "kube/client/socket_options.h"
#include "kube/client/tls_context.h"
#include "kube/client/watchdog.h"

namespace verl::kube {
namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

SteadyTime steady_now() { return std::chrono::steady_clock::now(); }

struct Connection {
  std::shared_ptr<const TlsIdentity> identity{};
  std::shared_ptr<Lifeline> line{std::make_shared<Lifeline>()};
  VerifyRecord verified{};
  SteadyTime idle_since{};
  std::unique_ptr<httplib::SSLClient> client{};  // last: it uses the members above while it goes
};

// What the library's callbacks saw of one exchange.
struct Progress {
  ExchangeSink& sink;
  Watchdog::Watch& watch;
  bool must_be_framed{true};  // without a length the end of the connection would pass for the end of the answer
  bool head{false};
  bool ended_by_sink{false};
  std::string malformed{};
};

std::vector<Header> headers_of(const httplib::Response& response) {
  std::vector<Header> out;
  for (const auto& pair : response.headers) out.push_back(Header{.name = pair.first, .value = pair.second});
  return out;
}

// The library reads a length it cannot parse as 0 and the first of several; both would make a broken answer look whole.
std::string framing_fault(const httplib::Response& response, bool must_be_framed) {
  const size_t lengths = response.get_header_value_count("Content-Length");
  const bool chunked = response.has_header("Transfer-Encoding");
  if (chunked && lengths > 0) return "both Content-Length and Transfer-Encoding";
  if (lengths > 1) return "several Content-Length headers";
  if (lengths == 1 && !parse_int<std::uint64_t>(response.get_header_value("Content-Length")).has_value()) {
    return "a Content-Length that is no number";
  }
  const bool has_body = response.status != 204 && response.status != 304;
  if (must_be_framed && has_body && lengths == 0 && !chunked) return "neither Content-Length nor Transfer-Encoding";
  return "";
}

bool take_head(Progress& progress, const httplib::Response& response) {
  progress.watch.heard();
  progress.head = true;
  progress.malformed = framing_fault(response, progress.must_be_framed);
  if (!progress.malformed.empty()) return false;
  if (progress.sink.on_head(response.status, headers_of(response))) return true;
  progress.ended_by_sink = true;
  return false;
}

bool take_bytes(Progress& progress, const char* bytes, size_t size) {
  progress.watch.heard();
  if (progress.watch.reason() != CutReason::None) return false;
  if (progress.sink.on_bytes(std::string_view(bytes, size))) return true;
  progress.ended_by_sink = true;
  return false;
}

Outcome cut_outcome(CutReason reason, Reach reach, const Exchange& exchange) {
  switch (reason) {
    case CutReason::None:
      break;
    case CutReason::OutOfTime:
      return Outcome{.trouble = Trouble::OutOfTime,
                     .reach = reach,
                     .detail = fmt::format("no complete answer within {} ms", exchange.time_limit.count())};
    case CutReason::Silent:
      return Outcome{.trouble = Trouble::Silent,
                     .reach = reach,
                     .detail = fmt::format("nothing was received for {} ms", exchange.silence_limit.count())};
    case CutReason::Retired:
      return Outcome{.trouble = Trouble::Retired,
                     .reach = reach,
                     .detail = "the client certificate was replaced, so the connection was closed"};
    case CutReason::Cancelled:
      return Outcome{.trouble = Trouble::Cancelled, .reach = reach, .detail = "stopped"};
  }
  return Outcome{};
}

class HttplibTransport final : public Transport {
 public:
  HttplibTransport(ServerUrl server, std::shared_ptr<const TlsIdentity> identity, TransportOptions options)
      : server_(std::move(server)), options_(options), identity_(std::move(identity)) {}

  Outcome exchange(const Exchange& exchange, ExchangeSink& sink, std::stop_token stop) override;
  Result<bool> use(const TlsMaterial& material) override;
  void close_idle() override;

 private:
  class Turn;
  class StreamPlace;
  std::unique_ptr<Connection> idle_connection(bool write);
  void keep(std::unique_ptr<Connection> connection);
  Outcome dial_and_run(std::unique_ptr<Connection>& connection, const Exchange& exchange, Progress& progress, SteadyTime deadline,
                       std::stop_token stop);
  Outcome run(Connection& connection, const Exchange& exchange, Progress& progress);
  Outcome outcome_of(httplib::Error error, const Connection& connection, const Progress& progress) const;
  Outcome make_client(Connection& connection, const std::string& address) const;

  const ServerUrl server_;
  const TransportOptions options_;
  Watchdog watchdog_{};
  std::mutex mutex_{};
  std::condition_variable_any changed_{};
  std::shared_ptr<const TlsIdentity> identity_;
  std::vector<std::unique_ptr<Connection>> idle_{};
  std::vector<Watchdog::Watch*> streams_{};
  int busy_{0};
};

// A turn among the pool's exchanges.
class HttplibTransport::Turn final {
 public:
  explicit Turn(HttplibTransport& transport) : transport_(transport) {}
  ~Turn() {
    if (!taken_) return;
    const std::lock_guard lock(transport_.mutex_);
    --transport_.busy_;
    transport_.changed_.notify_one();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  bool take(SteadyTime deadline, const std::stop_token& stop) {
    std::unique_lock lock(transport_.mutex_);
    taken_ = transport_.changed_.wait_until(lock, stop, deadline, [&] { return transport_.busy_ < transport_.options_.most_connections; });
    if (taken_) ++transport_.busy_;
    return taken_;
  }

 private:
  HttplibTransport& transport_;
  bool taken_{false};
};

// A place in the list of streams, through which a new client certificate closes them.
class HttplibTransport::StreamPlace final {
 public:
  StreamPlace(HttplibTransport& transport, Watchdog::Watch* stream) : transport_(transport), stream_(stream) {
    if (stream_ == nullptr) return;
    const std::lock_guard lock(transport_.mutex_);
    transport_.streams_.push_back(stream_);
  }
  ~StreamPlace() {
    if (stream_ == nullptr) return;
    const std::lock_guard lock(transport_.mutex_);
    std::erase(transport_.streams_, stream_);
  }
  StreamPlace(const StreamPlace&) = delete;
  StreamPlace& operator=(const StreamPlace&) = delete;

 private:
  HttplibTransport& transport_;
  Watchdog::Watch* stream_;
};

std::unique_ptr<Connection> HttplibTransport::idle_connection(bool write) {
  const auto oldest = steady_now() - (write ? options_.idle_limit_for_writes : options_.idle_limit);
  const std::lock_guard lock(mutex_);
  while (!idle_.empty()) {
    std::unique_ptr<Connection> connection = std::move(idle_.back());  // the one used last is the least likely to be closed
    idle_.pop_back();
    if (connection->identity == identity_ && connection->idle_since >= oldest && connection->line->is_quiet()) return connection;
  }
  return nullptr;
}

void HttplibTransport::keep(std::unique_ptr<Connection> connection) {
  connection->idle_since = steady_now();
  if (!connection->client->is_socket_open()) return;
  const std::lock_guard lock(mutex_);
  if (connection->identity == identity_) idle_.push_back(std::move(connection));
}

void HttplibTransport::close_idle() {
  std::vector<std::unique_ptr<Connection>> closing;
  const std::lock_guard lock(mutex_);
  closing.swap(idle_);
}

Result<bool> HttplibTransport::use(const TlsMaterial& material) {
  {
    const std::lock_guard lock(mutex_);
    if (identity_->material() == material) return false;
  }
  auto identity = TlsIdentity::parse(material);
  if (!identity.has_value()) return tl::unexpected<Error>(identity.error());
  std::vector<std::unique_ptr<Connection>> closing;
  const std::lock_guard lock(mutex_);
  const TlsMaterial& before = identity_->material();
  const bool other_client = before.certificate_pem != material.certificate_pem || before.key_pem != material.key_pem;
  identity_ = *identity;
  closing.swap(idle_);
  if (other_client) {
    for (Watchdog::Watch* stream : streams_) stream->cut(CutReason::Retired);
  }
  return true;
}

Outcome HttplibTransport::make_client(Connection& connection, const std::string& address) const {
  const TlsMaterial& material = connection.identity->material();
  const std::string& name = material.server_name.empty() ? server_.host : material.server_name;
  connection.client = std::make_unique<httplib::SSLClient>(name, server_.port);
  httplib::SSLClient& client = *connection.client;
  client.set_hostname_addr_map({{name, address}});
  client.enable_server_certificate_verification(false);  // ours, in TlsIdentity::apply, replaces the library's
  client.set_keep_alive(true);
  client.set_tcp_nodelay(true);
  client.set_url_encode(false);
  client.set_decompress(false);
  client.set_follow_location(false);
  client.set_connection_timeout(options_.connect_limit);
  client.set_write_timeout(std::chrono::seconds(30));
  client.set_socket_options([&connection](int socket) {
    configure_socket(socket);
    connection.line->attach(socket);
  });
  const Result<bool> applied = connection.identity->apply(client.ssl_context(), name, connection.verified);
  if (!applied.has_value()) {
    return Outcome{.trouble = Trouble::BadMaterial, .reach = Reach::NotConnected, .detail = applied.error().message};
  }
  return Outcome{};
}

Outcome HttplibTransport::outcome_of(httplib::Error error, const Connection& connection, const Progress& progress) const {
  const auto unconnected = [](Trouble trouble, std::string detail) {
    return Outcome{.trouble = trouble, .reach = Reach::NotConnected, .detail = std::move(detail)};
  };
  const Reach reach = progress.head ? Reach::Cut : Reach::NoAnswer;
  if (connection.verified.trouble != Trouble::None) return unconnected(connection.verified.trouble, connection.verified.detail);
  if (progress.ended_by_sink) return Outcome{.trouble = Trouble::SinkEnded, .reach = Reach::Cut};
  if (!progress.malformed.empty()) {
    return Outcome{.trouble = Trouble::Malformed, .reach = Reach::Cut, .detail = "the answer has " + progress.malformed};
  }
  switch (error) {
    case httplib::Error::Success:
      return Outcome{};
    case httplib::Error::Connection:
    case httplib::Error::BindIPAddress:
      return unconnected(Trouble::Refused, "the connection was refused or the host cannot be reached");
    case httplib::Error::ConnectionTimeout:
      return unconnected(Trouble::Refused, fmt::format("no connection within {} ms", options_.connect_limit.count()));
    case httplib::Error::SSLConnection:
    case httplib::Error::SSLLoadingCerts:
    case httplib::Error::SSLServerVerification:
      return unconnected(Trouble::TlsHandshake, "the TLS handshake was not completed");
    default:
      return Outcome{.trouble = Trouble::Lost,
                     .reach = reach,
                     .detail = progress.head ? "the connection was lost in the middle of the answer"
                                             : "the connection was lost before an answer came"};
  }
}

Outcome HttplibTransport::run(Connection& connection, const Exchange& exchange, Progress& progress) {
  httplib::Request request;
  request.method = exchange.method;
  request.path = exchange.target;
  for (const Header& header : exchange.headers) request.headers.emplace(header.name, header.value);
  request.body = exchange.body;
  request.response_handler = [&progress](const httplib::Response& response) { return take_head(progress, response); };
  request.content_receiver = [&progress](const char* bytes, size_t size, uint64_t, uint64_t) { return take_bytes(progress, bytes, size); };
  httplib::Response response;
  httplib::Error error = httplib::Error::Success;
  // The library's own limit is only a second net under the watchdog's.
  const Milliseconds limit = std::max(exchange.silence_limit, exchange.time_limit);
  const Milliseconds longest = (limit.count() > 0 ? limit : Milliseconds(std::chrono::hours(1))) + std::chrono::seconds(5);
  connection.client->set_read_timeout(longest);
  const bool ok = connection.client->send(request, response, error);
  if (ok && !progress.head) take_head(progress, response);  // 204 skips the callback
  if (ok && !progress.ended_by_sink && progress.malformed.empty()) return Outcome{};
  return outcome_of(ok ? httplib::Error::Success : error, connection, progress);
}

Outcome HttplibTransport::dial_and_run(std::unique_ptr<Connection>& connection, const Exchange& exchange, Progress& progress,
                                       SteadyTime deadline, std::stop_token stop) {
  const auto left = std::chrono::duration_cast<Milliseconds>(deadline - steady_now());
  const auto addresses = resolve(server_.host, std::clamp(left, Milliseconds(1), options_.connect_limit), stop);
  if (!addresses.has_value()) {
    return Outcome{.trouble = Trouble::Unresolved, .reach = Reach::NotConnected, .detail = addresses.error().message};
  }
  Outcome outcome;
  for (const std::string& address : *addresses) {
    auto fresh = std::make_unique<Connection>();
    {
      const std::lock_guard lock(mutex_);
      fresh->identity = identity_;
    }
    fresh->line = connection->line;
    connection = std::move(fresh);
    outcome = make_client(*connection, address);
    if (outcome.trouble != Trouble::None) return outcome;
    outcome = run(*connection, exchange, progress);
    if (outcome.trouble != Trouble::Refused || progress.watch.reason() != CutReason::None) break;
  }
  return outcome;
}

Outcome HttplibTransport::exchange(const Exchange& exchange, ExchangeSink& sink, std::stop_token stop) {
  const Milliseconds limit = exchange.time_limit.count() > 0 ? exchange.time_limit : Milliseconds(std::chrono::hours(24 * 365));
  const SteadyTime deadline = steady_now() + limit;
  const bool pooled = !exchange.own_connection;
  Turn turn(*this);
  if (pooled && !turn.take(deadline, stop)) {
    const CutReason why = stop.stop_requested() ? CutReason::Cancelled : CutReason::OutOfTime;
    Outcome outcome = cut_outcome(why, Reach::NotConnected, exchange);
    if (why == CutReason::OutOfTime) outcome.detail += ": all connections were busy";
    return outcome;
  }
  std::unique_ptr<Connection> connection = pooled ? idle_connection(exchange.method != "GET") : nullptr;
  const bool reused = connection != nullptr;
  if (!reused) connection = std::make_unique<Connection>();
  Watchdog::Watch watch(watchdog_, connection->line, deadline, exchange.silence_limit);
  const StreamPlace place(*this, pooled ? nullptr : &watch);
  const std::stop_callback on_stop(stop, [&watch] { watch.cut(CutReason::Cancelled); });
  Progress progress{.sink = sink, .watch = watch, .must_be_framed = pooled};
  Outcome outcome = reused ? run(*connection, exchange, progress) : dial_and_run(connection, exchange, progress, deadline, stop);
  const CutReason cut = watch.reason();
  if (outcome.trouble == Trouble::None && cut == CutReason::None && pooled) keep(std::move(connection));
  // A whole answer stays one, even when the cut came just after it.
  const bool was_cut = cut != CutReason::None && outcome.trouble != Trouble::None && outcome.trouble != Trouble::SinkEnded;
  if (was_cut) outcome = cut_outcome(cut, outcome.reach, exchange);
  outcome.reused_connection = reused;
  return outcome;
}

}  // namespace

Result<std::unique_ptr<Transport>> make_httplib_transport(const ServerUrl& server, const TlsMaterial& material, const TransportOptions& options) {
  auto identity = TlsIdentity::parse(material);
  if (!identity.has_value()) return tl::unexpected<Error>(identity.error());
  return std::unique_ptr<Transport>(std::make_unique<HttplibTransport>(server, *identity, options));
}

}  // namespace verl::kube
