#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "diagnosis/nccl/lint.h"
#include "diagnosis/nccl/rule_tables.h"
#include "tests/unit/diagnosis/nccl/rule_cases.h"

namespace verl::nccl {
namespace {

using diagnosis::Finding;
using diagnosis::Findings;

std::vector<RuleCase> all_cases() {
  std::vector<RuleCase> all;
  for (const auto& group : {value_cases(), name_cases(), hygiene_cases(), framework_cases()}) all.insert(all.end(), group.begin(), group.end());
  return all;
}

Findings lint(const Sample& sample) {
  diagnosis::NodeFacts node;
  diagnosis::Policy policy;
  Environment environment;
  environment.kind = EnvironmentKind::EnvFile;
  for (const Setting& setting : sample.settings) {
    SettingAt at;
    at.setting = setting;
    at.source = "job.env";
    at.line = static_cast<std::int64_t>(environment.settings.size()) + 1;
    environment.settings.push_back(at);
  }
  if (!sample.settings.empty()) node.nccl.environments.push_back(environment);
  if (sample.arrange) sample.arrange(node, policy);
  Findings found;
  lint_settings(node, policy, found);
  return found;
}

const Finding* finding(const Findings& all, const std::string& id, const std::string& subject) {
  const auto one = std::find_if(all.begin(), all.end(), [&](const Finding& each) { return each.id == id && (subject.empty() || each.subject == subject); });
  return one == all.end() ? nullptr : &*one;
}

TEST(NcclRules, FireOnTheirCase) {
  for (const RuleCase& one : all_cases()) {
    const Findings all = lint(one.fires);
    const Finding* found = finding(all, one.id, one.subject);
    ASSERT_NE(found, nullptr) << one.id << " on " << one.subject;
    EXPECT_EQ(found->severity, one.severity) << one.id << " on " << one.subject;
    EXPECT_FALSE(found->message.empty()) << one.id;
    EXPECT_FALSE(found->remedy.empty()) << one.id;
  }
}

TEST(NcclRules, StaySilentOnTheNearMiss) {
  for (const RuleCase& one : all_cases()) EXPECT_EQ(finding(lint(one.near_miss), one.id, one.subject), nullptr) << one.id << " on " << one.subject;
}

TEST(NcclRules, AllHaveACase) {
  std::set<std::string> covered{"NCCL521"};  // needs what NCCL said of a value and what the process has later: nothing shows both
  for (const RuleCase& one : all_cases()) covered.insert(one.id);
  for (const auto group : {value_rules(), name_rules(), hygiene_rules(), framework_rules()}) {
    for (const diagnosis::Rule& rule : group) EXPECT_EQ(covered.count(std::string(rule.id)), 1u) << rule.id;
  }
}

TEST(NcclRules, SayWhereTheSettingStands) {
  const Findings all = lint({.settings = {{"NCCL_DEBUG", "WARN"}, {"NCCL_BUFFSIZE", "8M"}}, .arrange = nullptr});
  const Finding* found = finding(all, "NCCL004", "NCCL_BUFFSIZE");
  ASSERT_NE(found, nullptr);
  ASSERT_EQ(found->evidence.size(), 1u);
  EXPECT_EQ(found->evidence[0].source, "job.env");
  EXPECT_EQ(found->evidence[0].line, 2);
  EXPECT_EQ(found->evidence[0].text, "NCCL_BUFFSIZE=8M");
  EXPECT_EQ(found->wanted, "8388608");
}

TEST(NcclRules, AreSilentOnAPlainEnvironment) {
  const Findings all = lint({.settings = {{"NCCL_DEBUG", "WARN"}, {"NCCL_SOCKET_IFNAME", "=ens8f0"}, {"NCCL_IB_HCA", "=mlx5_0,mlx5_1"}, {"GLOO_SOCKET_IFNAME", "ens8f0"}},
                             .arrange = nullptr});
  EXPECT_TRUE(all.empty()) << all.front().id;
}

}  // namespace
}  // namespace verl::nccl
