// Measurements against expectations, and what a measurement cannot prove. Two numbers are compared only at equal size, queue
// pairs and direction.
#include "diagnosis/judge.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "diagnosis/fabric/names.h"
#include "diagnosis/rule.h"

namespace verl::diagnosis {
namespace {

using benchmark::Measurement;

Finding about(std::string_view id, const Measurement& one) {
  Finding finding = finding_of(id, one.test.empty() ? "benchmark" : one.test);
  if (one.line.line > 0) finding.evidence.push_back(one.line);
  return finding;
}

std::string setting(const Measurement& one) {
  std::string text = fmt::format("{} B", one.size);
  if (one.queue_pairs) text += fmt::format(", {} queue pairs", *one.queue_pairs);
  if (one.bidirectional) text += *one.bidirectional ? ", both directions" : ", one direction";
  return text;
}

std::string setting(const Expectation& wanted) {
  std::string text = wanted.size ? fmt::format("{} B", *wanted.size) : "any size";
  if (wanted.queue_pairs) text += fmt::format(", {} queue pairs", *wanted.queue_pairs);
  if (wanted.bidirectional) text += *wanted.bidirectional ? ", both directions" : ", one direction";
  return text;
}

bool comparable(const Measurement& one, const Expectation& wanted) {
  return (!wanted.size || one.size == *wanted.size) && (!wanted.queue_pairs || one.queue_pairs == wanted.queue_pairs) &&
         (!wanted.bidirectional || one.bidirectional == wanted.bidirectional);
}

struct Number {
  double value{0};
  std::string_view unit{};
};

std::optional<Number> bandwidth(const Measurement& one) {
  if (one.gbits_per_s) return Number{.value = *one.gbits_per_s, .unit = "Gb/s"};
  if (one.bus_gbytes_per_s) return Number{.value = *one.bus_gbytes_per_s, .unit = "GB/s"};
  return std::nullopt;
}

void compare(const Measurement& one, const Expectation& wanted, Findings& out) {
  if (!one.network) {
    Finding finding = about("benchmark-no-network-proof", one);
    finding.seen = setting(one);
    finding.message = fmt::format("{} ({}) never left its host, so the expectation is not proven", one.test, setting(one));
    out.push_back(std::move(finding));
    return;
  }
  const auto seen = bandwidth(one);
  if (wanted.minimum && seen && seen->value < *wanted.minimum) {
    Finding finding = about("benchmark-below-expectation", one);
    finding.seen = fmt::format("{:.2f} {}", seen->value, seen->unit);
    finding.wanted = fmt::format("at least {:.2f} {}", *wanted.minimum, seen->unit);
    finding.message = fmt::format("{} gave {:.2f} {} ({}), {:.2f} are wanted", one.test, seen->value, seen->unit, setting(one), *wanted.minimum);
    out.push_back(std::move(finding));
  }
  if (wanted.maximum_us && one.latency_us && *one.latency_us > *wanted.maximum_us) {
    Finding finding = about("benchmark-below-expectation", one);
    finding.seen = fmt::format("{:.2f} us", *one.latency_us);
    finding.wanted = fmt::format("at most {:.2f} us", *wanted.maximum_us);
    finding.message = fmt::format("{} took {:.2f} us ({}), at most {:.2f} are wanted", one.test, *one.latency_us, setting(one), *wanted.maximum_us);
    out.push_back(std::move(finding));
  }
}

void judge_expectations(const NodeFacts& node, const Policy& policy, Findings& out) {
  for (const Expectation& wanted : policy.expectations) {
    std::vector<const Measurement*> others;
    bool met = false;
    for (const Measurement& one : node.benchmark.measurements) {
      if (!wanted.test.empty() && one.test != wanted.test) continue;
      if (comparable(one, wanted)) {
        met = (!wanted.minimum || bandwidth(one)) && (!wanted.maximum_us || one.latency_us);
        compare(one, wanted, out);
      } else {
        others.push_back(&one);
      }
    }
    if (met || node.benchmark.measurements.empty()) continue;
    if (others.empty()) {  // an expectation that nobody measured is not met
      Finding finding = finding_of("benchmark-not-comparable", wanted.test);
      finding.severity = Severity::Unknown;
      finding.wanted = setting(wanted);
      finding.message = fmt::format("{} is expected and was not measured", wanted.test);
      out.push_back(std::move(finding));
      continue;
    }
    Finding finding = about("benchmark-not-comparable", *others.back());
    finding.seen = setting(*others.back());
    finding.wanted = setting(wanted);
    finding.message = fmt::format("{} was measured at {}; the expectation is for {}", wanted.test.empty() ? "the benchmark" : wanted.test, setting(*others.back()), setting(wanted));
    out.push_back(std::move(finding));
  }
}

}  // namespace

void judge_benchmark(const NodeFacts& node, const Policy& policy, Findings& out) {
  std::set<std::string> said;  // one finding a test and device, however many rows
  for (const Measurement& one : node.benchmark.measurements) {
    if (!one.network && said.insert("host " + one.test + one.device).second) {
      Finding finding = about(one.ranks ? "benchmark-single-host" : "benchmark-loopback", one);
      finding.seen = one.ranks ? fmt::format("{} ranks on one host", *one.ranks) : "one address at both ends";
      out.push_back(std::move(finding));
    }
    if (fabric::is_software_rdma(one.device) && !policy.software_rdma && said.insert("soft " + one.test + one.device).second) {
      Finding finding = about("benchmark-software-rdma", one);
      if (policy.rdma_devices.value_or(0) > 0 || policy.gpudirect) finding.severity = Severity::Error;
      finding.seen = one.device;
      finding.message = fmt::format("{} ran on {}, which emulates RDMA in software", one.test, one.device);
      out.push_back(std::move(finding));
    }
  }
  judge_expectations(node, policy, out);
}

// Numbers of two nodes are only worth comparing when somebody said what they should be; that is judged on each.
void compare_benchmark(const Fleet&, const Policy&, Findings&) {}

}  // namespace verl::diagnosis
