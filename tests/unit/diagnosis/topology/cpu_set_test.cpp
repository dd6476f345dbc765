#include "diagnosis/topology/cpu_set.h"

#include <gtest/gtest.h>

#include "diagnosis/topology/bus_id.h"

namespace verl::topology {
namespace {

TEST(CpuSet, ReadsLists) {
  struct Row {
    const char* text;
    const char* list;  // nullptr: not a list
  };
  for (const Row& row : {Row{"0-3,8", "0-3,8"}, Row{"8,0-3", "0-3,8"}, Row{"0-3,2-5", "0-5"}, Row{"1-1", "1"}, Row{" 0-7 , 9", "0-7,9"}, Row{"5-3", nullptr},
                         Row{"", nullptr}, Row{"0,,1", nullptr}, Row{"0-", nullptr}, Row{"-1", nullptr}, Row{"a-b", nullptr}, Row{"0-65535", "0-65535"},
                         Row{"65536", nullptr}, Row{"99999999999999999999", nullptr}, Row{"N/A", nullptr}}) {
    const auto set = parse_cpu_list(row.text);
    ASSERT_EQ(set.has_value(), row.list != nullptr) << row.text;
    if (set) {
      EXPECT_EQ(to_list(*set), row.list) << row.text;
    }
  }
}

TEST(CpuSet, ReadsMasksMostSignificantWordFirst) {
  EXPECT_EQ(to_list(*parse_cpu_mask("00000000,0000ffff,ff000000")), "24-47");
  EXPECT_EQ(to_list(*parse_cpu_mask("0x00000303,0x03030000,,0x00000003")), "0-1,80-81,88-89,96-97,104-105");
  EXPECT_EQ(to_list(*parse_cpu_mask("0x0")), "");
  EXPECT_FALSE(parse_cpu_mask("0xf...f"));
  EXPECT_FALSE(parse_cpu_mask("0x123456789"));
  EXPECT_FALSE(parse_cpu_mask(""));
}

TEST(CpuSet, IntersectsAndCounts) {
  const CpuSet a = *parse_cpu_list("0-9,20-29");
  const CpuSet b = *parse_cpu_list("5-24");
  EXPECT_EQ(to_list(intersection(a, b)), "5-9,20-24");
  EXPECT_EQ(count(a), 20);
  EXPECT_TRUE(contains(a, *parse_cpu_list("2-3,22")));
  EXPECT_FALSE(contains(a, b));
}

TEST(CpuSet, SeesCutLists) {
  for (const char* cut : {"0,2,4,6,8,10", "1,3,5,7,9,11", "0,4,8,12,16,", "0,8,16,24,32", "48-63,176-19", "0-11,"}) EXPECT_TRUE(looks_truncated(cut)) << cut;
  for (const char* whole : {"0-51,104-155", "0-47", "0,2,4,6,8,10,12,14", "0,2", "52-103,156-207", "16-23,80-87", ""}) EXPECT_FALSE(looks_truncated(whole)) << whole;
  EXPECT_EQ(stride("0,4,8,12,16,"), 4);
  EXPECT_EQ(stride("0,1,2,3"), std::nullopt);
  EXPECT_EQ(stride("0-3,8"), std::nullopt);
}

TEST(BusId, IsOneFormForAllTools) {
  for (const char* same : {"00000000:1B:00.0", "0000:1b:00.0", "1b:00.0", "0000:1b:00", " 0000:1B:00.0 "}) EXPECT_EQ(parse_bus_id(same), "0000:1b:00.0") << same;
  EXPECT_EQ(parse_bus_id("0000000F:01:00.0"), "000f:01:00.0");
  EXPECT_EQ(parse_bus_id("10000:e1:00.0"), "10000:e1:00.0");
  for (const char* other : {"12:30", "", "1b:00.9", "g0:00.0", "0000:1b:20.0", "1:2:3:4.0", "0x1b:00.0"}) EXPECT_FALSE(parse_bus_id(other)) << other;
  EXPECT_EQ(nvidia_bus_id("0000:1b:00.0"), "00000000:1B:00.0");
  EXPECT_EQ(nvidia_bus_id("strange"), "strange");
}

}  // namespace
}  // namespace verl::topology
