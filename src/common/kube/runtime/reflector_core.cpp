#include "kube/runtime/reflector_core.h"

#include <random>
#include <utility>

#include "base/text.h"
#include "kube/protocol/list_page.h"
#include "kube/protocol/watch_status.h"
#include "kube/protocol/watch_stream.h"

namespace verl::kube {
namespace {

constexpr std::size_t kErrorBody = 2048;

double random_share() {
  thread_local std::mt19937_64 engine{std::random_device{}()};
  return std::uniform_real_distribution<double>{0.0, 1.0}(engine);
}

std::string describe(const WatchStatus& status) {
  std::string text = std::to_string(status.code);
  if (!status.reason.empty()) text += " " + status.reason;
  if (!status.message.empty()) text += ": " + status.message;
  return text;
}

std::optional<Seconds> longer(std::optional<Seconds> a, std::optional<Seconds> b) {
  if (!a) return b;
  if (!b) return a;
  return std::max(*a, *b);
}

WatchEnded ended_by(const WatchStatus& status, bool as_event, std::optional<Seconds> retry_after) {
  WatchEnded ended{.how = WatchEnd::Refused, .message = describe(status), .retry_after = longer(retry_after, status.retry_after)};
  if (is_expired(status)) ended.how = WatchEnd::Expired;
  if (status.code == 429) ended.how = WatchEnd::Throttled;
  if (as_event && status.code == 500) ended.how = WatchEnd::InternalError;
  return ended;
}

}  // namespace

// Reads one watch: every complete line becomes an input of the machine at once.
class ReflectorCore::Sink final : public StreamSink {
 public:
  Sink(ReflectorCore& core, const WatchRequest& request)
      : core_(core), lines_(core.options_.max_line), deadline_(core.clock_.steady() + request.timeout + core.options_.watch_grace) {}

  bool on_reply(int status, std::optional<Seconds> retry_after, std::optional<Timestamp>) override {
    status_ = status;
    retry_after_ = retry_after;
    return true;
  }

  bool on_bytes(std::string_view bytes) override {
    if (status_ != 200) {
      error_body_ += bytes.substr(0, kErrorBody - error_body_.size());
      return error_body_.size() < kErrorBody;
    }
    const auto go_on = lines_.feed(bytes, [this](std::string_view line) { return on_line(line); });
    if (!go_on) {
      ended_ = WatchEnded{.how = WatchEnd::LineTooLong, .message = go_on.error().message};
      return false;
    }
    if (*go_on && core_.clock_.steady() > deadline_) {
      ended_ = WatchEnded{.how = WatchEnd::Silent, .message = "it outlived its own timeout"};
      return false;
    }
    return *go_on;
  }

  // How it ended, once Api::stream has returned; nullopt when we cancelled it.
  std::optional<WatchEnded> ended(const Result<bool>& streamed) const {
    if (ended_) return ended_;
    const bool opened = status_ != 0;
    if (opened && status_ != 200 && (streamed || streamed.error().code != ErrorCode::Cancelled)) {
      return ended_by(parse_watch_status(error_body_, status_), false, retry_after_);
    }
    if (streamed) return WatchEnded{.how = WatchEnd::Closed};
    if (streamed.error().code == ErrorCode::Cancelled) return std::nullopt;
    WatchEnded lost{.how = opened ? WatchEnd::Lost : WatchEnd::NotOpened, .message = streamed.error().message};
    if (opened && streamed.error().code == ErrorCode::Timeout) lost.how = WatchEnd::Silent;
    return lost;
  }

 private:
  bool on_line(std::string_view line) {
    const auto event = parse_watch_line(line);
    if (!event) {
      ended_ = WatchEnded{.how = WatchEnd::Malformed, .message = event.error().message};
      return false;
    }
    if (event->type == WatchType::Error) {
      ended_ = ended_by(parse_watch_status(event->object_json, 0), true, {});
      return false;
    }
    EventArrived arrived{.type = event->type, .resource_version = {}, .usable = false};
    const auto head = event->object_json.empty() ? Result<TypedHead>{failure(ErrorCode::Invalid, "no object")}
                                                 : parse_typed_head(event->object_json);
    const Resource& wanted = core_.target_.resource;
    if (head && head->kind == wanted.kind && head->api_version == api_version(wanted) && event->type != WatchType::Other) {
      arrived.resource_version = head->head.resource_version;
      arrived.usable = event->type == WatchType::Bookmark || is_complete(head->head);
      if (arrived.usable && event->type != WatchType::Bookmark) core_.event_object_ = core_.decode(head->head, event->object_json);
    }
    core_.event_type_ = event->type;
    core_.advance(arrived);
    return !core_.relist_pending();
  }

  ReflectorCore& core_;
  LineBuffer lines_;
  Instant deadline_;
  int status_{0};
  std::optional<Seconds> retry_after_{};
  std::string error_body_{};
  std::optional<WatchEnded> ended_{};
};

ReflectorCore::ReflectorCore(Api& api, const Clock& clock, WatchTarget target, Decode decode, Hooks hooks, ReflectorOptions options, Equal equal)
    : api_(api), clock_(clock), target_(std::move(target)), decode_(std::move(decode)), hooks_(std::move(hooks)), options_(options), equal_(std::move(equal)) {}

StepContext ReflectorCore::context() { return {.now = clock_.steady(), .random = random_share()}; }

void ReflectorCore::run(std::stop_token stop) {
  apply(begin(options_, context()));
  while (!stop.stop_requested()) {
    const auto happened = perform(next_, stop);
    if (stop.stop_requested()) return;
    if (happened) advance(*happened);
    if (take_relist_asked()) advance(RelistAsked{});
  }
}

std::optional<ReflectorInput> ReflectorCore::perform(const ReflectorNext& next, const std::stop_token& stop) {
  if (const auto* request = std::get_if<ListRequest>(&next)) return list(*request, stop);
  if (const auto* request = std::get_if<WatchRequest>(&next)) return watch(*request, stop);
  if (const auto* pause = std::get_if<Wait>(&next)) wait(*pause, stop);
  if (relist_pending()) return std::nullopt;
  return Woken{};
}

ReflectorInput ReflectorCore::list(const ListRequest& request, const std::stop_token& stop) {
  page_.clear();
  {
    const std::lock_guard lock(mutex_);
    if (request.continue_token.empty()) {
      list_started_ = clock_.steady();
      writes_at_start_ = store_.writes();
    }
  }
  auto reply = api_.send(to_request(target_, request, options_), stop);
  if (!reply) {
    const bool large = reply.error().code == ErrorCode::TooLarge;
    return ListFailed{.failure = large ? ListFailure::BodyTooLarge : ListFailure::Other, .message = reply.error().message};
  }
  if (reply->status != 200) {
    const auto status = parse_watch_status(reply->body, reply->status);
    ListFailed failed{.message = describe(status), .retry_after = longer(reply->retry_after, status.retry_after)};
    if (is_expired(status)) failed.failure = ListFailure::Expired;
    if (status.version_too_large) failed.failure = ListFailure::VersionTooLarge;
    return failed;
  }
  const auto page = parse_list_page(reply->body, target_.resource);
  if (!page) return ListFailed{.message = page.error().message};
  page_.reserve(page->items.size());
  for (const auto item : page->items) {
    auto head = parse_typed_head(item);
    if (!head) return ListFailed{.message = head.error().message};
    if (!is_complete(head->head)) return ListFailed{.message = "read a list: an item has no name, UID or version"};
    page_.push_back(shared_with_cache(decode(std::move(head->head), item)));
  }
  return PageArrived{.resource_version = page->resource_version, .continue_token = page->continue_token};
}

std::optional<ReflectorInput> ReflectorCore::watch(const WatchRequest& request, const std::stop_token& stop) {
  std::stop_source open;
  {
    const std::lock_guard lock(mutex_);
    if (relist_asked_) return std::nullopt;
    watch_stop_ = open;
    ++counts_.watches;
  }
  const std::stop_callback link(stop, [&open] { open.request_stop(); });
  Sink sink(*this, request);
  const auto streamed = api_.stream(to_request(target_, request, options_), sink, open.get_token());
  if (relist_pending()) return std::nullopt;
  if (auto ended = sink.ended(streamed)) return *ended;
  return WatchEnded{.how = WatchEnd::Lost, .message = "it was cancelled"};
}

void ReflectorCore::wait(const Wait& pause, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, stop, pause.delay, [this] { return relist_asked_; });
}

StoredPtr ReflectorCore::decode(ObjectHead head, std::string_view padded_json) {
  auto object = std::make_shared<StoredObject>();
  object->head = std::move(head);
  auto value = decode_(padded_json);
  if (value) {
    object->value = std::move(*value);
  } else {
    object->problem = value.error().message;
    const std::lock_guard lock(mutex_);
    ++counts_.unreadable;
  }
  return object;
}

// A list over a filled cache mostly brings what is there already. Keeping the old copy of it instead of both until the last
// page is there halves the memory of a list again. Compared whole, since a version alone proves little after a restored backup.
StoredPtr ReflectorCore::shared_with_cache(StoredPtr object) const {
  if (!equal_ || object->value == nullptr) return object;
  StoredPtr there;
  {
    const std::lock_guard lock(mutex_);
    there = store_.find(object->head.key);
  }
  if (there == nullptr || there->value == nullptr || there->head != object->head) return object;
  return equal_(there->value.get(), object->value.get()) ? there : object;
}

void ReflectorCore::advance(const ReflectorInput& input) {
  const auto* list_failed = std::get_if<ListFailed>(&input);
  const auto* ended = std::get_if<WatchEnded>(&input);
  const auto* event = std::get_if<EventArrived>(&input);
  auto done = step(std::move(state_), input, options_, context());
  {
    const std::lock_guard lock(mutex_);
    if (std::holds_alternative<PageArrived>(input)) ++counts_.pages;
    if (event) ++counts_.events;
    if (event && !event->usable) ++counts_.skipped;
    if ((list_failed && list_failed->failure == ListFailure::BodyTooLarge) || (ended && ended->how == WatchEnd::LineTooLong)) {
      ++counts_.too_large;
    }
    if ((list_failed || ended) && std::holds_alternative<Wait>(done.next)) ++counts_.failures;
  }
  apply(std::move(done));
}

void ReflectorCore::apply(ReflectorStep done) {
  state_ = std::move(done.state);
  next_ = std::move(done.next);
  StoreUpdate update;
  bool listed = false;
  {
    const std::lock_guard lock(mutex_);
    trouble_ = state_.trouble;
    switch (done.cache) {
      case CacheAction::None:
        break;
      case CacheAction::DropPages:
        pages_.clear();
        page_.clear();
        break;
      case CacheAction::KeepPage:
      case CacheAction::ReplaceByPages:
        pages_.insert(pages_.end(), std::make_move_iterator(page_.begin()), std::make_move_iterator(page_.end()));
        page_.clear();
        if (done.cache == CacheAction::KeepPage) break;
        update = store_.replace(std::exchange(pages_, {}), state_.resource_version, done.quorum_list, list_started_, writes_at_start_);
        ++counts_.lists;
        listed = true;
        break;
      case CacheAction::ApplyEvent:
        update = event_type_ == WatchType::Deleted ? store_.remove(event_object_) : store_.put(event_object_);
        break;
    }
    store_.set_version(state_.resource_version);
    if (own_write_overdue()) relist_asked_ = true;
  }
  event_object_.reset();
  if (!done.notice.empty() && hooks_.log) hooks_.log(target_.resource.plural + ": " + done.notice);
  tell(update);
  if (listed && hooks_.on_listed) hooks_.on_listed();
}

void ReflectorCore::tell(const StoreUpdate& update) {
  if (hooks_.on_change) {
    for (const auto& change : update.changes) hooks_.on_change(change);
  }
  if (hooks_.on_caught_up) {
    for (const auto& key : update.caught_up) hooks_.on_caught_up(key);
  }
}

bool ReflectorCore::own_write_overdue() {
  const auto oldest = store_.oldest_write();
  if (!oldest || clock_.steady() - *oldest <= options_.own_write_deadline) return false;
  // Once per write is enough: a list that was asked for is tried until it succeeds.
  return std::exchange(relisted_for_writes_, store_.writes()) != store_.writes();
}

bool ReflectorCore::relist_pending() const {
  const std::lock_guard lock(mutex_);
  return relist_asked_;
}

bool ReflectorCore::take_relist_asked() {
  const std::lock_guard lock(mutex_);
  return std::exchange(relist_asked_, false);
}

void ReflectorCore::force_relist() {
  std::stop_source open;
  {
    const std::lock_guard lock(mutex_);
    relist_asked_ = true;
    open = watch_stop_;
  }
  wake_.notify_all();
  open.request_stop();  // not under the lock: it runs the transport's callback
}

std::shared_ptr<const StoreView> ReflectorCore::view() {
  bool overdue = false;
  std::shared_ptr<const StoreView> view;
  {
    const std::lock_guard lock(mutex_);
    overdue = own_write_overdue();
    view = store_.view();
  }
  if (overdue) force_relist();
  return view;
}

ReflectorCounts ReflectorCore::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

std::string ReflectorCore::trouble() const {
  const std::lock_guard lock(mutex_);
  return trouble_;
}

void ReflectorCore::expect(const ObjectKey& key, std::string uid, std::string resource_version) {
  const std::lock_guard lock(mutex_);
  store_.expect(key, std::move(uid), std::move(resource_version), clock_.steady());
}

void ReflectorCore::expect_gone(const ObjectKey& key, std::string uid) {
  const std::lock_guard lock(mutex_);
  store_.expect_gone(key, std::move(uid), clock_.steady());
}

void ReflectorCore::expect_unknown(const ObjectKey& key) {
  const std::lock_guard lock(mutex_);
  store_.expect_unknown(key, clock_.steady());
}

}  // namespace verl::kube
