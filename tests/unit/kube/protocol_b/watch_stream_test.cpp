#include "kube/protocol/watch_stream.h"

#include <gtest/gtest.h>

#include <vector>

#include "kube/protocol/list_page.h"
#include "kube/protocol/object_head.h"
#include "kube/protocol/watch_request.h"
#include "kube/protocol/watch_status.h"

namespace verl::kube {
namespace {

const Resource kPods{"", "v1", "Pod", "pods", true};
const Resource kJobs{"verl.run", "v1alpha1", "VerlJob", "verljobs", true};

std::string padded(std::string text) {
  text.reserve(text.size() + kJsonPadding);
  return text;
}

struct Lines {
  std::vector<std::string> lines{};
  std::vector<std::string> errors{};
};

Lines cut(std::string_view stream, std::size_t piece, Bytes cap = Bytes{4 * kMiB.count}) {
  LineBuffer buffer(cap);
  Lines out;
  for (std::size_t at = 0; at < stream.size(); at += piece) {
    const auto fed = buffer.feed(stream.substr(at, piece), [&](std::string_view line) {
      out.lines.emplace_back(line);
      return true;
    });
    if (!fed) {
      out.errors.push_back(fed.error().message);
      break;
    }
  }
  return out;
}

TEST(Watch, W13_PiecesOfAnySizeGiveTheSameLines) {
  const std::string stream = "{\"type\":\"ADDED\",\"a\":\"straße \xF0\x9F\x9A\x80\"}\n\n{\"b\":2}\r\n{\"c\":3}\n";
  const auto whole = cut(stream, stream.size());
  EXPECT_EQ(whole.lines.size(), 3U);
  EXPECT_EQ(whole.lines[1], "{\"b\":2}");
  for (std::size_t piece = 1; piece < stream.size(); ++piece) EXPECT_EQ(cut(stream, piece).lines, whole.lines);
}

TEST(Watch, W14_TwoMebibytesAreALineAndMoreThanTheCapIsAnError) {
  const std::string large(2 * 1024 * 1024, 'x');
  EXPECT_EQ(cut(large + "\n", 16384).lines.size(), 1U);
  const auto over = cut("{}\n" + std::string(4 * 1024 * 1024 + 1, 'x') + "\n", 16384);
  EXPECT_EQ(over.lines, (std::vector<std::string>{"{}"}));
  EXPECT_EQ(over.errors.size(), 1U);
}

TEST(Watch, W17_HalfALineStaysPending) {
  LineBuffer buffer(kMiB);
  int lines = 0;
  ASSERT_TRUE(buffer.feed("{}\n{\"ty", [&](std::string_view) { return ++lines > 0; }));
  EXPECT_EQ(lines, 1);
  EXPECT_EQ(buffer.pending(), 4U);
}

TEST(Watch, AFalseReturnStopsAtTheLine) {
  LineBuffer buffer(kMiB);
  int lines = 0;
  const auto fed = buffer.feed("{}\n{}\n{}\n", [&](std::string_view) { return ++lines < 2; });
  ASSERT_TRUE(fed);
  EXPECT_FALSE(*fed);
  EXPECT_EQ(lines, 2);
}

TEST(Watch, EventLinesGiveTypeAndObject) {
  const struct {
    const char* line;
    WatchType type;
    const char* object;
  } cases[] = {
      {R"({"type":"ADDED","object":{"kind":"Pod","x":[{"}":1}]}})", WatchType::Added, R"({"kind":"Pod","x":[{"}":1}]})"},
      {R"({"object": {"kind":"Pod"} , "type" : "MODIFIED" })", WatchType::Modified, R"({"kind":"Pod"})"},
      {R"({"type":"DELETED","object":{}})", WatchType::Deleted, "{}"},
      {R"({"type":"BOOKMARK","object":{}})", WatchType::Bookmark, "{}"},
      {R"({"type":"ERROR","object":{}})", WatchType::Error, "{}"},
      {R"({"type":"SURPRISE","object":{}})", WatchType::Other, "{}"},
      {R"({"type":"ADDED"})", WatchType::Added, ""},
      {R"({"type":"ADDED","object":null})", WatchType::Added, ""},
      {R"({"type":1,"object":"x"})", WatchType::Other, ""},
      {R"({})", WatchType::Other, ""},
  };
  for (const auto& c : cases) {
    const std::string line = padded(c.line);
    const auto parsed = parse_watch_line(line);
    ASSERT_TRUE(parsed) << c.line << ": " << parsed.error().message;
    EXPECT_EQ(parsed->type, c.type) << c.line;
    EXPECT_EQ(parsed->object_json, c.object) << c.line;
  }
}

TEST(Watch, BrokenLinesAreErrors) {
  for (const char* text : {"", "null", "[]", "{", R"({"type":"ADDED","object":{)", R"({"type":"ADDED"}{})", R"({"type":"ADDED"} x})",
                           "{\"type\":\"\xFF\"}", R"({"type":"ADDED","object":{"a":1})"}) {
    EXPECT_FALSE(parse_watch_line(padded(text))) << text;
  }
}

TEST(ObjectHead, IsReadFromAnyOrderAndTheLastDuplicateWins) {
  const std::string json = padded(
      R"({"metadata":{"uid":"u","name":"old","resourceVersion":"5","namespace":"rl","name":"new"},"spec":{"metadata":{"name":"no"}},"kind":"Pod","apiVersion":"v1"})");
  const auto head = parse_typed_head(json);
  ASSERT_TRUE(head);
  EXPECT_EQ(*head, (TypedHead{.kind = "Pod", .api_version = "v1", .head = {.key = {"rl", "new"}, .uid = "u", .resource_version = "5"}}));
}

TEST(ObjectHead, FieldsOfAnotherTypeStayEmpty) {
  const auto head = parse_typed_head(padded(R"({"kind":7,"metadata":{"name":null,"uid":{},"resourceVersion":12}})"));
  ASSERT_TRUE(head);
  EXPECT_EQ(*head, TypedHead{});
  EXPECT_FALSE(is_complete(head->head));
  EXPECT_TRUE(parse_typed_head(padded(R"({"metadata":"x"})")));
}

TEST(ObjectHead, KeysGoToTextAndBack) {
  for (const ObjectKey& key : {ObjectKey{"rl", "qwen"}, ObjectKey{"", "node-1"}}) EXPECT_EQ(parse_object_key(to_string(key)), key);
}

TEST(ListPage, ReadsBuiltInAndCustomOrder) {
  std::string pods = R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9","continue":"c","remainingItemCount":3},"items":[{"a":1},{"b":[2]}]})";
  auto page = parse_list_page(pods, kPods);
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(page->resource_version, "9");
  EXPECT_EQ(page->continue_token, "c");
  EXPECT_EQ(page->items, (std::vector<std::string_view>{R"({"a":1})", R"({"b":[2]})"}));

  std::string jobs = R"({"apiVersion":"verl.run/v1alpha1","items":[{"x":"]}"}],"kind":"VerlJobList","metadata":{"continue":"","resourceVersion":"7"}})";
  page = parse_list_page(jobs, kJobs);
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(page->items, (std::vector<std::string_view>{R"({"x":"]}"})"}));

  std::string empty = R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":null})";
  page = parse_list_page(empty, kPods);
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_TRUE(page->items.empty());
}

TEST(ListPage, L7_ATableOrAnotherKindIsAnError) {
  for (const char* text : {R"({"kind":"Table","apiVersion":"meta.k8s.io/v1","rows":[],"items":[]})",
                           R"({"kind":"NodeList","apiVersion":"v1","metadata":{},"items":[]})",
                           R"({"kind":"PodList","apiVersion":"v2","metadata":{},"items":[]})",
                           R"({"kind":"PodList","apiVersion":"v1","metadata":{}})", R"({"kind":"Status","apiVersion":"v1"})",
                           R"({"kind":"PodList","apiVersion":"v1","metadata":{},"items":[1]})", R"([])", R"()", "garbage"}) {
    std::string body = text;
    EXPECT_FALSE(parse_list_page(body, kPods)) << text;
  }
}

TEST(ListPage, L11_EveryTruncationIsAnError) {
  const std::string whole = R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[{"metadata":{"name":"a"}},{"b":"}"}]})";
  for (std::size_t length = 0; length < whole.size(); ++length) {
    std::string body = whole.substr(0, length);
    EXPECT_FALSE(parse_list_page(body, kPods)) << body;
  }
}

TEST(WatchRequest, L1_W1_QueriesAreExact) {
  const WatchTarget target{.resource = kPods, .name_space = "rl", .label_selector = "a=b"};
  const ReflectorOptions options;
  const auto list = to_request(target, ListRequest{.limit = 500, .resource_version = "0"}, options);
  EXPECT_EQ(list.path, "/api/v1/namespaces/rl/pods");
  EXPECT_EQ(list.query, (std::vector<Header>{{"limit", "500"}, {"resourceVersion", "0"}, {"labelSelector", "a=b"}}));
  EXPECT_EQ(list.max_body, Bytes{512LL * 1024 * 1024});
  const auto next = to_request(target, ListRequest{.limit = 500, .continue_token = "abc"}, options);
  EXPECT_EQ(next.query, (std::vector<Header>{{"limit", "500"}, {"continue", "abc"}, {"labelSelector", "a=b"}}));
  const auto watch = to_request({.resource = kPods}, WatchRequest{.resource_version = "200", .timeout = Seconds{301}}, options);
  EXPECT_EQ(watch.path, "/api/v1/pods");
  EXPECT_EQ(watch.query, (std::vector<Header>{{"watch", "true"}, {"resourceVersion", "200"}, {"allowWatchBookmarks", "true"}, {"timeoutSeconds", "301"}}));
  EXPECT_EQ(watch.timeout, Seconds{331}) << "W16: silence beyond timeout and grace ends it";
}

TEST(WatchStatus, TellsExpiryAndVersionsAheadOfTheServer) {
  EXPECT_TRUE(is_expired(parse_watch_status(R"({"kind":"Status","code":410,"reason":"Expired","message":"too old resource version"})", 0)));
  EXPECT_TRUE(is_expired(parse_watch_status(R"({"kind":"Status","reason":"Gone"})", 0)));
  EXPECT_TRUE(is_expired(parse_watch_status("nonsense", 410)));
  const auto early = parse_watch_status(
      R"({"kind":"Status","code":504,"reason":"Timeout","details":{"causes":[{"reason":"ResourceVersionTooLarge","message":"m"}],"retryAfterSeconds":1}})", 504);
  EXPECT_EQ(early, (WatchStatus{.code = 504, .reason = "Timeout", .version_too_large = true, .retry_after = Seconds{1}}));
  EXPECT_EQ(parse_watch_status("<html>\x1b[2J", 502), (WatchStatus{.code = 502, .message = "<html>\\x1b[2J"}));
  EXPECT_EQ(parse_watch_status(R"({"kind":"Status","code":"x","details":{"causes":[1,null]}})", 503), (WatchStatus{.code = 503}));
}

}  // namespace
}  // namespace verl::kube
