// What is written reads back as the same value. A failure prints the seed that makes it again.
#include <gtest/gtest.h>

#include "codec/decode.h"
#include "codec/encode.h"
#include "values.h"

namespace verl::codec {
namespace {

constexpr unsigned kRounds = 300;

template <class T, class Make>
void check_round_trip(Make&& make) {
  for (unsigned seed = 0; seed < kRounds; ++seed) {
    Random random(seed);
    const T value = make(random);
    const std::string text = encode(value);
    const auto back = decode_object<T>(text);
    ASSERT_TRUE(back) << "seed " << seed << ": " << back.error().message;
    ASSERT_EQ(*back, value) << "seed " << seed << ": " << text;
  }
}

TEST(RoundTrip, OfAVerlJob) { check_round_trip<api::VerlJob>(random_job); }
TEST(RoundTrip, OfANodeReadiness) { check_round_trip<api::NodeReadiness>(random_report); }
TEST(RoundTrip, OfAReadinessPolicy) { check_round_trip<api::ReadinessPolicy>(random_policy); }

TEST(RoundTrip, OfAStatusBody) {
  for (unsigned seed = 0; seed < kRounds; ++seed) {
    Random random(seed);
    const api::VerlJob job = random_job(random);
    const auto back = decode_object<api::VerlJob>(encode_status(job.meta, job.status));
    ASSERT_TRUE(back) << "seed " << seed << ": " << back.error().message;
    ASSERT_EQ(back->status, job.status) << "seed " << seed;
  }
}

TEST(RoundTrip, OfWhatTheTwoWritersOfAReportWriteTogether) {
  for (unsigned seed = 0; seed < kRounds; ++seed) {
    Random random(seed);
    api::NodeReadiness report = random_report(random);
    const auto agent = decode_object<api::NodeReadiness>(encode_agent_status(report.meta, report.status));
    const auto op = decode_object<api::NodeReadiness>(encode_operator_status(report.meta, report.status));
    ASSERT_TRUE(agent && op) << "seed " << seed;
    api::NodeReadinessStatus both = agent->status;
    both.verdict = op->status.verdict;
    ASSERT_EQ(both.conditions.size() + op->status.conditions.size(), report.status.conditions.size()) << "seed " << seed;
    both.conditions = report.status.conditions;
    ASSERT_EQ(both, report.status) << "seed " << seed;
  }
}

}  // namespace
}  // namespace verl::codec
