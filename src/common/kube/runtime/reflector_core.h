// Keeps a cache of one resource: runs the list-and-watch machine against an Api. Values are opaque here; Reflector<T>
// gives them a type. Decisions are reflector_step's, the cache is object_store's; this owns the loop and the lock.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "kube/protocol/http.h"
#include "kube/protocol/reflector_step.h"
#include "kube/protocol/watch_request.h"
#include "kube/runtime/object_store.h"

namespace verl::kube {

struct ReflectorCounts {
  std::uint64_t lists{0};        // applied
  std::uint64_t pages{0};
  std::uint64_t watches{0};      // opened or tried
  std::uint64_t events{0};
  std::uint64_t skipped{0};      // events of another kind, without a name, of an unknown type
  std::uint64_t unreadable{0};   // objects that the decoder refused
  std::uint64_t too_large{0};    // bodies and lines over their cap
  std::uint64_t failures{0};     // waits that a failure caused
  bool operator==(const ReflectorCounts&) const = default;
};

class ReflectorCore final {
 public:
  using Decode = std::function<Result<std::shared_ptr<const void>>(std::string_view padded_json)>;
  using Equal = std::function<bool(const void*, const void*)>;  // of two decoded values; empty when they cannot be compared

  // All are called on the thread of run(), without a lock held; any may be empty.
  struct Hooks {
    std::function<void(const StoreChange&)> on_change{};
    std::function<void(const ObjectKey&)> on_caught_up{};   // no own write of this key is unseen any more
    std::function<void()> on_listed{};                      // a whole list was applied
    std::function<void(std::string_view line)> log{};       // when trouble begins, changes or ends
  };

  ReflectorCore(Api& api, const Clock& clock, WatchTarget target, Decode decode, Hooks hooks, ReflectorOptions options, Equal equal = {});

  void run(std::stop_token stop);  // until stopped, and back within a second

  // A cache that is newer than this call: starts a list through the quorum (now, or right after one under way; back-off
  // is kept). Compare fresh_since() of the view to know when it is there.
  void force_relist();

  std::shared_ptr<const StoreView> view();
  ReflectorCounts counts() const;
  std::string trouble() const;  // empty when list and watch work

  void expect(const ObjectKey& key, std::string uid, std::string resource_version);
  void expect_gone(const ObjectKey& key, std::string uid);
  void expect_unknown(const ObjectKey& key);

 private:
  class Sink;

  std::optional<ReflectorInput> perform(const ReflectorNext& next, const std::stop_token& stop);
  ReflectorInput list(const ListRequest& request, const std::stop_token& stop);
  std::optional<ReflectorInput> watch(const WatchRequest& request, const std::stop_token& stop);
  void wait(const Wait& wait, const std::stop_token& stop);
  StoredPtr decode(ObjectHead head, std::string_view padded_json);
  StoredPtr shared_with_cache(StoredPtr object) const;
  void advance(const ReflectorInput& input);
  void apply(ReflectorStep done);
  void tell(const StoreUpdate& update);
  bool own_write_overdue();  // call with the lock held; true once per overdue write
  bool relist_pending() const;
  bool take_relist_asked();
  StepContext context();

  Api& api_;
  const Clock& clock_;
  const WatchTarget target_;
  const Decode decode_;
  const Hooks hooks_;
  const ReflectorOptions options_;
  const Equal equal_;

  // Only the thread of run():
  ReflectorState state_{};
  ReflectorNext next_{KeepReading{}};
  std::vector<StoredPtr> page_{};
  std::vector<StoredPtr> pages_{};
  StoredPtr event_object_{};
  WatchType event_type_{WatchType::Other};
  Instant list_started_{};
  std::uint64_t writes_at_start_{0};

  mutable std::mutex mutex_{};
  std::condition_variable_any wake_{};
  ObjectStore store_{};
  ReflectorCounts counts_{};
  std::string trouble_{};
  bool relist_asked_{false};
  std::uint64_t relisted_for_writes_{0};
  std::stop_source watch_stop_{};  // of the watch that is open
};

}  // namespace verl::kube
