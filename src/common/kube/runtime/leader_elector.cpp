#include "kube/runtime/leader_elector.h"

#include <algorithm>
#include <random>
#include <thread>
#include <utility>

#include "base/broken_invariant.h"
#include "kube/protocol/watch_status.h"
#include "kube/protocol/watch_stream.h"

namespace verl::kube {
namespace {

Seconds at_least_a_second(Microseconds time) {
  return std::max(Seconds{1}, std::chrono::ceil<Seconds>(time));
}

double random_share() {
  thread_local std::mt19937_64 engine{std::random_device{}()};
  return std::uniform_real_distribution<double>{0.0, 1.0}(engine);
}

}  // namespace

// Reads the watch of the lease and feeds each state of it to the machine.
class LeaderElector::Sink final : public StreamSink {
 public:
  explicit Sink(LeaderElector& elector) : elector_(elector), lines_(kMiB) {}

  bool on_reply(int status, std::optional<Seconds>, std::optional<Timestamp>) override {
    failed_ = status != 200;
    return !failed_;
  }
  bool on_bytes(std::string_view bytes) override {
    const auto go_on = lines_.feed(bytes, [this](std::string_view line) { return on_line(line); });
    if (!go_on) failed_ = true;
    return go_on && *go_on;
  }
  bool decided() const { return decided_; }  // an event already said what comes next
  bool failed() const { return failed_; }

 private:
  bool on_line(std::string_view line) {
    const auto event = parse_watch_line(line);
    if (!event || event->type == WatchType::Error || event->type == WatchType::Other) {
      failed_ = true;
      return false;
    }
    if (event->type == WatchType::Bookmark) return true;
    if (event->type == WatchType::Deleted) {
      elector_.advance(LeaseAbsent{});
    } else {
      auto lease = parse_lease(event->object_json);
      if (!lease) {
        failed_ = true;
        return false;
      }
      elector_.advance(LeaseSeen{.record = std::move(*lease)});
    }
    decided_ = !std::holds_alternative<KeepWatching>(elector_.next_);
    return !decided_;
  }

  LeaderElector& elector_;
  LineBuffer lines_;
  bool decided_{false};
  bool failed_{false};
};

LeaderElector::LeaderElector(Api& api, const Clock& clock, LeaderOptions options, Hooks hooks)
    : api_(api), clock_(clock), options_(std::move(options)), hooks_(std::move(hooks)) {
  if (const auto problem = options_problem(options_); !problem.empty()) broken_invariant(problem);
}

LeaderContext LeaderElector::context() const { return {.now = clock_.steady(), .wall = clock_.now(), .random = random_share()}; }

bool LeaderElector::run(std::stop_token stop) {
  std::jthread guard([this](const std::stop_token& over) { watchdog(over); });
  next_ = begin_election(options_, context()).next;
  while (!std::holds_alternative<EndElection>(next_) && !stop.stop_requested()) {
    const auto happened = perform(next_, stop);
    const bool cancelled = happened && stop.stop_requested() && std::holds_alternative<LeaseCallFailed>(*happened);
    if (happened && !cancelled) advance(*happened);
    const std::lock_guard lock(mutex_);
    if (lost_) return false;
  }
  if (stop.stop_requested()) release();
  const std::lock_guard lock(mutex_);
  leading_ = false;
  return !lost_;
}

// One try, which the stop does not cancel.
void LeaderElector::release() {
  advance(StopElection{});
  const auto* record = std::get_if<UpdateLease>(&next_);
  if (!record) return;
  {
    const std::lock_guard lock(mutex_);
    if (lost_) return;
    leading_ = false;
  }
  Request put = request(Method::Put, render_lease(record->record, options_.name_space, options_.name));
  put.timeout = Seconds{1};
  advance(call(put, true, {}));
}

std::optional<LeaderInput> LeaderElector::perform(const LeaderNext& next, const std::stop_token& stop) {
  if (std::holds_alternative<GetLease>(next)) return call(request(Method::Get, {}), false, stop);
  if (const auto* create = std::get_if<CreateLease>(&next)) {
    return call(request(Method::Post, render_lease(create->record, options_.name_space, options_.name)), true, stop);
  }
  if (const auto* update = std::get_if<UpdateLease>(&next)) {
    return call(request(Method::Put, render_lease(update->record, options_.name_space, options_.name)), true, stop);
  }
  if (const auto* lease = std::get_if<WatchLease>(&next)) return watch(*lease, stop);
  if (const auto* pause = std::get_if<PauseElection>(&next)) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, stop, pause->delay, [this] { return lost_; });
    return ElectionWoken{};
  }
  return std::nullopt;
}

Request LeaderElector::request(Method method, std::string body) const {
  Request out{.method = method,
              .path = resource_path(kLeases, options_.name_space, method == Method::Post ? std::string_view{} : std::string_view(options_.name)),
              .content_type = body.empty() ? "" : "application/json",
              .body = std::move(body)};
  // Half the deadline, so that one call into a black hole leaves time for another.
  out.timeout = std::max(Seconds{1}, options_.renew_deadline / 2);
  return out;
}

LeaderInput LeaderElector::call(const Request& request, bool write, const std::stop_token& stop) {
  std::stop_source cancel;
  {
    const std::lock_guard lock(mutex_);
    cancel_ = cancel;
  }
  const std::stop_callback link(stop, [&cancel] { cancel.request_stop(); });
  const auto reply = api_.send(request, cancel.get_token());
  if (!reply) return LeaseCallFailed{.message = reply.error().message};
  if (reply->status == 404 && request.method != Method::Post) return LeaseAbsent{};
  if (reply->status == 409) return LeaseConflict{};
  if (reply->status < 200 || reply->status > 299) {
    const auto status = parse_watch_status(reply->body, reply->status);
    return LeaseCallFailed{.message = std::to_string(status.code) + " " + status.reason + ": " + status.message};
  }
  auto lease = parse_lease(reply->body);
  if (!lease) return LeaseCallFailed{.message = lease.error().message};
  if (write) return LeaseWritten{.record = std::move(*lease)};
  return LeaseRead{.record = std::move(*lease)};
}

std::optional<LeaderInput> LeaderElector::watch(const WatchLease& lease, const std::stop_token& stop) {
  constexpr Seconds kWatchTimeout{300};
  Request watch{.path = resource_path(kLeases, options_.name_space), .timeout = at_least_a_second(lease.silence)};
  watch.query = {{"watch", "true"},
                 {"resourceVersion", lease.resource_version},
                 {"timeoutSeconds", std::to_string(kWatchTimeout.count())},
                 {"fieldSelector", "metadata.name=" + options_.name}};
  Sink sink(*this);
  const auto streamed = api_.stream(watch, sink, stop);
  if (sink.decided()) return std::nullopt;
  const bool broken = !streamed && streamed.error().code != ErrorCode::Timeout;
  return LeaseWatchOver{.failed = sink.failed() || broken};
}

void LeaderElector::advance(const LeaderInput& input) {
  const auto done = step(std::move(state_), input, options_, context());
  state_ = done.state;
  next_ = done.next;
  LeaderTerm term;
  {
    const std::lock_guard lock(mutex_);
    if (state_.role == LeaderState::Role::Leader && !lost_) {
      leads_until_ = leads_until(state_, options_);
      if (done.started) {
        leading_ = true;
        term_ = {.acquired_at = clock_.steady(), .transitions = state_.observed->transitions};
      }
      term = term_;
    }
  }
  changed_.notify_all();
  std::string trouble;
  if (const auto* failed = std::get_if<LeaseCallFailed>(&input)) trouble = failed->message;
  if (!trouble.empty() && trouble != last_trouble_ && hooks_.log) hooks_.log("leader election: " + trouble);
  last_trouble_ = trouble;
  if (done.new_holder && hooks_.on_new_holder) hooks_.on_new_holder(*done.new_holder);
  if (!done.lost.empty()) return lose(done.lost);
  if (done.started && is_leading() && hooks_.on_started) hooks_.on_started(term);
}

void LeaderElector::watchdog(const std::stop_token& over) {
  std::unique_lock lock(mutex_);
  while (!over.stop_requested() && !lost_) {
    const auto left = leading_ ? leads_until_ - clock_.steady() : std::chrono::nanoseconds{std::chrono::hours{1}};
    if (left <= std::chrono::nanoseconds{0}) {
      lock.unlock();
      lose("the lease could not be renewed for the renew deadline");
      return;
    }
    const bool was_leading = leading_;
    const Instant until = leads_until_;
    changed_.wait_for(lock, over, left, [&] { return lost_ || leading_ != was_leading || leads_until_ != until; });
  }
}

void LeaderElector::lose(std::string_view reason) {
  std::stop_source call;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(lost_, true)) return;
    leading_ = false;
    call = cancel_;
  }
  changed_.notify_all();
  if (hooks_.on_lost) hooks_.on_lost(reason);
  call.request_stop();
}

bool LeaderElector::is_leading() const {
  const std::lock_guard lock(mutex_);
  return leading_ && !lost_ && clock_.steady() < leads_until_;
}

std::optional<LeaderTerm> LeaderElector::term() const {
  const std::lock_guard lock(mutex_);
  if (!leading_ || lost_ || clock_.steady() >= leads_until_) return std::nullopt;
  return term_;
}

}  // namespace verl::kube
