#include "kube/protocol/exec_credential.h"

#include <gtest/gtest.h>

namespace verl::kube {
namespace {

constexpr const char* kV1 = "client.authentication.k8s.io/v1";
constexpr const char* kBeta = "client.authentication.k8s.io/v1beta1";

std::string answer(const std::string& rest, const std::string& version = kV1) {
  return R"({"kind":"ExecCredential","apiVersion":")" + version + "\"" + rest + "}";
}

TEST(ExecCredential, X1_TakesTheTwoVersionsAndOnlyTheOneAskedFor) {
  EXPECT_TRUE(is_exec_api_version(kV1));
  EXPECT_TRUE(is_exec_api_version(kBeta));
  EXPECT_FALSE(is_exec_api_version("client.authentication.k8s.io/v1alpha1"));
  EXPECT_EQ(*parse_exec_credential(answer(R"(,"status":{"token":"t"})"), kV1), ExecCredential{.token = "t"});
  EXPECT_EQ(parse_exec_credential(answer(R"(,"status":{"token":"t"})", kBeta), kBeta)->token, "t");
  const auto other = parse_exec_credential(answer(R"(,"status":{"token":"t"})", kBeta), kV1);
  ASSERT_FALSE(other.has_value());
  EXPECT_NE(other.error().message.find("v1beta1"), std::string::npos);
}

TEST(ExecCredential, X2_TheInformationNamesTheClusterOnlyWhenAsked) {
  ClientConfig config{.server = {.host = "h", .port = 6443}, .authority = {.text = "PEM"}, .tls_server_name = "n", .exec = ExecPlugin{.api_version = kBeta}};
  EXPECT_EQ(plugin_environment(config).back(),
            R"(KUBERNETES_EXEC_INFO={"apiVersion":"client.authentication.k8s.io/v1beta1","kind":"ExecCredential","spec":{"interactive":false}})");
  config.exec->provide_cluster_info = true;
  EXPECT_EQ(plugin_environment(config).back(),
            R"(KUBERNETES_EXEC_INFO={"apiVersion":"client.authentication.k8s.io/v1beta1","kind":"ExecCredential","spec":{"cluster":)"
            R"({"certificate-authority-data":"UEVN","server":"https://h:6443","tls-server-name":"n"},"interactive":false}})");
}

TEST(ExecCredential, X6_EachWayToBeWrongHasItsOwnError) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {answer(R"(,"status":{"clientCertificateData":"c"})"), "its answer has a client certificate without the key"},
      {answer(R"(,"status":{})"), "its answer has neither a token nor a client certificate"},
      {answer(""), "its answer has no status; it gave no credential"},
      {"please log in\n", "its output is not a JSON object; it must print one ExecCredential"},
      {answer(R"(,"status":{"clientKeyData":"k","token":"t"})"), "its answer has a client key without the certificate"},
      {answer(R"(,"status":{"token":7})"), "its answer's status.token is no string"},
      {answer(R"(,"status":{"token":"t","expirationTimestamp":"soon"})"), "its answer's status.expirationTimestamp is no RFC 3339 time"},
  };
  for (const auto& one : cases) {
    const auto parsed = parse_exec_credential(one.first, kV1);
    ASSERT_FALSE(parsed.has_value()) << one.first;
    EXPECT_EQ(parsed.error(), (Error{.code = ErrorCode::Invalid, .message = one.second}));
  }
}

TEST(ExecCredential, X4_IsUsableUntilItExpires) {
  const auto parsed = parse_exec_credential(answer(R"(,"status":{"token":"t","expirationTimestamp":"2026-11-30T12:00:00Z"})"), kV1);
  ASSERT_TRUE(parsed.has_value());
  EXPECT_TRUE(is_usable(*parsed, *parse_rfc3339("2026-11-30T11:59:59Z")));
  EXPECT_FALSE(is_usable(*parsed, *parse_rfc3339("2026-11-30T12:00:00Z")));
  EXPECT_TRUE(is_usable({.token = "t"}, *parse_rfc3339("2999-11-30T12:00:00Z")));
}

}  // namespace
}  // namespace verl::kube
