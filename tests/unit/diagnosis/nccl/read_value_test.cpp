#include "diagnosis/nccl/read_value.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>

#include "diagnosis/nccl/algorithm_list.h"

namespace verl::nccl {
namespace {

// The reader has to be strtoll to the letter, so it is compared with it.
TEST(NcclReadInteger, IsStrtollWithBaseZero) {
  for (const char* text : {"0", "1", "-1", "+2", " 5", "\t7", "010", "08", "0x10", "0xg", "0x", "0X1f", "-010", "3,3", "4M", "1e3", "true", "", " ", "-", "+-3", "\"1\"",
                           "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "99999999999999999999",
                           "0x7fffffffffffffff", "0xffffffffffffffff", "0777777777777777777777", "01777777777777777777777", "3 # x"}) {
    errno = 0;
    char* end = nullptr;
    const long long wanted = std::strtoll(text, &end, 0);
    const IntegerText read = read_integer(text);
    if (errno == ERANGE || *text == '\0') {
      EXPECT_EQ(read.number, std::nullopt) << text;
    } else {
      EXPECT_EQ(read.number, std::optional<std::int64_t>{wanted}) << text;
      EXPECT_EQ(read.rest, end) << text;
    }
    EXPECT_EQ(read.overflow, errno == ERANGE) << text;
  }
}

TEST(NcclReadBoolean, TakesSixWords) {
  EXPECT_EQ(read_boolean("true"), true);
  EXPECT_EQ(read_boolean("F"), false);
  EXPECT_EQ(read_boolean("yes"), std::nullopt);
  EXPECT_EQ(read_boolean(" 1"), std::nullopt);
}

TEST(NcclReadLevel, KnowsWordsByRelease) {
  EXPECT_EQ(read_level("NCCL_P2P_LEVEL", "NVL", std::nullopt), "NVL");
  EXPECT_EQ(read_level("NCCL_P2P_LEVEL", "nvl", std::nullopt), std::nullopt);
  EXPECT_EQ(read_level("NCCL_P2P_LEVEL", "C2C", version(2, 25)), std::nullopt);
  EXPECT_EQ(read_level("NCCL_P2P_LEVEL", "C2C", version(2, 26)), "C2C");
  EXPECT_EQ(read_level("NCCL_NET_GDR_LEVEL", "2", std::nullopt), "PXB");
  EXPECT_EQ(read_level("NCCL_NET_GDR_LEVEL", "9", std::nullopt), "SYS");
  EXPECT_EQ(read_level("NCCL_NET_MERGE_LEVEL", "2", std::nullopt), std::nullopt);
  EXPECT_EQ(read_level("NCCL_NET_MERGE_LEVEL", "PORT", std::nullopt), "PORT");
}

TEST(NcclReadAlgorithms, TellsWhatForcesLl128) {
  for (const char* text : {"LL128", "^LL", "^Simple", "^", "LL,LL128", "simple;allreduce:ll128"}) EXPECT_TRUE(read_algorithms("NCCL_PROTO", text, version(2, 27)).forces_ll128) << text;
  for (const char* text : {"^LL128", "^LL,LL128", "Simple", "LL,Simple", "ll;allreduce:simple"}) EXPECT_FALSE(read_algorithms("NCCL_PROTO", text, version(2, 27)).forces_ll128) << text;
}

TEST(NcclReadAlgorithms, LeavesNothingWhenAllIsUnknown) {
  EXPECT_TRUE(read_algorithms("NCCL_ALGO", "allreduce:tree", version(2, 21)).nothing_left);
  EXPECT_FALSE(read_algorithms("NCCL_ALGO", "^nonsense", version(2, 21)).nothing_left);
  EXPECT_EQ(read_algorithms("NCCL_ALGO", "PAT", version(2, 21)).unknown, std::vector<std::string>{"PAT"});
  EXPECT_TRUE(read_algorithms("NCCL_ALGO", "PAT", version(2, 23)).unknown.empty());
}

TEST(NcclCatalogue, KnowsDefaultsByRelease) {
  EXPECT_EQ(standard_at(*variable_named("NCCL_IB_TIMEOUT"), version(2, 13)), "14");
  EXPECT_EQ(standard_at(*variable_named("NCCL_IB_TIMEOUT"), version(2, 22)), "18");
  EXPECT_EQ(standard_at(*variable_named("NCCL_IB_TIMEOUT"), std::nullopt), "20");
  EXPECT_EQ(variable_named("NCCL_IB_TIMEOU"), nullptr);
  for (size_t i = 1; i < all_variables().size(); ++i) EXPECT_LT(all_variables()[i - 1]->name, all_variables()[i]->name);
  EXPECT_GE(all_variables().size(), 490u);
}

TEST(NcclVersion, IsReadFromWhatToolsPrint) {
  EXPECT_EQ(parse_version("2.27.3+cuda12.4"), 22703);
  EXPECT_EQ(parse_version("v2.21.5-1"), 22105);
  EXPECT_EQ(parse_version("2.27"), 22700);
  EXPECT_EQ(parse_version("two"), std::nullopt);
  EXPECT_EQ(parse_version(""), std::nullopt);
  EXPECT_EQ(to_string(22703), "2.27.3");
}

}  // namespace
}  // namespace verl::nccl
