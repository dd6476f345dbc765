// Expectations are compared at equal size, queue pairs and direction alone.
#include "diagnosis/judge.h"
#include "tests/unit/diagnosis/benchmark/read.h"

namespace verl::benchmark {
namespace {

using diagnosis::Expectation;
using diagnosis::Findings;
using diagnosis::NodeFacts;
using diagnosis::Policy;

Measurement measured() {
  Measurement one;
  one.test = "ib_write_bw";
  one.size = 65536;
  one.queue_pairs = 4;
  one.bidirectional = false;
  one.gbits_per_s = 380;
  one.latency_us = 3;
  one.device = "hfi7_0";
  return one;
}

std::vector<std::string> judged(const Measurement& one, const Expectation& wanted, Policy policy = {}) {
  NodeFacts node;
  node.benchmark.measurements.push_back(one);
  policy.expectations.push_back(wanted);
  Findings found;
  diagnosis::judge_benchmark(node, policy, found);
  std::vector<std::string> ids;
  for (const auto& finding : found) ids.push_back(finding.id + " " + std::string(diagnosis::to_string(finding.severity)));
  return ids;
}

Expectation wanted(double minimum) {
  Expectation one;
  one.test = "ib_write_bw";
  one.size = 65536;
  one.queue_pairs = 4;
  one.bidirectional = false;
  one.minimum = minimum;
  return one;
}

using Ids = std::vector<std::string>;

TEST(Expectations, AreMetOrNot) {
  EXPECT_EQ(judged(measured(), wanted(380)), Ids{});
  EXPECT_EQ(judged(measured(), wanted(380.5)), Ids{"benchmark-below-expectation error"});
  Expectation slow = wanted(0);
  slow.maximum_us = 2.5;
  EXPECT_EQ(judged(measured(), slow), Ids{"benchmark-below-expectation error"});
  slow.maximum_us = 3;
  EXPECT_EQ(judged(measured(), slow), Ids{});
}

TEST(Expectations, OfAnotherSettingAreNotCompared) {
  for (int i = 0; i < 3; ++i) {
    Expectation other = wanted(390);
    if (i == 0) other.size = 131072;
    if (i == 1) other.queue_pairs = 1;
    if (i == 2) other.bidirectional = true;
    EXPECT_EQ(judged(measured(), other), Ids{"benchmark-not-comparable info"}) << i;
  }
  Expectation read = wanted(390);
  read.test = "ib_read_bw";
  EXPECT_EQ(judged(measured(), read), (Ids{"benchmark-not-comparable unknown"}));
}

TEST(Expectations, AreNotProvenWithoutANetwork) {
  Measurement loop = measured();
  loop.network = false;
  EXPECT_EQ(judged(loop, wanted(10)), (Ids{"benchmark-loopback warning", "benchmark-no-network-proof unknown"}));
  loop.ranks = 8;
  EXPECT_EQ(judged(loop, wanted(10)), (Ids{"benchmark-single-host info", "benchmark-no-network-proof unknown"}));
}

TEST(Software, NeverSatisfies) {
  Measurement soft = measured();
  soft.device = "rxe_eth0";
  EXPECT_EQ(judged(soft, wanted(10)), Ids{"benchmark-software-rdma warning"});
  Policy policy;
  policy.rdma_devices = 1;
  EXPECT_EQ(judged(soft, wanted(10), policy), Ids{"benchmark-software-rdma error"});
  policy.software_rdma = true;
  EXPECT_EQ(judged(soft, wanted(10), policy), Ids{});
}

}  // namespace
}  // namespace verl::benchmark
