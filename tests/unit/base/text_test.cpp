#include "base/text.h"

#include <gtest/gtest.h>

namespace verl {
namespace {

TEST(Text, TrimsAndSplits) {
  EXPECT_EQ(trim(" \t a b\n"), "a b");
  EXPECT_EQ(trim(" \n"), "");
  EXPECT_EQ(split("a,,b", ','), (std::vector<std::string_view>{"a", "", "b"}));
  EXPECT_EQ(split("", ','), (std::vector<std::string_view>{""}));
  EXPECT_EQ(split_whitespace("  a \t b\n"), (std::vector<std::string_view>{"a", "b"}));
  EXPECT_TRUE(split_whitespace(" ").empty());
}

TEST(Text, ListsAFewNamesAndCountsTheRest) {
  EXPECT_EQ(join_some({"a", "b"}, 2), "a, b");
  EXPECT_EQ(join_some({"a", "b", "c"}, 2), "a, b and 1 more");
}

TEST(Text, EscapesWhatCouldMoveATerminal) {
  EXPECT_EQ(escape_controls("ok √"), "ok √");
  EXPECT_EQ(escape_controls("\x1b[2J\n\x7f"), "\\x1b[2J\\x0a\\x7f");
  EXPECT_EQ(escape_controls("\xc2\x9b"), "\\xc2\\x9b");
  EXPECT_EQ(escape_controls("\xff\xc0\xaf\xe2\x88"), "\\xff\\xc0\\xaf\\xe2\\x88");
  EXPECT_EQ(escape_controls("\xed\xa0\x80"), "\\xed\\xa0\\x80");
}

TEST(Text, ReadsWholeIntegersOnly) {
  EXPECT_EQ(parse_int("42"), 42);
  EXPECT_EQ(parse_int("-1"), -1);
  for (const std::string_view text : {"", "-", "4x", " 4", "99999999999999999999"}) EXPECT_EQ(parse_int(text), std::nullopt) << text;
}

TEST(Text, ShortensAtACharacterBoundary) {
  EXPECT_EQ(shorten("abc", 3), "abc");
  EXPECT_EQ(shorten("abcdef", 5), "ab…");
  EXPECT_EQ(shorten("a√√√", 6), "a…");
  EXPECT_EQ(shorten("abcdef", 2), "");
}

}  // namespace
}  // namespace verl
