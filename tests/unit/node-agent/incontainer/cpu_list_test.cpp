#include "node-agent/incontainer/cpu_list.h"

#include <gtest/gtest.h>

namespace verl::incontainer {
namespace {

TEST(CpuListText, IsReadAsTheKernelWritesIt) {
  const std::vector<std::pair<std::string, std::optional<CpuList>>> table{
      {"", CpuList{}},
      {"\n", CpuList{}},
      {"0\n", CpuList{{0, 0}}},
      {"\t0-3,8,10-12\n", CpuList{{0, 3}, {8, 8}, {10, 12}}},
      {"0-47,96-143", CpuList{{0, 47}, {96, 143}}},
      {"65535", CpuList{{65535, 65535}}},
      {"65536", std::nullopt},
      {"3-1", std::nullopt},
      {"1,", std::nullopt},
      {",1", std::nullopt},
      {"1,,2", std::nullopt},
      {"2,1", std::nullopt},
      {"0-3,3", std::nullopt},
      {"0-", std::nullopt},
      {"-3", std::nullopt},
      {"0-3:1/2", std::nullopt},
      {"all", std::nullopt},
      {"1 2", std::nullopt},
      {"99999999999", std::nullopt},
  };
  for (const auto& [text, wanted] : table) EXPECT_EQ(parse_cpu_list(text), wanted) << '"' << text << '"';
}

TEST(CpuListText, IsWrittenAsItIsRead) {
  for (const std::string text : {"0", "0-3,8,10-12", "5-6"}) EXPECT_EQ(to_string(*parse_cpu_list(text)), text);
  EXPECT_EQ(to_string(CpuList{}), "none");
}

TEST(CpuListText, OverlapsWhereACpuIsInBoth) {
  struct Case {
    const char* a{};
    const char* b{};
    bool wanted{};
  };
  for (const Case& one : {Case{"0-3", "3-4", true}, {"0-3", "4-7", false}, {"0-47,96-143", "60,100", true}, {"1", "0,2", false}, {"", "0", false}, {"", "", false}}) {
    EXPECT_EQ(overlap(*parse_cpu_list(one.a), *parse_cpu_list(one.b)), one.wanted) << one.a << " and " << one.b;
    EXPECT_EQ(overlap(*parse_cpu_list(one.b), *parse_cpu_list(one.a)), one.wanted) << one.b << " and " << one.a;
  }
}

}  // namespace
}  // namespace verl::incontainer
