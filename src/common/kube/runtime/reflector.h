// A typed cache of one resource. Thin: all that does not depend on the type is in ReflectorCore.
//
//   Reflector<Pod> pods(api, clock, {.resource = kPods}, decode_pod, {.on_change = ..., .log = ...});
//   ReflectorThread thread(pods);
//   const Snapshot<Pod> now = pods.snapshot();
//
// A decoder gets the text of one object, of a list item (built-in kinds carry no kind there) or of an event, with
// kJsonPadding readable bytes past its end. It should refuse only what it cannot read at all: a refused object stays in the
// cache with its head and no value, and the snapshot names it.
#pragma once

#include <algorithm>
#include <concepts>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "kube/runtime/reflector_core.h"

namespace verl::kube {

// An immutable view, sorted by namespace and name; cheap to copy, safe to keep.
template <class T>
class Snapshot final {
 public:
  Snapshot() : view_(std::make_shared<const StoreView>()) {}
  explicit Snapshot(std::shared_ptr<const StoreView> view) : view_(std::move(view)) {}

  std::size_t size() const { return view_->objects.size(); }
  const ObjectHead& head(std::size_t i) const { return view_->objects[i]->head; }
  std::shared_ptr<const T> value(std::size_t i) const { return std::static_pointer_cast<const T>(view_->objects[i]->value); }  // null: unreadable
  const std::string& problem(std::size_t i) const { return view_->objects[i]->problem; }                                       // why

  // Its place, or size() when it is not there.
  std::size_t index_of(const ObjectKey& key) const {
    const auto& all = view_->objects;
    const auto at = std::lower_bound(all.begin(), all.end(), key, [](const StoredPtr& object, const ObjectKey& wanted) { return object->head.key < wanted; });
    return at != all.end() && (*at)->head.key == key ? static_cast<std::size_t>(at - all.begin()) : all.size();
  }
  std::shared_ptr<const T> find(const ObjectKey& key) const {
    const auto i = index_of(key);
    return i == size() ? nullptr : value(i);
  }

  // An own write of this key is not visible here: do not decide from this copy.
  bool is_behind(const ObjectKey& key) const { return view_->behind.contains(key); }
  const std::set<ObjectKey>& behind() const { return view_->behind; }

  bool synced() const { return view_->synced; }
  const std::string& resource_version() const { return view_->resource_version; }
  std::optional<Instant> fresh_since() const { return view_->fresh_since; }

 private:
  std::shared_ptr<const StoreView> view_;
};

template <class T>
class Reflector final {
 public:
  using Decode = std::function<Result<T>(std::string_view padded_json)>;

  // `before` is null for an addition, `after` for a removal. A value is null when the object could not be decoded.
  struct Change {
    const ObjectHead* before_head{nullptr};
    const ObjectHead* after_head{nullptr};
    std::shared_ptr<const T> before{};
    std::shared_ptr<const T> after{};
    const ObjectHead& head() const { return after_head ? *after_head : *before_head; }
  };

  // Called on the reflector's thread without a lock held; any may be empty.
  struct Hooks {
    std::function<void(const Change&)> on_change{};
    std::function<void(const ObjectKey&)> on_caught_up{};
    std::function<void()> on_listed{};
    std::function<void(std::string_view line)> log{};
  };

  Reflector(Api& api, const Clock& clock, WatchTarget target, Decode decode, Hooks hooks = {}, ReflectorOptions options = {})
      : core_(api, clock, std::move(target), erase(std::move(decode)), erase(std::move(hooks)), options, equal()) {}

  ReflectorCore& core() { return core_; }
  void run(std::stop_token stop) { core_.run(std::move(stop)); }

  Snapshot<T> snapshot() { return Snapshot<T>(core_.view()); }
  bool synced() { return core_.view()->synced; }
  std::string last_resource_version() { return core_.view()->resource_version; }
  std::optional<Instant> listed_at() { return core_.view()->fresh_since; }  // start of the last quorum list that was applied
  bool fresh_since(Instant when) { const auto at = listed_at(); return at && *at > when; }
  void force_relist() { core_.force_relist(); }
  ReflectorCounts counts() const { return core_.counts(); }
  std::string trouble() const { return core_.trouble(); }

  // Own writes, reported right after their answer came and before the next snapshot is taken.
  void expect(const ObjectKey& key, std::string uid, std::string resource_version) { core_.expect(key, std::move(uid), std::move(resource_version)); }
  void expect_gone(const ObjectKey& key, std::string uid) { core_.expect_gone(key, std::move(uid)); }
  void expect_unknown(const ObjectKey& key) { core_.expect_unknown(key); }  // the answer was lost

 private:
  static ReflectorCore::Equal equal() {
    if constexpr (std::equality_comparable<T>) {
      return [](const void* a, const void* b) { return *static_cast<const T*>(a) == *static_cast<const T*>(b); };
    } else {
      return {};
    }
  }
  static ReflectorCore::Decode erase(Decode decode) {
    return [decode = std::move(decode)](std::string_view json) -> Result<std::shared_ptr<const void>> {
      auto value = decode(json);
      if (!value) return tl::unexpected<Error>(std::move(value.error()));
      return std::shared_ptr<const void>(std::make_shared<const T>(std::move(*value)));
    };
  }
  static ReflectorCore::Hooks erase(Hooks hooks) {
    ReflectorCore::Hooks erased{.on_caught_up = std::move(hooks.on_caught_up), .on_listed = std::move(hooks.on_listed), .log = std::move(hooks.log)};
    if (hooks.on_change) {
      erased.on_change = [tell = std::move(hooks.on_change)](const StoreChange& change) {
        Change typed;
        if (change.before) typed.before_head = &change.before->head;
        if (change.after) typed.after_head = &change.after->head;
        if (change.before) typed.before = std::static_pointer_cast<const T>(change.before->value);
        if (change.after) typed.after = std::static_pointer_cast<const T>(change.after->value);
        tell(typed);
      };
    }
    return erased;
  }

  ReflectorCore core_;
};

}  // namespace verl::kube
