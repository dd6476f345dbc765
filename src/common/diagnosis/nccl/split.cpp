#include "diagnosis/nccl/split.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/text.h"
#include "diagnosis/rule.h"

namespace verl::nccl {
namespace {

constexpr size_t kShownNodes = 4;
constexpr size_t kShownSides = 6;
constexpr size_t kShownBytes = 80;

}  // namespace

Split split_of(std::vector<Said> said) {
  std::sort(said.begin(), said.end(), [](const Said& a, const Said& b) { return std::tie(a.value, a.node) < std::tie(b.value, b.node); });
  Split split;
  for (Said& one : said) {
    if (split.sides.empty() || split.sides.back().value != one.value) split.sides.push_back({.value = std::move(one.value), .nodes = {}});
    split.sides.back().nodes.push_back(std::move(one.node));
  }
  std::stable_sort(split.sides.begin(), split.sides.end(), [](const Side& a, const Side& b) { return a.nodes.size() > b.nodes.size(); });
  split.tie = split.sides.size() > 1 && split.sides[0].nodes.size() == split.sides[1].nodes.size();
  return split;
}

bool differs(const Split& split) { return split.sides.size() > 1; }

std::string sides_text(const Split& split) {
  std::vector<std::string> texts;
  for (const Side& side : split.sides) {
    if (texts.size() == kShownSides) {
      texts.push_back(fmt::format("{} other values", split.sides.size() - kShownSides));
      break;
    }
    texts.push_back(fmt::format("{} on {}", shorten(side.value, kShownBytes), join_some(side.nodes, kShownNodes)));
  }
  return join(texts, "; ");
}

diagnosis::Finding finding_of_split(std::string_view id, std::string subject, std::string_view what, const Split& split) {
  diagnosis::Finding finding = diagnosis::finding_of(id, std::move(subject));
  std::vector<std::string> seen;
  for (size_t i = split.tie ? 0 : 1; i < split.sides.size(); ++i) {
    const Side& side = split.sides[i];
    finding.nodes.insert(finding.nodes.end(), side.nodes.begin(), side.nodes.end());
    if (seen.size() < kShownSides) seen.push_back(shorten(side.value, kShownBytes));
  }
  std::sort(finding.nodes.begin(), finding.nodes.end());
  finding.seen = join(seen, "; ");
  if (!split.tie && !split.sides.empty()) finding.wanted = split.sides.front().value;
  finding.message = fmt::format("{}: {}", what, sides_text(split));
  return finding;
}

}  // namespace verl::nccl
