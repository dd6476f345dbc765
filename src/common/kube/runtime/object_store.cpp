#include "kube/runtime/object_store.h"

#include <algorithm>

namespace verl::kube {
namespace {

constexpr std::size_t kPassedVersions = 8192;

bool same(const StoredObject& a, const StoredObject& b) {
  return a.head.uid == b.head.uid && a.head.resource_version == b.head.resource_version;
}

// A name taken by another object is an end and a beginning, never a modification.
void add_changes(std::vector<StoreChange>& changes, const StoredPtr& before, const StoredPtr& after) {
  if (before && after && before->head.uid != after->head.uid) {
    changes.push_back({.before = before, .after = nullptr});
    changes.push_back({.before = nullptr, .after = after});
  } else if (!before || !after || !same(*before, *after)) {
    changes.push_back({.before = before, .after = after});
  }
}

}  // namespace

void ObjectStore::remember(const StoredObject& object) {
  if (!passed_set_.emplace(object.head.key, object.head.resource_version).second) return;
  passed_.emplace_back(object.head.key, object.head.resource_version);
  if (passed_.size() > kPassedVersions) {
    passed_set_.erase(passed_.front());
    passed_.pop_front();
  }
}

bool ObjectStore::was_seen(const ObjectKey& key, const std::string& resource_version) const {
  const auto found = objects_.find(key);
  if (found != objects_.end() && found->second->head.resource_version == resource_version) return true;
  return passed_set_.contains({key, resource_version});
}

template <class Satisfied>
void ObjectStore::settle(const ObjectKey& key, StoreUpdate& update, Satisfied satisfied) {
  const auto found = writes_.find(key);
  if (found == writes_.end()) return;
  std::erase_if(found->second, satisfied);
  if (!found->second.empty()) return;
  writes_.erase(found);
  update.caught_up.push_back(key);
}

StoreUpdate ObjectStore::replace(std::vector<StoredPtr> objects, std::string resource_version, bool quorum, Instant started,
                                 std::uint64_t started_at) {
  StoreUpdate update;
  std::map<ObjectKey, StoredPtr> next;
  for (auto& object : objects) next.insert_or_assign(object->head.key, std::move(object));
  for (const auto& [key, before] : objects_) {
    if (!next.contains(key)) add_changes(update.changes, before, nullptr);
  }
  for (const auto& [key, after] : next) {
    const auto found = objects_.find(key);
    add_changes(update.changes, found == objects_.end() ? nullptr : found->second, after);
  }
  objects_ = std::move(next);
  resource_version_ = std::move(resource_version);
  synced_ = true;
  if (quorum) fresh_since_ = started;

  std::vector<ObjectKey> pending;
  for (const auto& [key, own] : writes_) pending.push_back(key);
  for (const auto& key : pending) {
    const auto found = objects_.find(key);
    const StoredObject* now = found == objects_.end() ? nullptr : found->second.get();
    settle(key, update, [&](const OwnWrite& own) {
      if (quorum && own.number <= started_at) return true;
      return own.kind == OwnWrite::Kind::Version && now && now->head.resource_version == own.resource_version;
    });
  }
  view_.reset();
  return update;
}

StoreUpdate ObjectStore::put(StoredPtr object) {
  StoreUpdate update;
  const ObjectKey& key = object->head.key;
  auto& slot = objects_[key];
  const StoredPtr before = slot;
  add_changes(update.changes, before, object);
  slot = object;
  if (before) remember(*before);
  remember(*object);
  settle(key, update, [&](const OwnWrite& own) {
    if (own.kind == OwnWrite::Kind::Version && own.resource_version == object->head.resource_version) return true;
    // The object we wrote was here and another one has its name: ours came to its end after our write. Had ours not
    // been here yet, the newcomer could just as well be its predecessor.
    return own.kind != OwnWrite::Kind::Unknown && before && before->head.uid == own.uid && object->head.uid != own.uid;
  });
  view_.reset();
  return update;
}

StoreUpdate ObjectStore::remove(const StoredPtr& last_known) {
  StoreUpdate update;
  const ObjectKey& key = last_known->head.key;
  const auto found = objects_.find(key);
  if (found != objects_.end() && found->second->head.uid == last_known->head.uid) {
    // What is told is the object's last state, as the DELETED event carries it.
    update.changes.push_back({.before = last_known->value ? last_known : found->second, .after = nullptr});
    objects_.erase(found);
  }
  remember(*last_known);
  settle(key, update, [&](const OwnWrite& own) { return own.kind != OwnWrite::Kind::Unknown && own.uid == last_known->head.uid; });
  view_.reset();
  return update;
}

void ObjectStore::set_version(std::string resource_version) {
  if (resource_version == resource_version_) return;
  resource_version_ = std::move(resource_version);
  view_.reset();
}

void ObjectStore::add_write(const ObjectKey& key, OwnWrite write) {
  write.number = ++write_count_;
  writes_[key].push_back(std::move(write));
  view_.reset();
}

void ObjectStore::expect(const ObjectKey& key, std::string uid, std::string resource_version, Instant now) {
  if (was_seen(key, resource_version)) return;
  add_write(key, {.kind = OwnWrite::Kind::Version, .uid = std::move(uid), .resource_version = std::move(resource_version), .at = now});
}

void ObjectStore::expect_gone(const ObjectKey& key, std::string uid, Instant now) {
  const auto found = objects_.find(key);
  if (found == objects_.end() || found->second->head.uid != uid) return;
  add_write(key, {.kind = OwnWrite::Kind::Gone, .uid = std::move(uid), .at = now});
}

void ObjectStore::expect_unknown(const ObjectKey& key, Instant now) {
  add_write(key, {.kind = OwnWrite::Kind::Unknown, .at = now});
}

std::optional<Instant> ObjectStore::oldest_write() const {
  std::optional<Instant> oldest;
  for (const auto& [key, own] : writes_) {
    for (const auto& write : own) oldest = oldest ? std::min(*oldest, write.at) : write.at;
  }
  return oldest;
}

StoredPtr ObjectStore::find(const ObjectKey& key) const {
  const auto found = objects_.find(key);
  return found == objects_.end() ? nullptr : found->second;
}

std::shared_ptr<const StoreView> ObjectStore::view() {
  if (view_) return view_;
  auto view = std::make_shared<StoreView>();
  view->objects.reserve(objects_.size());
  for (const auto& [key, object] : objects_) view->objects.push_back(object);
  for (const auto& [key, own] : writes_) view->behind.insert(key);
  view->resource_version = resource_version_;
  view->synced = synced_;
  view->fresh_since = fresh_since_;
  view_ = std::move(view);
  return view_;
}

}  // namespace verl::kube
