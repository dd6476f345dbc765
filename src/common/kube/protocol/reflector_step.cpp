#include "kube/protocol/reflector_step.h"

#include <algorithm>
#include <utility>

namespace verl::kube {
namespace {

using Stage = ReflectorState::Stage;

class Machine final {
 public:
  Machine(ReflectorState state, const ReflectorOptions& options, StepContext context)
      : state_(std::move(state)), options_(options), context_(context) {}

  ReflectorStep list(CacheAction cache = CacheAction::None) {
    if (std::exchange(state_.relist_after, false)) state_.wants_quorum = true;
    state_.first_request = first_request();
    return send_list(state_.first_request, cache);
  }

  ReflectorStep operator()(const Woken&) { return state_.stage == Stage::WaitingToWatch ? watch() : list(); }

  ReflectorStep operator()(const PageArrived& page) {
    if (state_.pages == 0) state_.list_version = page.resource_version;
    ++state_.pages;
    if (!page.continue_token.empty()) return next_page(page);

    const bool quorum = !state_.first_request.resource_version;
    state_.resource_version = state_.list_version;
    state_.version_unavailable = false;
    if (quorum) state_.wants_quorum = false;
    ReflectorStep done = state_.relist_after ? list(CacheAction::ReplaceByPages) : watch(CacheAction::ReplaceByPages);
    done.quorum_list = quorum;
    return recovered(std::move(done));
  }

  ReflectorStep operator()(const ListFailed& failed) {
    switch (failed.failure) {
      case ListFailure::Expired:
        if (state_.pages > 0 && !state_.request.continue_token.empty()) {
          // The pages' snapshot is gone: one list in a single piece cannot expire half way.
          ListRequest full{.limit = {}, .continue_token = {}, .resource_version = state_.first_request.resource_version};
          state_.first_request = full;
          return send_list(full, CacheAction::DropPages);
        }
        [[fallthrough]];
      case ListFailure::VersionTooLarge:
        if (state_.first_request.resource_version) {
          state_.version_unavailable = true;
          return list(CacheAction::DropPages);
        }
        break;
      case ListFailure::BodyTooLarge:
        // The watch cache ignores the limit, so smaller pages also mean reading through the quorum.
        state_.version_unavailable = true;
        state_.page_size = state_.request.limit ? std::max(1, *state_.request.limit / 2) : page_size();
        break;
      case ListFailure::Other:
        break;
    }
    return wait(Stage::WaitingToList, "list: " + failed.message, failed.retry_after, CacheAction::DropPages);
  }

  ReflectorStep operator()(const EventArrived& event) {
    ++state_.watch_events;
    ReflectorStep read{.next = KeepReading{}};
    if (event.usable) {
      const bool changes = event.type == WatchType::Added || event.type == WatchType::Modified || event.type == WatchType::Deleted;
      if (event.type != WatchType::Added) state_.watch_unordered = false;
      if (!state_.watch_unordered && !event.resource_version.empty()) {
        state_.watch_progressed = state_.watch_progressed || event.resource_version != state_.resource_version;
        state_.resource_version = event.resource_version;
      }
      if (state_.watch_progressed) {
        state_.expired_again = false;
        state_.internal_errors_since.reset();
      }
      if (changes) read.cache = CacheAction::ApplyEvent;
    }
    return recovered(std::move(read));
  }

  ReflectorStep operator()(const WatchEnded& ended) {
    const bool lived = context_.now - state_.watch_sent > std::chrono::seconds{1};
    const bool rewatch_at_once = lived || state_.watch_progressed;
    switch (ended.how) {
      case WatchEnd::Closed:
        if (rewatch_at_once) return watch();
        if (state_.watch_events == 0) return wait(Stage::WaitingToList, "watch: very short: it ended within a second without an event");
        return wait(Stage::WaitingToWatch, "watch: it ended within a second without anything new");
      case WatchEnd::Lost:
      case WatchEnd::Silent:
        if (rewatch_at_once) return watch();
        return wait(Stage::WaitingToWatch, "watch: " + ended.message);
      case WatchEnd::NotOpened:
      case WatchEnd::Throttled:
        return wait(Stage::WaitingToWatch, "watch: " + ended.message, ended.retry_after);
      case WatchEnd::Expired:
        if (!state_.expired_again || rewatch_at_once) {
          state_.expired_again = true;
          return list();
        }
        return wait(Stage::WaitingToList, "watch: expired again: " + ended.message);
      case WatchEnd::InternalError:
        if (!state_.internal_errors_since) state_.internal_errors_since = context_.now;
        if (context_.now - *state_.internal_errors_since < options_.internal_error_limit) {
          return wait(Stage::WaitingToWatch, "watch: " + ended.message, ended.retry_after);
        }
        state_.internal_errors_since.reset();
        return wait(Stage::WaitingToList, "watch: " + ended.message, ended.retry_after);
      case WatchEnd::LineTooLong:
      case WatchEnd::Malformed:
      case WatchEnd::Refused:
        break;
    }
    return wait(Stage::WaitingToList, "watch: " + ended.message, ended.retry_after);
  }

  ReflectorStep operator()(const RelistAsked&) {
    if (state_.stage == Stage::Listing) {
      state_.relist_after = true;
      return {.state = state_, .next = state_.request};
    }
    state_.wants_quorum = true;
    if (state_.stage == Stage::Watching) return list();
    // The wait under way is kept: whoever asks often must not turn back-off into a hot loop.
    state_.stage = Stage::WaitingToList;
    const Instant until = state_.backoff.waited_until.value_or(context_.now);
    const auto left = std::chrono::duration_cast<Microseconds>(until - context_.now);
    return {.state = state_, .next = Wait{.delay = std::max(Microseconds{0}, left)}};
  }

 private:
  int page_size() const { return state_.page_size > 0 ? state_.page_size : options_.page_size; }

  ListRequest first_request() const {
    const bool quorum = options_.first_list == FirstList::Paged || state_.wants_quorum || state_.version_unavailable;
    if (quorum) return {.limit = page_size(), .continue_token = {}, .resource_version = {}};
    if (state_.resource_version.empty()) return {.limit = page_size(), .continue_token = {}, .resource_version = "0"};
    // With a limit the server would bypass its watch cache.
    const std::optional<int> limit = state_.paginated ? std::optional<int>{page_size()} : std::nullopt;
    return {.limit = limit, .continue_token = {}, .resource_version = state_.resource_version};
  }

  ReflectorStep send_list(ListRequest request, CacheAction cache) {
    state_.stage = Stage::Listing;
    state_.pages = 0;
    state_.list_version.clear();
    state_.request = request;
    return {.state = state_, .cache = cache, .next = std::move(request)};
  }

  ReflectorStep next_page(const PageArrived& page) {
    if (page.continue_token == state_.request.continue_token) {
      return (*this)(ListFailed{.failure = ListFailure::Other, .message = "the server sent the same continue token twice"});
    }
    if (state_.first_request.resource_version == "0") state_.paginated = true;
    const std::optional<int> limit = state_.request.limit ? state_.request.limit : std::optional<int>{page_size()};
    state_.request = {.limit = limit, .continue_token = page.continue_token, .resource_version = {}};
    return {.state = state_, .cache = CacheAction::KeepPage, .next = state_.request};
  }

  ReflectorStep watch(CacheAction cache = CacheAction::None) {
    const auto span = static_cast<double>((options_.watch_timeout_max - options_.watch_timeout_min).count());
    const Seconds extra{static_cast<Seconds::rep>(span * context_.random)};
    state_.stage = Stage::Watching;
    state_.watch = {.resource_version = state_.resource_version, .timeout = options_.watch_timeout_min + extra};
    state_.watch_sent = context_.now;
    state_.watch_events = 0;
    state_.watch_progressed = false;
    state_.watch_unordered = state_.resource_version.empty() || state_.resource_version == "0";
    return {.state = state_, .cache = cache, .next = state_.watch};
  }

  ReflectorStep wait(Stage stage, std::string trouble, std::optional<Seconds> at_least = {}, CacheAction cache = CacheAction::None) {
    const auto delay = next_delay(options_.backoff, state_.backoff, context_.now, context_.random);
    state_.backoff = delay.state;
    Microseconds wait_for = delay.delay;
    if (at_least && *at_least > wait_for) {
      wait_for = *at_least;
      state_.backoff.waited_until = context_.now + wait_for;
    }
    state_.stage = stage;
    ReflectorStep out{.cache = cache, .next = Wait{.delay = wait_for}};
    if (trouble != state_.trouble) out.notice = trouble;
    state_.trouble = std::move(trouble);
    out.state = state_;
    return out;
  }

  // A list that arrived or an event that was read: whatever was wrong is over.
  ReflectorStep recovered(ReflectorStep out) {
    if (!state_.trouble.empty()) out.notice = "works again after: " + std::exchange(state_.trouble, {});
    out.state = state_;
    return out;
  }

  ReflectorState state_;
  const ReflectorOptions& options_;
  StepContext context_;
};

}  // namespace

ReflectorStep begin(const ReflectorOptions& options, StepContext context) {
  return Machine(ReflectorState{}, options, context).list();
}

ReflectorStep step(ReflectorState state, const ReflectorInput& input, const ReflectorOptions& options, StepContext context) {
  Machine machine(std::move(state), options, context);
  return std::visit([&](const auto& happened) { return machine(happened); }, input);
}

}  // namespace verl::kube
