#include "diagnosis/log/torch_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "diagnosis/log/scan.h"

namespace verl::log {
namespace {

constexpr std::size_t kRanks = 16384;

}  // namespace

void TorchRun::note(const Line& line) {
  const auto sequence = number_after(line.message, "WorkNCCL(SeqNum=");
  // "[Rank 3] …", "[PG ID 2 PG GUID 3(actor) Rank 3] …"
  auto rank = number_after(line.message, "[Rank ");
  std::string group;
  if (const std::string_view named = between(line.message, "[PG ", "]"); !named.empty()) {
    rank = number_after(named, " Rank ");
    group = shorten(named.substr(0, named.find(" Rank ")), 80);
  }
  if (!rank && line.rank >= 0) rank = line.rank;
  if (!sequence || !rank || *rank < 0 || ranks_ >= kRanks) return;
  auto& ranks = groups_[group];
  if (ranks.contains(*rank)) return;  // the first one counts
  ++ranks_;
  ranks.emplace(*rank, At{*sequence, std::string(between(line.message, "OpType=", ",")), line.number, shorten(line.text, diagnosis::kEvidenceBytes)});
}

void TorchRun::finish(Events& events, diagnosis::Reading& reading) const {
  for (const auto& [group, ranks] : groups_) {
    for (const auto& [rank, at] : ranks) {
      const std::string own = group.empty() ? fmt::format("torch.rank[{}].", rank) : fmt::format("torch.group[{}].rank[{}].", group, rank);
      reading.values.push_back({.name = own + "sequence", .value = at.sequence, .unit = {}});
      reading.values.push_back({.name = own + "operation", .value = at.operation, .unit = {}});
    }
    if (ranks.size() < 2) continue;
    const auto ends = std::minmax_element(ranks.begin(), ranks.end(), [](const auto& a, const auto& b) { return a.second.sequence < b.second.sequence; });
    const auto least = ends.first;
    const auto most = ends.second;
    if (least->second.sequence == most->second.sequence) {
      const auto other = std::find_if(ranks.begin(), ranks.end(), [&](const auto& one) { return one.second.operation != least->second.operation; });
      if (other == ranks.end()) continue;
      Sighting sighting;
      sighting.rule = "torch-collective-mismatch";
      sighting.blame = Blame::Mismatch;
      sighting.subject = group;
      sighting.message = fmt::format("ranks run different collectives as number {}: rank {} {}, rank {} {}", least->second.sequence, least->first, least->second.operation, other->first,
                                     other->second.operation);
      Line line;
      line.number = other->second.line;
      line.text = other->second.text;
      events.add(line, "", std::move(sighting));
      continue;
    }
    std::vector<std::string> behind;
    for (const auto& [rank, at] : ranks) {
      if (at.sequence == least->second.sequence) behind.push_back(std::to_string(rank));
    }
    Sighting sighting;
    sighting.rule = "torch-rank-behind";
    sighting.blame = Blame::Connection;  // what stopped that rank explains it
    sighting.subject = group;
    sighting.seen = std::to_string(least->second.sequence);
    sighting.wanted = std::to_string(most->second.sequence);
    sighting.message = fmt::format("rank {} stands at collective {} ({}) while others are at {} ({}): it is the one that holds them up", join_some(behind, 8), least->second.sequence,
                                   least->second.operation, most->second.sequence, most->second.operation);
    Line line;
    line.number = least->second.line;
    line.text = least->second.text;
    events.add(line, "", std::move(sighting));
  }
}

}  // namespace verl::log
