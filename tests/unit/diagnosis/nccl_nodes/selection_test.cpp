#include "diagnosis/nccl/selection.h"

#include <gtest/gtest.h>

namespace verl::nccl {
namespace {

struct Row {
  std::string_view list;
  std::string_view name;
  std::int32_t port;
  bool taken;
};

TEST(Selection, TakesWhatNcclTakes) {
  constexpr Row kRows[] = {
      {"", "ens1", kAnyPort, true},
      {"^", "ens1", kAnyPort, false},
      {"=", "ens1", kAnyPort, true},
      {"hfi_2", "hfi_2", 1, true},
      {"hfi_2", "hfi_20", 1, true},
      {"hfi_2:1", "hfi_20", 1, true},  // a port does not make the match exact
      {"hfi_2:1", "hfi_2", 2, false},
      {"=hfi_2:1", "hfi_20", 1, false},
      {"=hfi_2", "hfi_2", 2, true},
      {"=hfi_2", "hfi_", 2, false},
      {"hfi_20", "hfi_2", 1, false},
      {"^hfi_2", "hfi_20", 1, false},
      {"^hfi_2", "hfi_3", 1, true},
      {"^=hfi_2", "hfi_20", 1, true},
      {"=^hfi_2", "hfi_2", 1, false},   // the caret behind "=" is part of a name
      {"hfi_0, hfi_1", "hfi_1", 1, false},
      {"HFI_0", "hfi_0", 1, false},
      {"hfi_0:x", "hfi_0", 1, false},
      {"hfi_0:-1", "hfi_0", 1, true},   // atoi gives the number that stands for any
      {"hfi_0:2:1:0", "hfi_0", 2, true},
      {"hfi_0: 2", "hfi_0", 2, true},
      {",,hfi_0,", "hfi_0", 1, true},
      {",,", "hfi_0", 1, true},
      {":1", "hfi_0", 1, true},         // no name before the colon: no entry at all
      {"hfi_0:99999999999", "hfi_0", 1, false},
      {"=eth0", "eth0", kAnyPort, true},
      {"bond0", "bond0.2093", kAnyPort, true},
  };
  for (const Row& row : kRows) {
    EXPECT_EQ(selects(parse_selection(row.list, kMostDevices), row.name, row.port), row.taken) << row.list << " on " << row.name << ":" << row.port;
  }
}

TEST(Selection, DropsEntriesBehindTheLimit) {
  const Selection selection = parse_selection("a,b,c,d", 2);
  EXPECT_EQ(selection.entries.size(), 2U);
  EXPECT_EQ(selection.dropped, 2U);
  EXPECT_FALSE(selects(selection, "c"));
}

TEST(Selection, PrintsTheListItRead) {
  for (const std::string_view text : {"^=a,b:1", "a:2", "^lo,docker", "=x", "", "^"}) EXPECT_EQ(to_string(parse_selection(text, kMostDevices)), text);
  EXPECT_EQ(to_string(parse_selection(",a:1:2,,b", kMostDevices)), "a:1,b");
}

}  // namespace
}  // namespace verl::nccl
