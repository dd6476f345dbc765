#include "operator/core/shortage.h"

#include <fmt/format.h>

#include <cctype>
#include <map>

#include "base/text.h"
#include "operator/core/reason.h"

namespace verl::core {
namespace {

// ": n21 MTUInterface (ens3f0 1500, wants >= 9000); 3 nodes AgentSilent (…): n24, n25, n26" of one domain, or of the whole
// cluster; nodes with the same reason are told together.
std::string blockers(const GangDecision& decision, const std::string& domain) {
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> groups;
  for (const LeftOut& left : decision.left_out) {
    if (domain.empty() || left.domain == domain) groups[{left.reason, left.message}].push_back(left.node);
  }
  std::vector<std::string> sentences;
  for (const auto& [why, nodes] : groups) {
    const std::string detail = shorten(why.second, 160);
    sentences.push_back(nodes.size() == 1 ? fmt::format("{} {} ({})", nodes.front(), why.first, detail)
                                          : fmt::format("{} nodes {} ({}): {}", nodes.size(), why.first, detail, join_some(nodes, 8)));
  }
  return sentences.empty() ? "" : ": " + join(sentences, "; ");
}

// Any of the nodes that only their report keeps out, when that many would do.
void name_change(GangDecision& decision, const std::string& domain, std::int32_t missing) {
  std::vector<std::string> names;
  for (const LeftOut& left : decision.left_out) {
    if (left.mendable && (domain.empty() || left.domain == domain)) names.push_back(left.node);
  }
  const auto count = static_cast<std::int32_t>(names.size());
  if (missing <= 0 || count < missing) return;
  if (count == missing) {
    decision.smallest_change = join_some(names, 8);
  } else {
    decision.smallest_change = fmt::format("{} of {}", missing == 1 ? "one" : std::to_string(missing), join_some(names, 8));
  }
}

}  // namespace

void explain_shortage(const placement::Shortage& shortage, const std::vector<std::string>& level_names, size_t nodes, GangDecision& decision) {
  const size_t level = shortage.level.value_or(0);
  std::vector<std::string> words;
  if (shortage.cause == placement::Cause::NoDomainFits || shortage.cause == placement::Cause::DomainsCompete) {
    const std::string& name = level_names[level];
    decision.reason = "ShortOfNodesIn" + as_reason(name, "Domain");
    words.push_back(fmt::format("needs {} fit nodes in one {}", shortage.wanted, name));
    if (!shortage.best.empty()) {
      const placement::DomainCount& best = shortage.best.front();
      words.push_back(fmt::format("{} {} has {} of {}{}", name, best.name, best.eligible, best.total, blockers(decision, best.name)));
      name_change(decision, best.name, best.short_of);
    }
  } else if (shortage.cause == placement::Cause::NotFound) {
    decision.reason = "SearchEnded";
    words.push_back("the search for a placement ended at its limit; that none exists is not proven");
  } else {
    decision.reason = "ShortOfNodes";
    words.push_back(fmt::format("needs {} fit nodes; {} of {} are fit{}", shortage.wanted, shortage.available, nodes, blockers(decision, "")));
    name_change(decision, "", shortage.wanted - shortage.available);
  }
  decision.message = join(words, "; ") + ".";
  std::vector<std::string> ways;
  if (!decision.smallest_change.empty()) ways.push_back("mending " + decision.smallest_change + " would admit it");
  if (shortage.relaxation) {
    ways.push_back(fmt::format("topology mode Preferred would admit it now, over {}", join_some(shortage.relaxation->names, 4)));
  }
  if (ways.empty()) return;
  std::string sentence = join(ways, "; ");
  sentence[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(sentence[0])));
  decision.message += " " + sentence + ".";
}

}  // namespace verl::core
