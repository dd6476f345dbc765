#include "diagnosis/nccl/effective.h"

#include <gtest/gtest.h>

namespace verl::nccl {
namespace {

Environment environment(EnvironmentKind kind, const std::string& source, const std::vector<Setting>& settings) {
  Environment one;
  one.kind = kind;
  for (const Setting& setting : settings) {
    SettingAt at;
    at.setting = setting;
    at.source = source;
    at.line = static_cast<std::int64_t>(one.settings.size()) + 1;
    one.settings.push_back(at);
  }
  return one;
}

TEST(NcclEffective, ProcessCountsBeforeFilesAndFirstLineBeforeLater) {
  Facts facts;
  facts.environments = {environment(EnvironmentKind::Conf, "n/etc/nccl.conf", {{"NCCL_ALGO", "Ring"}, {"NCCL_ALGO", "Tree"}, {"NCCL_DEBUG", "INFO"}}),
                        environment(EnvironmentKind::Process, "n/env", {{"NCCL_DEBUG", "WARN"}})};
  const auto all = effective_environments(facts, std::nullopt);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(value_of(all[0], "NCCL_DEBUG"), "WARN");
  EXPECT_EQ(value_of(all[0], "NCCL_ALGO"), "Ring");
  EXPECT_EQ(value_of(all[0], "NCCL_PROTO"), std::nullopt);
  EXPECT_EQ(setting_named(all[0], "NCCL_ALGO")->source, "n/etc/nccl.conf");
  EXPECT_EQ(all[0].overridden.size(), 2u);
}

TEST(NcclEffective, UsersFileCountsBeforeTheMachines) {
  Facts facts;
  facts.environments = {environment(EnvironmentKind::Conf, "n/etc/nccl.conf", {{"NCCL_ALGO", "Tree"}}),
                        environment(EnvironmentKind::Conf, "n/home/.nccl.conf", {{"NCCL_ALGO", "Ring"}}),
                        environment(EnvironmentKind::Conf, "n/job.conf", {{"NCCL_ALGO", "NVLS"}})};
  EXPECT_EQ(value_of(effective_environments(facts, std::nullopt)[0], "NCCL_ALGO"), "Ring");
  facts.environments.push_back(environment(EnvironmentKind::Process, "n/env", {{"NCCL_CONF_FILE", "/nccl/job.conf"}}));
  EXPECT_EQ(value_of(effective_environments(facts, version(2, 27))[0], "NCCL_ALGO"), "NVLS");  // read instead of the user's
  EXPECT_EQ(value_of(effective_environments(facts, version(2, 21))[0], "NCCL_ALGO"), "Ring");  // not known yet
}

TEST(NcclEffective, LoadedVersionCountsBeforeThePolicys) {
  Facts facts;
  diagnosis::Policy policy;
  EXPECT_EQ(known_version(facts, policy), std::nullopt);
  policy.nccl_version = "2.27.3";
  EXPECT_EQ(known_version(facts, policy), version(2, 27, 3));
  facts.loaded_version = "2.21.5";
  EXPECT_EQ(known_version(facts, policy), version(2, 21, 5));
  EXPECT_TRUE(effective_environments({}, std::nullopt).empty());
}

}  // namespace
}  // namespace verl::nccl
