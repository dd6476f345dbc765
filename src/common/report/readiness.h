// What a readiness report is made from and what stands in it, as values. Decides how findings are grouped, counted and
// ordered (worst first) and how large the largest ready set is. Judging nodes is the caller's; laying out is render.h's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/finding.h"
#include "base/time.h"

namespace verl::report {

enum class Word { Ready, NotReady, Unknown };

std::string_view to_string(Word word);

// One node as its operator judges it.
struct NodeLine {
  std::string name{};
  Word word{Word::Unknown};
  std::string reason{};
  std::string message{};
  std::int64_t gpus{0};
  std::vector<std::string> domains{};  // one per ReportInput::levels; empty text: not known
  std::string policy{};                // name of the policy that judged it, empty: none
  bool believed{false};                // its report counts; otherwise `reason` says why not
  std::vector<Finding> findings{};     // severity as the policy has it, comparisons with other nodes included
  std::string held_back{};             // why a node takes no job whatever its report says: "cordoned"; empty: it may
  std::string like{};                  // only nodes that are alike in this can work together: "MTU 9000"
  bool operator==(const NodeLine&) const = default;
};

// Something about the cluster as a whole.
struct ClusterLine {
  Verdict verdict{Verdict::Unknown};
  std::string id{};     // a section of docs/conditions.md, empty when there is nothing to look up
  std::string title{};  // what is so, or what ought to be
  std::vector<std::string> details{};
  std::string remedy{};
  std::int32_t count{1};  // how many nodes or things it stands for
  bool operator==(const ClusterLine&) const = default;
};

struct ReportInput {
  std::optional<Timestamp> time{};    // the apiserver's
  std::string source{};               // "context kind of /home/a/.kube/config", "export nodes.json"
  std::vector<std::string> levels{};  // outermost first
  std::vector<ClusterLine> cluster{};
  std::vector<NodeLine> nodes{};
  std::string docs_url{};  // without a slash at the end; empty: no links
  bool operator==(const ReportInput&) const = default;
};

// Findings that say the same of several nodes.
struct Problem {
  Verdict verdict{Verdict::Unknown};
  std::vector<std::string> nodes{};     // sorted
  std::vector<std::string> subjects{};  // of each of these nodes, sorted
  std::string seen{};
  std::string wanted{};
  std::string message{};
  std::vector<std::string> remedies{};  // one per subject where they differ
  std::string policy{};
  bool operator==(const Problem&) const = default;
};

struct CheckLine {
  std::string id{};
  std::string title{};
  Verdict verdict{Verdict::Unknown};  // the worst; Skipped when it was judged nowhere
  std::vector<Problem> problems{};    // everything but passes, worst first, then most nodes first
  bool operator==(const CheckLine&) const = default;
};

// The checks of one kind. A node is good when it was judged and nothing in it failed or is unknown; a node on which every
// check was skipped is neither good nor judged.
struct Section {
  std::string name{};
  std::int32_t good{0};
  std::int32_t judged{0};
  std::vector<CheckLine> checks{};  // worst first
  bool operator==(const Section&) const = default;
};

struct LevelSet {
  std::string level{};
  std::int32_t nodes{0};
  std::int64_t gpus{0};
  std::vector<std::string> domains{};  // all that have as many, sorted
  bool operator==(const LevelSet&) const = default;
};

// The most nodes that could work together now, were they all free.
struct LargestSet {
  std::int32_t nodes{0};
  std::int64_t gpus{0};
  std::vector<LevelSet> levels{};  // as ReportInput::levels
  bool operator==(const LargestSet&) const = default;
};

// Pairs of node and check, each counted once by its worst verdict; nodes whose report does not count, as unknown.
struct Counts {
  std::int32_t errors{0};
  std::int32_t warnings{0};
  std::int32_t unknown{0};
  bool operator==(const Counts&) const = default;
};

struct ReadinessReport {
  ReportInput input{};  // nodes and cluster lines worst first
  bool ready{false};    // no error, nothing unknown, and at least one node to run on
  Counts counts{};
  LargestSet largest{};
  std::vector<Section> sections{};  // worst first; what keeps reports from counting comes first of all
  bool operator==(const ReadinessReport&) const = default;
};

ReadinessReport build(ReportInput input);

LargestSet largest_ready_set(const ReportInput& input);

// For several findings of one check on one node: the worst, Skipped when all are.
Verdict worst_of(const std::vector<Finding>& findings);

// 0 for Fail, then Unknown, Warn, Pass, Skipped: the order of everything in a report.
int rank_of(Verdict verdict);

// What --fail-on may say. There is no level at which Unknown passes.
enum class FailOn { Error, Warning };

// Whether the report has findings at or above the level.
bool fails(const ReadinessReport& report, FailOn level);

}  // namespace verl::report
