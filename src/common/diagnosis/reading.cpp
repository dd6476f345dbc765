#include "diagnosis/reading.h"

#include <algorithm>

#include "base/text.h"

namespace verl::diagnosis {

void add_unread(Reading& reading, UnreadLine line) {
  if (reading.unread.size() >= kUnreadLines) {
    ++reading.unread_more;
    return;
  }
  line.text = shorten(line.text, kEvidenceBytes);
  reading.unread.push_back(std::move(line));
}

NodeFacts& own_node(Reading& reading) {
  const auto own = std::find_if(reading.nodes.begin(), reading.nodes.end(), [](const auto& one) { return one.first.empty(); });
  if (own != reading.nodes.end()) return own->second;
  return reading.nodes.emplace_back().second;
}

}  // namespace verl::diagnosis
