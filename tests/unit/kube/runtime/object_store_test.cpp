// The cache's differences, and the question "has it seen this write".
#include "kube/runtime/object_store.h"

#include <gtest/gtest.h>

namespace verl::kube {
namespace {

const ObjectKey kKey{"rl", "a"};
const Instant kStart{std::chrono::hours{1}};

StoredPtr object(std::string name, std::string uid, std::string version) {
  auto stored = std::make_shared<StoredObject>();
  stored->head = {.key = {"rl", std::move(name)}, .uid = std::move(uid), .resource_version = std::move(version)};
  stored->value = std::make_shared<int>(1);
  return stored;
}

std::string text(const StoredPtr& one) { return one ? one->head.key.name + "/" + one->head.uid + "@" + one->head.resource_version : "-"; }
std::vector<std::string> text(const StoreUpdate& update) {
  std::vector<std::string> all;
  for (const auto& change : update.changes) all.push_back(text(change.before) + " > " + text(change.after));
  return all;
}
using Texts = std::vector<std::string>;

StoreUpdate cached_list(ObjectStore& store, std::vector<StoredPtr> objects) { return store.replace(std::move(objects), "9", false, kStart, store.writes()); }
StoreUpdate quorum_list(ObjectStore& store, std::vector<StoredPtr> objects) { return store.replace(std::move(objects), "9", true, kStart, store.writes()); }

TEST(Store, L2_AListReplacesTheCache) {
  ObjectStore store;
  EXPECT_FALSE(store.view()->synced);
  EXPECT_EQ(text(cached_list(store, {object("b", "2", "1"), object("a", "1", "1")})), (Texts{"- > a/1@1", "- > b/2@1"}));
  EXPECT_TRUE(store.view()->synced);
  EXPECT_EQ(store.view()->objects[0]->head.key.name, "a") << "sorted by key";
  EXPECT_EQ(store.view()->resource_version, "9");
}

TEST(Store, L8_AnObjectThatVanishedBetweenTwoListsIsDeletedWithItsLastState) {
  ObjectStore store;
  cached_list(store, {object("a", "1", "1"), object("b", "2", "1")});
  EXPECT_EQ(text(cached_list(store, {object("b", "2", "1")})), (Texts{"a/1@1 > -"}));
}

TEST(Store, L9_ANameTakenByAnotherObjectIsAnEndAndABeginning) {
  ObjectStore store;
  cached_list(store, {object("a", "1", "1")});
  EXPECT_EQ(text(cached_list(store, {object("a", "2", "5")})), (Texts{"a/1@1 > -", "- > a/2@5"}));
  EXPECT_EQ(text(store.put(object("a", "3", "6"))), (Texts{"a/2@5 > -", "- > a/3@6"}));
}

TEST(Store, W2_EventsAddModifyAndRemove) {
  ObjectStore store;
  EXPECT_EQ(text(store.put(object("a", "1", "1"))), (Texts{"- > a/1@1"}));
  EXPECT_EQ(text(store.put(object("a", "1", "2"))), (Texts{"a/1@1 > a/1@2"}));
  EXPECT_EQ(text(store.remove(object("a", "1", "3"))), (Texts{"a/1@3 > -"}));
  EXPECT_TRUE(store.view()->objects.empty());
}

TEST(Store, W18_ADuplicateChangesNothing) {
  ObjectStore store;
  store.put(object("a", "1", "1"));
  EXPECT_EQ(text(store.put(object("a", "1", "1"))), Texts{});
  store.remove(object("a", "1", "2"));
  EXPECT_EQ(text(store.remove(object("a", "1", "2"))), Texts{});
}

TEST(Store, ADeletionOfAPredecessorLeavesTheSuccessor) {
  ObjectStore store;
  store.put(object("a", "2", "5"));
  EXPECT_EQ(text(store.remove(object("a", "1", "3"))), Texts{});
  EXPECT_EQ(store.view()->objects.size(), 1U);
}

TEST(Store, O3_IsBehindUntilTheVersionOfTheOwnWriteIsSeen) {
  ObjectStore store;
  store.put(object("a", "1", "5"));
  store.expect(kKey, "1", "7", kStart);
  EXPECT_TRUE(store.view()->behind.contains(kKey));
  EXPECT_TRUE(store.put(object("a", "1", "6")).caught_up.empty()) << "somebody else's write before ours";
  EXPECT_TRUE(store.is_behind(kKey));
  EXPECT_EQ(store.put(object("a", "1", "7")).caught_up, std::vector<ObjectKey>{kKey});
  EXPECT_FALSE(store.view()->behind.contains(kKey));
}

TEST(Store, O3_AWriteThatTheCacheSawBeforeItsAnswerCameIsNotWaitedFor) {
  ObjectStore store;
  store.put(object("a", "1", "7"));
  store.expect(kKey, "1", "7", kStart);
  EXPECT_FALSE(store.is_behind(kKey));
  store.put(object("a", "1", "8"));
  store.expect(kKey, "1", "7", kStart);
  EXPECT_FALSE(store.is_behind(kKey)) << "it was seen and is already overwritten";
}

TEST(Store, O3_TheEndOfTheObjectEndsTheWait) {
  ObjectStore store;
  store.put(object("a", "1", "5"));
  store.expect(kKey, "1", "7", kStart);
  EXPECT_EQ(store.remove(object("a", "1", "8")).caught_up, std::vector<ObjectKey>{kKey});
  store.put(object("a", "2", "9"));
  store.expect(kKey, "2", "11", kStart);
  EXPECT_EQ(store.put(object("a", "3", "12")).caught_up, std::vector<ObjectKey>{kKey}) << "another object has its name";
}

TEST(Store, O3_APredecessorOfTheSameNameDoesNotEndTheWait) {
  ObjectStore store;
  store.put(object("a", "old", "5"));
  store.expect(kKey, "new", "9", kStart);  // deleted and created again by us; the cache has seen neither
  EXPECT_TRUE(store.put(object("a", "old", "7")).caught_up.empty());
  EXPECT_TRUE(store.remove(object("a", "old", "8")).caught_up.empty());
  EXPECT_TRUE(store.is_behind(kKey));
  EXPECT_EQ(store.put(object("a", "new", "9")).caught_up, std::vector<ObjectKey>{kKey});
}

TEST(Store, O3_OnlyAQuorumListThatBeganLaterEndsTheWait) {
  ObjectStore store;
  const auto writes_before = store.writes();
  store.expect(kKey, "1", "7", kStart);
  EXPECT_TRUE(cached_list(store, {object("a", "1", "6")}).caught_up.empty()) << "from the watch cache: may be older";
  EXPECT_TRUE(store.replace({object("a", "1", "6")}, "9", true, kStart, writes_before).caught_up.empty()) << "began before the write";
  EXPECT_EQ(quorum_list(store, {object("a", "1", "8")}).caught_up, std::vector<ObjectKey>{kKey});
}

TEST(Store, O3_AnyListThatShowsTheVersionEndsTheWait) {
  ObjectStore store;
  store.expect(kKey, "1", "7", kStart);
  EXPECT_EQ(cached_list(store, {object("a", "1", "7")}).caught_up, std::vector<ObjectKey>{kKey});
}

TEST(Store, O3_SeveralWritesAreAllWaitedFor) {
  ObjectStore store;
  store.expect(kKey, "1", "7", kStart);
  store.expect(kKey, "1", "9", kStart + Seconds{1});
  EXPECT_EQ(store.oldest_write(), kStart);
  EXPECT_TRUE(store.put(object("a", "1", "7")).caught_up.empty());
  EXPECT_EQ(store.oldest_write(), kStart + Seconds{1});
  EXPECT_EQ(store.put(object("a", "1", "9")).caught_up, std::vector<ObjectKey>{kKey});
  EXPECT_EQ(store.oldest_write(), std::nullopt);
}

TEST(Store, O3_ALostAnswerIsOnlyEndedByAQuorumList) {
  ObjectStore store;
  store.put(object("a", "1", "5"));
  store.expect_unknown(kKey, kStart);
  store.put(object("a", "1", "7"));
  store.put(object("a", "2", "8"));
  store.remove(object("a", "2", "9"));
  EXPECT_TRUE(store.is_behind(kKey));
  EXPECT_EQ(quorum_list(store, {}).caught_up, std::vector<ObjectKey>{kKey});
}

TEST(Store, O3_AnAcceptedDeleteIsWaitedFor) {
  ObjectStore store;
  store.expect_gone(kKey, "1", kStart);
  EXPECT_FALSE(store.is_behind(kKey)) << "it is not there";
  store.put(object("a", "1", "5"));
  store.expect_gone(kKey, "1", kStart);
  EXPECT_TRUE(store.is_behind(kKey));
  EXPECT_EQ(store.remove(object("a", "1", "6")).caught_up, std::vector<ObjectKey>{kKey});
}

TEST(Store, O2_TwoCachesKeepTheirOwnAccounts) {
  ObjectStore jobs;
  ObjectStore pods;
  jobs.put(object("a", "1", "5"));
  jobs.expect(kKey, "1", "7", kStart);
  pods.put(object("a", "9", "7"));
  EXPECT_TRUE(jobs.is_behind(kKey)) << "a version seen by another cache proves nothing";
  EXPECT_FALSE(pods.is_behind(kKey));
}

TEST(Store, FreshSinceIsTheStartOfTheLastQuorumList) {
  ObjectStore store;
  cached_list(store, {});
  EXPECT_EQ(store.view()->fresh_since, std::nullopt);
  quorum_list(store, {});
  EXPECT_EQ(store.view()->fresh_since, kStart);
  store.replace({}, "10", false, kStart + Seconds{5}, store.writes());
  EXPECT_EQ(store.view()->fresh_since, kStart);
}

TEST(Store, AViewStaysAsItWas) {
  ObjectStore store;
  store.put(object("a", "1", "1"));
  const auto before = store.view();
  EXPECT_EQ(before, store.view()) << "no copy while nothing changes";
  store.put(object("b", "2", "2"));
  EXPECT_EQ(before->objects.size(), 1U);
  EXPECT_EQ(store.view()->objects.size(), 2U);
}

}  // namespace
}  // namespace verl::kube
