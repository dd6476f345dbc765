#include "operator/controller/presets.h"

#include <gtest/gtest.h>

#include "fake_cluster.h"

namespace verl::controller {
namespace {

using testing::FakeCluster;
using testing::refusal;

const std::string kPolicy = "apiVersion: verl.run/v1alpha1\nkind: ReadinessPolicy\nmetadata:\n  name: on-prem\n";

TEST(Presets, AreCreatedOnceEach) {
  FakeCluster cluster;
  cluster.answer([](const kube::Request& request) { return kube::Reply{.status = 201, .body = request.body}; });
  std::vector<std::string> log;
  EXPECT_TRUE(create_presets(cluster, {{"a.yaml", kPolicy + "---\n" + kPolicy}, {"b.yaml", kPolicy}}, [&](std::string_view line) { log.emplace_back(line); }, {}));
  EXPECT_EQ(cluster.asked(), (std::vector<std::string>(3, "POST /apis/verl.run/v1alpha1/readinesspolicies")));
  EXPECT_EQ(log, (std::vector<std::string>{}));
}

TEST(Presets, OneThatIsThereAlreadyBelongsToWhoeverEditsIt) {
  FakeCluster cluster;
  cluster.answer([](const kube::Request&) { return refusal(409, "AlreadyExists", "readinesspolicies already exists", "on-prem"); });
  EXPECT_TRUE(create_presets(cluster, {{"a.yaml", kPolicy}}, [](std::string_view line) { ADD_FAILURE() << line; }, {}));
  EXPECT_EQ(cluster.asked().size(), 1U) << "it is neither read nor patched";
}

TEST(Presets, AFailureIsToldAndTriedAgainAndTheOthersAreMade) {
  const std::vector<Result<kube::Reply>> failures{
      failure(ErrorCode::Unavailable, "connection refused"),
      refusal(500, "InternalError", "etcd"),
      refusal(403, "Forbidden", "cannot create readinesspolicies"),
      refusal(409, "Conflict", "try again"),
      refusal(404, "NotFound", "the server could not find the requested resource"),
  };
  for (const auto& first : failures) {
    FakeCluster cluster;
    int calls = 0;
    cluster.answer([&](const kube::Request&) -> Result<kube::Reply> { return ++calls == 1 ? first : kube::Reply{.status = 201, .body = "{}"}; });
    std::vector<std::string> log;
    const auto say = [&](std::string_view line) { log.emplace_back(line); };
    const std::vector<std::pair<std::string, std::string>> texts{{"a.yaml", kPolicy}, {"b.yaml", kPolicy}};
    EXPECT_FALSE(create_presets(cluster, texts, say, {}));
    EXPECT_EQ(calls, 2) << "the second is made all the same";
    ASSERT_EQ(log.size(), 1U);
    EXPECT_NE(log[0].find("a.yaml"), std::string::npos) << log[0];
    EXPECT_TRUE(create_presets(cluster, texts, say, {})) << "the next try";
  }
}

TEST(Presets, AFileThatCannotBeReadAsYamlIsNamedAndNotSent) {
  FakeCluster cluster;
  std::vector<std::string> log;
  EXPECT_FALSE(create_presets(cluster, {{"broken.yaml", "a: [1, "}}, [&](std::string_view line) { log.emplace_back(line); }, {}));
  ASSERT_EQ(log.size(), 1U);
  EXPECT_TRUE(log[0].starts_with("preset broken.yaml: ")) << log[0];
  EXPECT_TRUE(cluster.asked().empty());
}

}  // namespace
}  // namespace verl::controller
