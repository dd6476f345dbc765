#include "kube/protocol/server_url.h"

#include <gtest/gtest.h>

#include "kube/protocol/base64.h"

namespace verl::kube {
namespace {

TEST(ServerUrl, K9_KeepsThePathPrefixAndDropsQueryAndFragment) {
  const auto url = parse_server_url("https://rancher.example/k8s/clusters/c-1/?a=b#c");
  ASSERT_TRUE(url.has_value());
  EXPECT_EQ(*url, (ServerUrl{.host = "rancher.example", .path_prefix = "/k8s/clusters/c-1"}));
  EXPECT_EQ(request_target(*url, {.path = "/api/v1/pods", .query = {{"watch", "true"}}}), "/k8s/clusters/c-1/api/v1/pods?watch=true");
}

TEST(ServerUrl, ReadsHostsOfEveryKind) {
  const std::vector<std::pair<std::string, ServerUrl>> cases = {
      {"https://10.0.0.1:6443", {.host = "10.0.0.1", .port = 6443}},
      {"https://[fd00::1]:6443", {.host = "fd00::1", .port = 6443}},
      {"https://[::1]", {.host = "::1"}},
      {"kube.example:6443", {.host = "kube.example", .port = 6443}},
      {"https://kube.example/", {.host = "kube.example"}},
  };
  for (const auto& one : cases) {
    const auto url = parse_server_url(one.first);
    ASSERT_TRUE(url.has_value()) << one.first << ": " << url.error().message;
    EXPECT_EQ(*url, one.second) << one.first;
  }
}

TEST(ServerUrl, RefusesWhatItCannotReachSafely) {
  for (const char* text : {"", "https://", "http://localhost:8080", "ftp://x", "https://a b", "https://h:0", "https://h:65536", "https://h:x", "https://h:",
                           "https://[::1", "https://[::1]x", "https://fd00::1:6443", "https://user@h", "https://h\r\nX: y"}) {
    const auto url = parse_server_url(text);
    EXPECT_FALSE(url.has_value()) << text;
    if (!url.has_value()) {
      EXPECT_EQ(url.error().code, ErrorCode::Invalid);
    }
  }
}

TEST(Base64, RoundTripsAndRefusesWhatIsNone) {
  for (const char* text : {"", "a", "ab", "abc", "abcd", "\x01\xff\x80"}) EXPECT_EQ(decode_base64(encode_base64(text)), text);
  EXPECT_EQ(encode_base64("Man"), "TWFu");
  EXPECT_EQ(decode_base64("TW\nFu\n"), "Man");
  for (const char* text : {"T", "TW", "TWF", "TW=u", "TWFu=", "T===", "TWF!", "TWFu===="}) EXPECT_EQ(decode_base64(text), std::nullopt) << text;
}

}  // namespace
}  // namespace verl::kube
