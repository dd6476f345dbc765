// Pages, events and what is no object of the wanted kind.
#include <gtest/gtest.h>

#include "codec/decode.h"

namespace verl::codec {
namespace {

TEST(ListPage, HoldsItemsAndWhereToGoOn) {
  const auto page = decode_list<api::Node>(
      R"({"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"42","continue":"abc"},)"
      R"("items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]})");
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(page->resource_version, "42");
  EXPECT_EQ(page->continue_token, "abc");
  ASSERT_EQ(page->items.size(), 2U);
  EXPECT_EQ(page->items[1].meta.name, "b");
}

TEST(ListPage, IsEmptyWhenItemsAreNullOrAbsent) {
  for (const char* text : {R"({"kind":"PodList","items":null})", R"({"kind":"PodList"})", R"({"kind":"PodList","items":[]})"}) {
    const auto page = decode_list<api::Pod>(text);
    ASSERT_TRUE(page) << text;
    EXPECT_TRUE(page->items.empty());
  }
}

TEST(ListPage, IsReadFromTheListThatKubectlWrites) {
  const auto page = decode_list<api::Node>(R"({"kind":"List","apiVersion":"v1","items":[{"kind":"Node","metadata":{"name":"a"}}]})");
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(page->items.size(), 1U);
}

struct Refused {
  const char* text;
  const char* message;
};

TEST(ListPage, SaysWhatItIsWhenItIsNoListOfTheKind) {
  const Refused table[] = {
      {R"({"kind":"PodList","items":[]})", "wanted a NodeList, got a PodList"},
      {R"({"items":[]})", "wanted a NodeList, got a thing without kind"},
      {R"([])", "wanted a NodeList, got no object"},
      {R"({"kind":"NodeList","items":{}})", "NodeList: items must be a list"},
      {R"({"kind":"NodeList","items":[{},5]})", "NodeList: items[1]: wanted a Node, got no object"},
      {R"({"kind":"List","items":[{"kind":"Pod"}]})", "NodeList: items[0]: wanted a Node, got a Pod"},
      {R"({"kind":"Status","message":"nodes is forbidden"})", "wanted a NodeList, got a Status: nodes is forbidden"},
  };
  for (const Refused& row : table) {
    const auto page = decode_list<api::Node>(row.text);
    ASSERT_FALSE(page) << row.text;
    EXPECT_EQ(page.error().message, row.message);
    EXPECT_EQ(page.error().code, ErrorCode::Invalid);
  }
}

TEST(Object, IsRefusedWhenItIsNoJson) {
  for (const char* text : {"", "{", "nope", R"({"a":1}})", R"({"a":"\ud800"})", "{\"a\":\"\xff\"}"}) {
    const auto node = decode_object<api::Node>(text);
    ASSERT_FALSE(node) << text;
    EXPECT_EQ(node.error().code, ErrorCode::Invalid);
    EXPECT_TRUE(node.error().message.starts_with("Node: no JSON: ")) << node.error().message;
  }
}

TEST(Object, IsRefusedWhenNestedTooDeep) {
  const auto nested = [](size_t depth) {
    return R"({"metadata":{"name":"a"},"x":)" + std::string(depth, '[') + std::string(depth, ']') + "}";
  };
  EXPECT_TRUE(decode_object<api::Node>(nested(60)));
  const auto node = decode_object<api::Node>(nested(70));
  ASSERT_FALSE(node);
  EXPECT_EQ(node.error().message, "Node: JSON nested more than 64 deep");
}

TEST(Object, OfANewerVersionIsReadAsFarAsItIsKnown) {
  const auto job = decode_object<api::VerlJob>(
      R"({"apiVersion":"verl.run/v2","kind":"VerlJob","metadata":{"name":"a","new":{}},"spec":{"image":"i","later":[1,{"x":null}]},"more":7})");
  ASSERT_TRUE(job) << job.error().message;
  EXPECT_EQ(job->meta.name, "a");
  EXPECT_EQ(job->spec.image, "i");
  EXPECT_TRUE(job->unreadable.empty());
}

TEST(ListPage, IsNotHiddenByANumberBeyond64Bits) {
  // The apiserver stores 1e20 as a real and writes it so.
  const auto page = decode_list<api::VerlJob>(
      R"({"kind":"VerlJobList","items":[{"metadata":{"name":"odd \" 123456789012345678901"},"spec":{"trainer":{"overrides":)"
      R"({"a":100000000000000000000,"b":-100000000000000000000,"c":18446744073709551615,"d":0.1234567890123456789012,"e":1e-7}}}},{"metadata":{"name":"plain"},"spec":{}}]})");
  ASSERT_TRUE(page) << page.error().message;
  ASSERT_EQ(page->items.size(), 2U);
  EXPECT_EQ(page->items[0].meta.name, "odd \" 123456789012345678901");
  EXPECT_EQ(page->items[0].spec.trainer.overrides,
            (std::map<std::string, std::string>{{"a", "1e+20"}, {"b", "-1e+20"}, {"c", "1.8446744073709552e+19"}, {"d", "0.12345678901234568"}, {"e", "1e-07"}}));
  EXPECT_EQ(page->items[1].meta.name, "plain");
}

TEST(Object, TakesTheLastOfTwoEqualKeys) {
  const auto node = decode_object<api::Node>(
      R"({"metadata":{"name":"a","name":"b"},"spec":{"taints":[{"key":"x"}],"taints":[]},)"
      R"("status":{"allocatable":{"cpu":"1","cpu":"2"},"allocatable":{"memory":"1"}}})");
  ASSERT_TRUE(node) << node.error().message;
  EXPECT_EQ(node->meta.name, "b");
  EXPECT_TRUE(node->taints.empty());
  EXPECT_EQ(node->allocatable, (api::Resources{{"memory", 1000}}));
}

TEST(Event, CarriesTypeAndObject) {
  const auto event = decode_event<api::Node>(R"({"type":"MODIFIED","object":{"kind":"Node","metadata":{"name":"a","resourceVersion":"9"}}})");
  ASSERT_TRUE(event) << event.error().message;
  EXPECT_EQ(event->type, EventType::Modified);
  EXPECT_EQ(event->object.meta.name, "a");
}

TEST(Event, OfTheServersErrorIsAnError) {
  const auto event = decode_event<api::Node>(R"({"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old resource version"}})");
  ASSERT_FALSE(event);
  EXPECT_EQ(event.error().message, "the watch ended: too old resource version");
}

TEST(Event, OfAnUnknownTypeOrWithoutObjectIsRefused) {
  const Refused table[] = {
      {R"({"type":"MOVED","object":{}})", "a watch event of type \"MOVED\""},
      {R"({"type":"ADDED"})", "a watch event without object"},
      {R"({"type":"ADDED","object":null})", "a watch event without object"},
      {R"({"type":"ADDED","object":{"kind":"Pod"}})", "wanted a Node, got a Pod"},
      {R"(7)", "wanted a watch event, got no object"},
  };
  for (const Refused& row : table) {
    const auto event = decode_event<api::Node>(row.text);
    ASSERT_FALSE(event) << row.text;
    EXPECT_EQ(event.error().message, row.message);
  }
}

}  // namespace
}  // namespace verl::codec
