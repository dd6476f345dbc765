#include <gtest/gtest.h>

#include "diagnosis/nccl/compare.h"
#include "diagnosis/nccl/conf.h"
#include "diagnosis/nccl/settings.h"

namespace verl::nccl {
namespace {

TEST(NcclConf, IsReadAsNcclReadsIt) {
  const Conf conf = parse_conf("# a comment\nNCCL_ALGO=Ring\n\nNCCL_SOCKET_IFNAME==eth0\nNCCL_DEBUG=INFO\nNCCL_DEBUG=WARN\nnonsense\n");
  const std::vector<Setting> wanted{{"NCCL_ALGO", "Ring"}, {"NCCL_SOCKET_IFNAME", "=eth0"}, {"NCCL_DEBUG", "INFO"}};
  EXPECT_EQ(conf.settings, wanted);
  ASSERT_EQ(conf.complaints.size(), 2u);
  EXPECT_EQ(conf.complaints[0].line, 6);
  EXPECT_EQ(conf.complaints[1].line, 7);
}

TEST(NcclConf, ComplainsOfWhatNobodyMeans) {
  for (const char* line : {"export NCCL_ALGO=Ring", "NCCL_ALGO = Ring", "NCCL_ALGO=\"Ring\"", "NCCL_ALGO=Ring # why", "NCCL_ALGO=Ring\r",
                           "NCCL_CONF_FILE=/x", "NCCL_ALGO=Ring "}) {
    EXPECT_FALSE(parse_conf(line).complaints.empty()) << line;
  }
  EXPECT_EQ(parse_conf(""), Conf{});
  EXPECT_EQ(parse_conf("export X=1").settings[0].name, "export X");
}

TEST(NcclSettings, KnowTheirRule) {
  EXPECT_EQ(match_of("NCCL_ALGO"), Match::Equal);
  EXPECT_EQ(match_of("NCCL_P2P_DISABLE"), Match::Equal);
  EXPECT_EQ(match_of("NCCL_SOCKET_IFNAME"), Match::PerNode);
  EXPECT_EQ(match_of("GLOO_SOCKET_IFNAME"), Match::PerNode);
  EXPECT_EQ(match_of("NCCL_IB_HCA"), Match::PerNode);
  EXPECT_EQ(match_of("NCCL_IB_GID_INDEX"), Match::PerNode);
  EXPECT_EQ(match_of("NCCL_HOSTID"), Match::Distinct);
  EXPECT_EQ(match_of("NCCL_DEBUG"), Match::Local);
  EXPECT_EQ(match_of("NCCL_IB_TIMEOUT"), Match::Uniform);
  EXPECT_EQ(match_of("NCCL_BUFFER_SIZE"), Match::Ineffective);
  EXPECT_EQ(match_of("NCCL_NOT_YET_INVENTED"), Match::Unlisted);
  EXPECT_EQ(match_of(""), Match::Unlisted);
  EXPECT_EQ(match_of("NCCL_ALG"), Match::Unlisted);
  EXPECT_TRUE(concerns_communication("NCCL_NOT_YET_INVENTED"));
  EXPECT_FALSE(concerns_communication("PATH"));
}

TEST(NcclCompare, NamesTheNodeThatDiffersFromTheMost) {
  const SettingsByNode nodes{{"n1", {{"NCCL_ALGO", "Ring"}}}, {"n2", {{"NCCL_ALGO", "Tree"}}}, {"n3", {{"NCCL_ALGO", "Ring"}}}};
  const std::vector<Deviation> wanted{{.name = "NCCL_ALGO", .match = Match::Equal, .tie = false, .majority = "Ring", .nodes = {{"n2", "Tree"}}}};
  EXPECT_EQ(compare_nccl_settings(nodes), wanted);
}

TEST(NcclCompare, CountsNotSetAsAValue) {
  const SettingsByNode nodes{{"n1", {}}, {"n2", {{"NCCL_ALGO", "Tree"}}}, {"n3", {}}};
  const std::vector<Deviation> wanted{{.name = "NCCL_ALGO", .match = Match::Equal, .tie = false, .majority = {}, .nodes = {{"n2", "Tree"}}}};
  EXPECT_EQ(compare_nccl_settings(nodes), wanted);
}

TEST(NcclCompare, BlamesAllWhenNoValueHasTheMost) {
  const SettingsByNode nodes{{"n1", {{"NCCL_PROTO", "LL"}}}, {"n2", {{"NCCL_PROTO", "Simple"}}}};
  const std::vector<Deviation> wanted{
      {.name = "NCCL_PROTO", .match = Match::Equal, .tie = true, .majority = {}, .nodes = {{"n1", "LL"}, {"n2", "Simple"}}}};
  EXPECT_EQ(compare_nccl_settings(nodes), wanted);
}

TEST(NcclCompare, LeavesAloneWhatMayDiffer) {
  const SettingsByNode nodes{{"n1", {{"NCCL_SOCKET_IFNAME", "eth0"}, {"NCCL_DEBUG", "INFO"}, {"NCCL_HOSTID", "a"}}},
                             {"n2", {{"NCCL_SOCKET_IFNAME", "ens1"}, {"NCCL_HOSTID", "b"}}}};
  EXPECT_TRUE(compare_nccl_settings(nodes).empty());
  EXPECT_TRUE(compare_nccl_settings({}).empty());
}

TEST(NcclCompare, WantsHostIdsToDiffer) {
  const SettingsByNode nodes{{"n1", {{"NCCL_HOSTID", "a"}}}, {"n2", {{"NCCL_HOSTID", "a"}}}, {"n3", {{"NCCL_HOSTID", "b"}}}};
  const std::vector<Deviation> wanted{
      {.name = "NCCL_HOSTID", .match = Match::Distinct, .tie = false, .majority = {}, .nodes = {{"n1", "a"}, {"n2", "a"}}}};
  EXPECT_EQ(compare_nccl_settings(nodes), wanted);
}

}  // namespace
}  // namespace verl::nccl
