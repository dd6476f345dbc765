#include "kube/protocol/verbs.h"

#include <gtest/gtest.h>

#include "kube/protocol/user_agent.h"

namespace verl::kube {
namespace {

const Resource kJob{.group = "verl.run", .version = "v1alpha1", .kind = "VerlJob", .plural = "verljobs"};
const Target kOne{.resource = kJob, .name_space = "rl", .name = "qwen"};
constexpr const char* kPath = "/apis/verl.run/v1alpha1/namespaces/rl/verljobs/qwen";

TEST(Verbs, GetsAndLists) {
  EXPECT_EQ(get_request(kOne), (Request{.path = kPath}));
  const Target all{.resource = kJob};
  Request first{.path = "/apis/verl.run/v1alpha1/verljobs", .query = {{"limit", "500"}, {"labelSelector", "a=b"}}, .max_body = Bytes{512 * kMiB.count}};
  EXPECT_EQ(list_request(all, {.label_selector = "a=b"}), first);
  const Request next = list_request(all, {.continue_token = "c", .resource_version = "7"});
  EXPECT_EQ(next.query, (std::vector<Header>{{"limit", "500"}, {"continue", "c"}})) << "a continued list keeps its version";
}

TEST(Verbs, WritesCarryManagerDryRunAndStrictness) {
  const WriteOptions options{.field_manager = "verl-operator", .dry_run = true};
  const std::vector<Header> query = {{"fieldManager", "verl-operator"}, {"dryRun", "All"}, {"fieldValidation", "Strict"}};
  EXPECT_EQ(create_request({.resource = kJob, .name_space = "rl"}, "{}", options),
            (Request{.method = Method::Post, .path = "/apis/verl.run/v1alpha1/namespaces/rl/verljobs", .query = query, .content_type = "application/json", .body = "{}"}));
  EXPECT_EQ(replace_request(kOne, "{}", options), (Request{.method = Method::Put, .path = kPath, .query = query, .content_type = "application/json", .body = "{}"}));
  Target status = kOne;
  status.subresource = "status";
  EXPECT_EQ(merge_patch_request(status, "{}", options),
            (Request{.method = Method::Patch, .path = std::string(kPath) + "/status", .query = query, .content_type = "application/merge-patch+json", .body = "{}"}));
}

TEST(Verbs, ApplyForcesOnlyWhenAsked) {
  const Request calm = apply_request(kOne, "{}", {.field_manager = "m"});
  EXPECT_EQ(calm.content_type, "application/apply-patch+yaml");
  EXPECT_EQ(calm.query, (std::vector<Header>{{"fieldManager", "m"}, {"fieldValidation", "Strict"}}));
  const Request forced = apply_request(kOne, "{}", {.field_manager = "m", .force = true, .strict = false});
  EXPECT_EQ(forced.query, (std::vector<Header>{{"fieldManager", "m"}, {"force", "true"}}));
}

TEST(Verbs, DeleteCarriesItsPreconditions) {
  const Request request = delete_request(kOne, {.uid = "u", .resource_version = "7", .propagation = "Background", .grace = Seconds(0), .dry_run = true});
  EXPECT_EQ(request.method, Method::Delete);
  EXPECT_EQ(request.path, kPath);
  EXPECT_EQ(request.body,
            R"({"apiVersion":"v1","dryRun":["All"],"gracePeriodSeconds":0,"kind":"DeleteOptions","preconditions":{"resourceVersion":"7","uid":"u"},"propagationPolicy":"Background"})");
}

TEST(Verbs, TargetsAreDescribedAsPeopleKnowThem) {
  EXPECT_EQ(describe(kOne), "verljobs rl/qwen");
  EXPECT_EQ(describe({.resource = kJob}), "verljobs");
  EXPECT_EQ(describe({.resource = kJob, .name_space = "rl"}), "verljobs rl");
  EXPECT_EQ(describe({.resource = kJob, .name = "n", .subresource = "status"}), "verljobs/status n");
}

TEST(UserAgent, NamesProgramVersionAndWhatItWasBuiltFor) {
  const std::string built_for(platform());
  EXPECT_TRUE(built_for.starts_with("linux/")) << built_for;
  EXPECT_NE(built_for, "linux/unknown");
  EXPECT_EQ(user_agent("verl-operator", "0.1.0", "operator"), "verl-operator/0.1.0 (" + built_for + ") operator");
  EXPECT_EQ(user_agent("kubectl-verl", "0.1.0"), "kubectl-verl/0.1.0 (" + built_for + ")");
}

}  // namespace
}  // namespace verl::kube
