#include "report/layout.h"

#include <gtest/gtest.h>

namespace verl::report {
namespace {

struct ShownCase {
  std::string text{};
  std::string plain{};
  std::string ascii{};
};

TEST(Layout, LetsNothingThroughThatMovesACursorOrTurnsALine) {
  const std::vector<ShownCase> cases{{"n01", "n01", "n01"},
                                     {"\x1b[31mred", "\\x1b[31mred", "\\x1b[31mred"},
                                     {"a\nb\tc\r", "a\\x0ab\\x09c\\x0d", "a\\x0ab\\x09c\\x0d"},
                                     {"\xff\xfe", "\\xff\\xfe", "\\xff\\xfe"},
                                     {"\xc2\x9b", "\\xc2\\x9b", "\\xc2\\x9b"},
                                     {"a\u202eb", "a\\u{202E}b", "a\\u{202E}b"},
                                     {"a\u200bb", "a\\u{200B}b", "a\\u{200B}b"},
                                     {"≥ 9000 … é", "≥ 9000 … é", ">= 9000 ... \\u{00E9}"}};
  for (const ShownCase& one : cases) {
    EXPECT_EQ(shown(one.text, {}), one.plain);
    EXPECT_EQ(shown(one.text, {.ascii = true}), one.ascii);
  }
}

TEST(Layout, CountsColumnsAndNotBytes) {
  EXPECT_EQ(display_width("n01"), 3U);
  EXPECT_EQ(display_width("× ≥ é"), 5U);
  EXPECT_EQ(display_width("机架"), 4U);
  EXPECT_EQ(display_width("e\u0301"), 1U);
  EXPECT_EQ(display_width(mark(Verdict::Fail, {.colour = true})), 1U);
}

TEST(Layout, PutsBothEndsOfALineWhereTheyBelong) {
  EXPECT_EQ(line_of("left", ""), "left\n");
  EXPECT_EQ(display_width(line_of("机架", "48 of 48 nodes")), kWidth + 1);
  EXPECT_EQ(line_of(std::string(200, 'x'), "id"), std::string(200, 'x') + "  id\n");
  EXPECT_EQ(heading("time", ""), "time\n----\n");
}

}  // namespace
}  // namespace verl::report
