#include "kube/client/http_api.h"

#include <fmt/format.h>

#include <mutex>
#include <optional>
#include <set>

#include "base/broken_invariant.h"
#include "kube/client/response_sink.h"
#include "kube/protocol/retry.h"

namespace verl::kube {
namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

constexpr size_t kMostWarnings = 256;

ErrorCode code_of(Trouble trouble) {
  switch (trouble) {
    case Trouble::UnknownAuthority:
    case Trouble::Expired:
    case Trouble::WrongName:
    case Trouble::BadMaterial:
      return ErrorCode::Denied;
    case Trouble::OutOfTime:
    case Trouble::Silent:
      return ErrorCode::Timeout;
    case Trouble::Cancelled:
      return ErrorCode::Cancelled;
    case Trouble::None:
    case Trouble::SinkEnded:
    case Trouble::Unresolved:
    case Trouble::Refused:
    case Trouble::TlsHandshake:
    case Trouble::Lost:
    case Trouble::Malformed:
    case Trouble::Retired:
      return ErrorCode::Unavailable;
  }
  broken_invariant("a trouble outside its enumeration");
}

std::string_view advice_for(Trouble trouble) {
  switch (trouble) {
    case Trouble::UnknownAuthority:
      return "; the server's certificate is not signed by the configured certificate authority: check certificate-authority, or whether this is "
             "the server you mean";
    case Trouble::Expired:
      return "; the server's certificate is not valid now: renew it, or set this machine's clock";
    case Trouble::WrongName:
      return "; the server's certificate is for other names: use a name it is for, or set tls-server-name";
    case Trouble::Refused:
      return "; is the apiserver running, and is this its address?";
    default:
      return "";
  }
}

bool is_apply(const Request& request) { return request.method == Method::Patch && request.content_type == "application/apply-patch+yaml"; }

bool names(const std::vector<Header>& headers, std::string_view name) { return !header_value(headers, name).empty(); }

// Hands a stream's pieces on, and notes what the head said.
class StreamRelay final : public ExchangeSink {
 public:
  explicit StreamRelay(StreamSink& sink) : sink_(sink) {}
  bool on_head(int status, const std::vector<Header>& headers) override {
    headers_ = headers;
    head_ = read_head(status, headers);
    const std::string_view encoding = header_value(headers, "Content-Encoding");
    if (!encoding.empty() && encoding != "identity") {
      encoded_ = true;
      return false;
    }
    return sink_.on_reply(status, head_.retry_after, head_.date);
  }
  bool on_bytes(std::string_view bytes) override { return sink_.on_bytes(bytes); }
  bool encoded() const { return encoded_; }
  const ReplyHead& head() const { return head_; }
  const std::vector<Header>& headers() const { return headers_; }

 private:
  StreamSink& sink_;
  ReplyHead head_{};
  std::vector<Header> headers_{};
  bool encoded_{false};
};

}  // namespace

struct HttpApi::State {
  ClientConfig config{};
  ApiOptions options{};
  ApiParts parts{};
  std::mutex mutex{};
  std::set<std::string> warned{};
  SteadyTime tls_read_at{};
  TlsMaterial tls_files{};
  Grant last_grant{};

  void warn_once(const std::string& text);
  void note(const Request& request, const ReplyHead& head, const std::vector<Header>& headers);
  Result<Exchange> prepare(const Request& request, const Grant& grant, bool stream) const;
  Result<Grant> grant_for(const Request& request, Milliseconds left, const std::stop_token& stop);
  Result<bool> refresh_tls(const Grant& grant, bool now);
  Error error_of(const Request& request, const Outcome& outcome) const;
};

void HttpApi::State::warn_once(const std::string& text) {
  {
    const std::lock_guard lock(mutex);
    if (warned.size() >= kMostWarnings || !warned.insert(text).second) return;
  }
  if (options.warn) options.warn(text);
}

void HttpApi::State::note(const Request& request, const ReplyHead& head, const std::vector<Header>& headers) {
  for (const std::string& text : warning_texts(headers)) warn_once("the apiserver warns: " + text);
  if (head.status == 429 && options.debug) {
    options.debug(fmt::format("{} {} answered 429, flow schema {}, retry after {} s", to_string(request.method), request.path,
                              header_value(headers, "X-Kubernetes-PF-FlowSchema-UID"), head.retry_after.value_or(Seconds(0)).count()));
  }
}

Result<Exchange> HttpApi::State::prepare(const Request& request, const Grant& grant, bool stream) const {
  Exchange out{.method = std::string(to_string(request.method)),
               .target = request_target(config.server, request),
               .headers = request.headers,
               .body = request.body,
               .own_connection = stream};
  const auto add = [&](std::string name, std::string value) {
    if (!value.empty() && !names(request.headers, name)) out.headers.push_back(Header{.name = std::move(name), .value = std::move(value)});
  };
  add("Host", host_header(config.server));
  add("User-Agent", options.user_agent);
  add("Accept", "application/json");
  add("Accept-Encoding", stream || config.disable_compression ? "identity" : "gzip");
  if (!request.body.empty()) add("Content-Type", request.content_type.empty() ? "application/json" : request.content_type);
  add("Authorization", grant.authorization);
  for (Header& header : impersonation_headers(config.impersonation)) out.headers.push_back(std::move(header));
  for (const Header& header : out.headers) {
    if (const std::string fault = header_fault(header); !fault.empty()) return failure(ErrorCode::Invalid, fault);
  }
  for (const char c : out.target) {
    if (c <= ' ' || c == '\x7f') return failure(ErrorCode::Invalid, "the request path holds characters that must be percent-encoded");
  }
  return out;
}

Result<Grant> HttpApi::State::grant_for(const Request& request, Milliseconds left, const std::stop_token& stop) {
  if (names(request.headers, "Authorization")) {
    const std::lock_guard lock(mutex);
    Grant grant = last_grant;  // its certificate stays: connections are shared
    grant.authorization.clear();
    return grant;
  }
  Result<Grant> grant = parts.credentials->grant(left, stop);
  if (!grant.has_value()) return grant;
  const std::lock_guard lock(mutex);
  last_grant = *grant;
  return grant;
}

Result<bool> HttpApi::State::refresh_tls(const Grant& grant, bool now) {
  TlsMaterial material;
  std::optional<std::string> complaint;
  {
    const std::lock_guard lock(mutex);
    const SteadyTime time = parts.clock->steady();
    if (now || tls_read_at == SteadyTime{} || time - tls_read_at >= options.tls_reread_period) {
      Result<TlsMaterial> read = parts.read_tls();
      if (read.has_value()) {
        tls_files = std::move(*read);
      } else {
        complaint = "TLS files could not be read again, the ones read before stay in use: " + read.error().message;
      }
      tls_read_at = time;
    }
    material = tls_files;
  }
  if (complaint.has_value()) warn_once(*complaint);
  if (!grant.certificate_pem.empty()) {
    material.certificate_pem = grant.certificate_pem;
    material.key_pem = grant.key_pem;
  }
  Result<bool> used = parts.transport->use(material);
  if (used.has_value() || !grant.certificate_pem.empty()) return used;
  // Half-written files: what was agreed before still works.
  warn_once("TLS files were replaced by ones that cannot be used, the ones before stay in use: " + used.error().message);
  return false;
}

Error HttpApi::State::error_of(const Request& request, const Outcome& outcome) const {
  return Error{.code = code_of(outcome.trouble),
               .message = fmt::format("{} {} at {}: {}{}", to_string(request.method), request.path, to_string(config.server), outcome.detail,
                                      advice_for(outcome.trouble))};
}

HttpApi::HttpApi(ClientConfig config, ApiOptions options, ApiParts parts) : state_(std::make_unique<State>()) {
  state_->config = std::move(config);
  state_->options = std::move(options);
  state_->parts = std::move(parts);
}

HttpApi::~HttpApi() = default;

Result<Reply> HttpApi::send(const Request& request, std::stop_token stop) {
  State& state = *state_;
  Clock& clock = *state.parts.clock;
  const SteadyTime deadline = clock.steady() + request.timeout;
  RetryState retries;
  bool reread_authority = false;
  for (;;) {
    if (stop.stop_requested()) return failure(ErrorCode::Cancelled, "stopped");
    const SteadyTime began = clock.steady();
    const auto left = std::chrono::duration_cast<Milliseconds>(deadline - began);
    if (left <= Milliseconds(0)) {
      const std::string detail = fmt::format("no answer within {} s", request.timeout.count());
      return tl::unexpected<Error>(state.error_of(request, {.trouble = Trouble::OutOfTime, .detail = detail}));
    }
    const Result<Grant> grant = state.grant_for(request, left, stop);
    if (!grant.has_value()) return tl::unexpected<Error>(grant.error());
    if (const Result<bool> tls = state.refresh_tls(*grant, false); !tls.has_value()) return tl::unexpected<Error>(tls.error());
    Result<Exchange> exchange = state.prepare(request, *grant, false);
    if (!exchange.has_value()) return tl::unexpected<Error>(exchange.error());
    exchange->time_limit = left;

    ReplySink sink(request.max_body);
    const Outcome outcome = state.parts.transport->exchange(*exchange, sink, stop);
    const bool answered = outcome.trouble == Trouble::None || outcome.trouble == Trouble::SinkEnded;
    Result<Reply> result = answered ? sink.finish() : Result<Reply>(tl::unexpected<Error>(state.error_of(request, outcome)));
    if (answered) state.note(request, sink.head(), sink.headers());
    if (!result.has_value() && answered) return result.map_error(context(fmt::format("{} {}", to_string(request.method), request.path)));

    if (outcome.trouble == Trouble::UnknownAuthority && !reread_authority) {
      reread_authority = true;  // the CA may have been replaced on disk; nothing was sent yet
      const Result<bool> changed = state.refresh_tls(*grant, true);
      if (changed.has_value() && *changed) continue;
    }
    const bool retryable = answered || outcome.trouble == Trouble::Lost;
    if (!retryable) return result;
    const Attempt attempt{.method = request.method,
                          .is_apply = is_apply(request),
                          .reach = answered ? Reach::Answered : outcome.reach,
                          .reused_connection = outcome.reused_connection,
                          .status = answered ? sink.head().status : 0,
                          .retry_after = answered ? sink.head().retry_after : std::nullopt};
    const bool fresh = attempt.status == 401 && !grant->authorization.empty() && state.parts.credentials->refused(*grant, began);
    const RetryStep step = next_step(retries, attempt, state.parts.jitter());
    retries = step.state;
    if (step.what == RetryStep::What::Return) return result;
    if (step.what == RetryStep::What::ResendWithFreshCredentials && !fresh) return result;
    if (clock.steady() + step.wait >= deadline) return result;  // the caller may know better than to wait that long
    if (step.wait > Milliseconds(0) && !state.parts.sleeper->wait(step.wait, stop)) return failure(ErrorCode::Cancelled, "stopped");
  }
}

Result<bool> HttpApi::stream(const Request& request, StreamSink& sink, std::stop_token stop) {
  State& state = *state_;
  const SteadyTime began = state.parts.clock->steady();
  const Result<Grant> grant = state.grant_for(request, request.timeout, stop);
  if (!grant.has_value()) return tl::unexpected<Error>(grant.error());
  if (const Result<bool> tls = state.refresh_tls(*grant, false); !tls.has_value()) return tl::unexpected<Error>(tls.error());
  Result<Exchange> exchange = state.prepare(request, *grant, true);
  if (!exchange.has_value()) return tl::unexpected<Error>(exchange.error());
  exchange->silence_limit = request.timeout;

  StreamRelay relay(sink);
  const Outcome outcome = state.parts.transport->exchange(*exchange, relay, stop);
  state.note(request, relay.head(), relay.headers());
  if (relay.head().status == 401 && !grant->authorization.empty()) state.parts.credentials->refused(*grant, began);
  if (outcome.trouble == Trouble::UnknownAuthority) static_cast<void>(state.refresh_tls(*grant, true));  // for the caller's next try
  if (relay.encoded()) {
    return failure(ErrorCode::Unavailable,
                   fmt::format("{} {}: the stream is encoded in a way we did not ask for", to_string(request.method), request.path));
  }
  if (outcome.trouble == Trouble::None) return true;
  if (outcome.trouble == Trouble::SinkEnded) return false;
  return tl::unexpected<Error>(state.error_of(request, outcome));
}

}  // namespace verl::kube
