// The cache of one resource, and which of our own writes it has not caught up with yet. Not thread-safe: its owner locks.
// It knows keys, UIDs and versions; values are opaque. What to ask the apiserver is decided by reflector_step.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kube/protocol/backoff.h"
#include "kube/protocol/object_head.h"

namespace verl::kube {

struct StoredObject {
  ObjectHead head{};
  std::shared_ptr<const void> value{};  // null when the object could not be decoded
  std::string problem{};                // why; empty otherwise
};
using StoredPtr = std::shared_ptr<const StoredObject>;

// One difference: added (no before), deleted (no after) or modified (both, same UID).
struct StoreChange {
  StoredPtr before{};
  StoredPtr after{};
};

struct StoreUpdate {
  std::vector<StoreChange> changes{};
  std::vector<ObjectKey> caught_up{};  // keys whose own writes are all visible now
};

// What readers get: immutable, sorted by key.
struct StoreView {
  std::vector<StoredPtr> objects{};
  std::set<ObjectKey> behind{};              // keys with an own write that is not visible here
  std::string resource_version{};
  bool synced{false};                        // one whole list has been applied
  std::optional<Instant> fresh_since{};      // everything written before this is visible: start of the last quorum list
};

class ObjectStore final {
 public:
  // A complete list. `started` is when its first page was asked for, `started_at` the write count then (see writes()),
  // `quorum` whether it was read through the quorum.
  StoreUpdate replace(std::vector<StoredPtr> objects, std::string resource_version, bool quorum, Instant started,
                      std::uint64_t started_at);

  // One watch event, in stream order.
  StoreUpdate put(StoredPtr object);
  StoreUpdate remove(const StoredPtr& last_known);

  void set_version(std::string resource_version);

  // ---- own writes. Versions are opaque, so "newer" is only ever: this very version; the object's end; or a quorum list
  // that began after the write was reported here.
  void expect(const ObjectKey& key, std::string uid, std::string resource_version, Instant now);
  void expect_gone(const ObjectKey& key, std::string uid, Instant now);  // a delete that was accepted
  void expect_unknown(const ObjectKey& key, Instant now);                // a write whose answer was lost

  bool is_behind(const ObjectKey& key) const { return writes_.contains(key); }
  std::optional<Instant> oldest_write() const;
  std::uint64_t writes() const { return write_count_; }

  StoredPtr find(const ObjectKey& key) const;  // null when it is not there
  std::shared_ptr<const StoreView> view();

 private:
  struct OwnWrite {
    enum class Kind { Version, Gone, Unknown };
    Kind kind{Kind::Version};
    std::string uid{};
    std::string resource_version{};
    std::uint64_t number{0};
    Instant at{};
  };

  void remember(const StoredObject& object);
  bool was_seen(const ObjectKey& key, const std::string& resource_version) const;
  void add_write(const ObjectKey& key, OwnWrite write);
  template <class Satisfied>
  void settle(const ObjectKey& key, StoreUpdate& update, Satisfied satisfied);

  std::map<ObjectKey, StoredPtr> objects_{};
  std::map<ObjectKey, std::vector<OwnWrite>> writes_{};
  // Versions that lately passed through the cache: a write's answer may reach us after its event, and others' writes too.
  std::deque<std::pair<ObjectKey, std::string>> passed_{};
  std::set<std::pair<ObjectKey, std::string>> passed_set_{};
  std::string resource_version_{};
  bool synced_{false};
  std::optional<Instant> fresh_since_{};
  std::uint64_t write_count_{0};
  std::shared_ptr<const StoreView> view_{};
};

}  // namespace verl::kube
