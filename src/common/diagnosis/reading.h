// What was read from one document: facts about nodes for the rules that need several documents, every value with its unit for
// machines, what the text alone shows, and what nobody understood.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "diagnosis/facts.h"
#include "diagnosis/finding.h"

namespace verl::diagnosis {

using Scalar = std::variant<bool, std::int64_t, std::uint64_t, double, std::string>;

struct Value {
  std::string name{};  // a path: "tracking.offset", "rows[3].bandwidth", "GPU0.nic[NIC1]"
  Scalar value{};
  std::string unit{};  // "s", "Gb/s", "B", "GB/s", "us"; empty for names, counts and flags
  bool operator==(const Value&) const = default;
};

// A line that no reader took. Blank lines, comments and headings are not counted as unread.
struct UnreadLine {
  std::int64_t line{0};  // from 1
  std::string text{};    // cut to kEvidenceBytes
  std::string why{};     // "not a row of the table: 9 cells, 11 wanted"
  bool operator==(const UnreadLine&) const = default;
};

struct Reading {
  // Facts by node; "" is the node the document belongs to. Only documents that speak of several nodes (a log, an export) name them.
  std::vector<std::pair<std::string, NodeFacts>> nodes{};
  std::vector<Value> values{};
  std::vector<Finding> findings{};
  std::vector<UnreadLine> unread{};    // at most kUnreadLines, the rest is counted
  std::int64_t unread_more{0};
  std::vector<std::string> skipped{};  // whole parts left alone on purpose, and why: "Secret rl/tls: never read"
};

constexpr std::size_t kUnreadLines = 50;

// Adds one, or counts it when there are enough.
void add_unread(Reading& reading, UnreadLine line);

// The facts of the document's own node (""), made when absent.
NodeFacts& own_node(Reading& reading);

}  // namespace verl::diagnosis
