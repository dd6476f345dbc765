#include "diagnosis/nccl/selection.h"

#include <algorithm>

#include "base/text.h"

namespace verl::nccl {
namespace {

// atoi: leading blanks, a sign, digits; anything else is 0. What does not fit is no port either.
std::int32_t atoi_of(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || (text.front() >= '\t' && text.front() <= '\r'))) text.remove_prefix(1);
  bool negative = false;
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
    negative = text.front() == '-';
    text.remove_prefix(1);
  }
  std::int32_t number = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') break;
    if (number > 100'000'000) return 0;
    number = number * 10 + (c - '0');
  }
  return negative ? -number : number;
}

}  // namespace

Selection parse_selection(std::string_view text, std::size_t most) {
  Selection selection;
  if (text.starts_with('^')) {
    selection.exclude = true;
    text.remove_prefix(1);
  }
  if (text.starts_with('=')) {
    selection.exact = true;
    text.remove_prefix(1);
  }
  for (const std::string_view part : split(text, ',')) {
    const size_t colon = part.find(':');
    SelectionEntry entry;
    entry.name = std::string(part.substr(0, colon));
    if (entry.name.empty()) continue;
    if (colon != std::string_view::npos) entry.port = atoi_of(part.substr(colon + 1));
    if (selection.entries.size() < most) {
      selection.entries.push_back(std::move(entry));
    } else {
      ++selection.dropped;
    }
  }
  return selection;
}

bool matches(const Selection& selection, const SelectionEntry& entry, std::string_view name, std::int32_t port) {
  const bool named = selection.exact ? name == entry.name : name.starts_with(entry.name);
  return named && (port == kAnyPort || entry.port == kAnyPort || port == entry.port);
}

bool selects(const Selection& selection, std::string_view name, std::int32_t port) {
  const bool listed = selection.entries.empty() || std::any_of(selection.entries.begin(), selection.entries.end(), [&](const SelectionEntry& entry) {
                        return matches(selection, entry, name, port);
                      });
  return listed != selection.exclude;
}

std::string to_string(const Selection& selection) {
  std::string text = selection.exclude ? "^" : "";
  if (selection.exact) text += '=';
  for (size_t i = 0; i < selection.entries.size(); ++i) {
    if (i > 0) text += ',';
    text += selection.entries[i].name;
    if (selection.entries[i].port != kAnyPort) text += ':' + std::to_string(selection.entries[i].port);
  }
  return text;
}

}  // namespace verl::nccl
