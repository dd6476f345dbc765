#include "base/command_line.h"

#include <gtest/gtest.h>

namespace verl {
namespace {

const std::vector<std::string> kCommands{"report", "plan", "explain", "snapshot", "version"};
const std::vector<std::string> kOptions{"--config", "--token-key-file", "--help"};

TEST(CommandLine, FindsTheWordThatWasMeant) {
  struct Row {
    const char* word;
    const char* nearest;
  };
  const Row rows[] = {{"reprot", "report"}, {"snap", "snapshot"}, {"plann", "plan"}, {"bogus", ""}, {"", ""}, {"versoin", "version"}, {"xy", ""}};
  for (const Row& row : rows) EXPECT_EQ(nearest_word(row.word, kCommands), row.nearest) << row.word;
  EXPECT_EQ(nearest_word(std::string(100'000, 'x'), kCommands), "");
  EXPECT_EQ(nearest_word("report", {}), "");
}

TEST(CommandLine, NamesTheWordThatNobodyKnows) {
  EXPECT_EQ(unknown_word("reprot", "kubectl-verl", kCommands, kOptions), "\"reprot\" is no command of kubectl-verl; did you mean report?");
  EXPECT_EQ(unknown_word("bogus", "kubectl-verl", kCommands, kOptions),
            "\"bogus\" is no command of kubectl-verl; there are report, plan, explain, snapshot, version");
  EXPECT_EQ(unknown_word("--confg=/a", "run", {}, kOptions), "\"--confg=/a\" is no option of run; did you mean --config?");
  EXPECT_EQ(unknown_word("--bogus", "run", {}, kOptions), "\"--bogus\" is no option of run; run --help lists them");
  EXPECT_EQ(unknown_word("b", "explain", {}, kOptions), "\"b\" is not expected after explain; explain --help says what is");
  EXPECT_EQ(unknown_word("\x1b[2J", "run", {}, kOptions), "\"\\x1b[2J\" is not expected after run; run --help says what is");
}

}  // namespace
}  // namespace verl
