#include "base/finding.h"

#include <gtest/gtest.h>

namespace verl {
namespace {

Finding with(Verdict verdict) { return Finding{.check = "x", .verdict = verdict}; }

TEST(Finding, NothingSeenIsUnknownAndUnknownOutweighsAWarning) {
  EXPECT_EQ(worst({}), Verdict::Unknown);
  EXPECT_EQ(worst({with(Verdict::Skipped)}), Verdict::Unknown);
  EXPECT_EQ(worst({with(Verdict::Pass), with(Verdict::Skipped)}), Verdict::Pass);
  EXPECT_EQ(worst({with(Verdict::Warn), with(Verdict::Pass)}), Verdict::Warn);
  EXPECT_EQ(worst({with(Verdict::Warn), with(Verdict::Unknown)}), Verdict::Unknown);
  EXPECT_EQ(worst({with(Verdict::Unknown), with(Verdict::Fail)}), Verdict::Fail);
}

}  // namespace
}  // namespace verl
