#include "kubectl-verl/job_file.h"

#include <gtest/gtest.h>

namespace verl::cli {
namespace {

constexpr std::string_view kHead = "apiVersion: verl.run/v1alpha1\nkind: VerlJob\n";

TEST(JobFile, TakesWhatIsNotSaidFromTheDefaultsOfTheCrd) {
  const auto job = parse_job(std::string(kHead) + "metadata: {name: a}\nspec: {image: i, pools: [{name: p, nodes: 1, gpusPerNode: 8}], topology: {level: rack}}\n", "rl");
  ASSERT_TRUE(job.has_value()) << job.error().message;
  api::VerlJob wanted{};
  wanted.meta.name = "a";
  wanted.meta.name_space = "rl";
  wanted.spec.image = "i";
  wanted.spec.pools = {{.name = "p", .nodes = 1, .gpus_per_node = 8}};
  wanted.spec.topology = api::Topology{.level = "rack", .mode = api::TopologyMode::Preferred};
  EXPECT_EQ(*job, wanted);
}

TEST(JobFile, KeepsItsNamespaceAndDropsAnOldStatus) {
  const auto job = parse_job(std::string(kHead) + "metadata: {name: a, namespace: b}\nspec: {image: i}\nstatus: {phase: Running, attempts: {started: 3}}\n", "rl");
  ASSERT_TRUE(job.has_value());
  EXPECT_EQ(job->meta.name_space, "b");
  EXPECT_EQ(job->status, api::VerlJobStatus{});
}

struct BadFile {
  std::string text{};
  std::string says{};
};

TEST(JobFile, DoesNotCallAKnownFieldUnknownForItsValue) {
  const auto job = parse_job(std::string(kHead) + R"(metadata: {name: a}
spec:
  image: i
  suspend: maybe
  pools: [{name: p, nodes: 1, gpusPerNode: 8, topology: rack}]
  deadlines: {queuedSeconds: -1, bindSecs: 4}
  ttlSecondsAfterFinished: -1
  nccl: {env: {NCCL_IB_TIMEOUT: 22}}
)", "rl");
  ASSERT_FALSE(job.has_value());
  EXPECT_EQ(job.error().message,
            "spec.deadlines.queuedSeconds: -1 is outside 0 to 315360000, spec.nccl.env[NCCL_IB_TIMEOUT]: must be a string, is 22, "
            "spec.pools[0].topology: must be an object, is \"rack\", spec.suspend: must be true or false, is \"maybe\", "
            "spec.ttlSecondsAfterFinished: -1 is outside 0 to 315360000, unknown field: spec.deadlines.bindSecs");
}

TEST(JobFile, IsRefusedWithTheFieldThatIsWrong) {
  const std::string head(kHead);
  const std::vector<BadFile> cases{{"", "holds 0 documents"},
                                   {head + "metadata: {name: a}\n---\n" + head + "metadata: {name: b}\n", "holds 2 documents"},
                                   {"apiVersion: v1\nkind: Pod\n", "apiVersion and kind are \"v1\" and \"Pod\""},
                                   {head, "spec: is missing"},
                                   {head + "metadata: {namespace: a}\nspec: {image: i}\n", "metadata.name"},
                                   {head + "metadata: {name: a}\nspec: {pools: [{name: p, nodes: many}]}\n", "spec.pools[0].nodes"},
                                   {head + "metadata: {name: a}\nspec: {image: i, topologie: {level: rack}}\n", "unknown field: spec.topologie"},
                                   {"a: [", ""},
                                   {"- 1\n", "apiVersion and kind are \"\" and \"\""}};
  for (const BadFile& one : cases) {
    const auto job = parse_job(one.text, "rl");
    ASSERT_FALSE(job.has_value()) << one.text;
    EXPECT_NE(job.error().message.find(one.says), std::string::npos) << job.error().message;
  }
}

}  // namespace
}  // namespace verl::cli
