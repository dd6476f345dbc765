// ethtool -S, once or several times in one text. The tool does not say whose counters they are; two texts of one node that have
// the same counters are taken for two moments of one interface (judge.cpp). All counters are 64 bits wide; names nobody knows
// are values all the same.
#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "diagnosis/fabric/names.h"
#include "diagnosis/fabric/readers.h"
#include "diagnosis/fabric/store.h"

namespace verl::fabric {
namespace {

constexpr std::string_view kHeading = "NIC statistics:";
constexpr std::size_t kMostCounters = 100'000;
constexpr std::size_t kMostSnapshots = 256;

// Counter names may hold colons ("[0]: rx_ucast_packets: 7"), so the last one parts name and number.
std::optional<KeyValue> counter_of(std::string_view line) {
  const std::size_t colon = line.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  KeyValue pair;
  pair.key = trim(line.substr(0, colon));
  pair.value = trim(line.substr(colon + 1));
  if (pair.key.empty() || pair.value.empty() || std::isdigit(static_cast<unsigned char>(pair.value.front())) == 0) return std::nullopt;
  return pair;
}

bool is_counter_name(std::string_view name) {
  return name.starts_with("rx_") || name.starts_with("tx_") || name.starts_with("rx-") || name.starts_with("tx-") || name.starts_with("rx") || name.starts_with("tx") ||
         name.starts_with("port.") || name.starts_with("queue_") || name.starts_with("veb.");
}

// People call the file after the interface: "node-a/ethtool-S-ens5f0.txt". A hint that parts the counters of two interfaces.
std::string owner_by_name(std::string_view document) {
  document = document.substr(document.rfind('/') == std::string_view::npos ? 0 : document.rfind('/') + 1);
  const auto of_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  while (!document.empty()) {
    std::size_t end = 0;
    while (end < document.size() && of_word(document[end])) ++end;
    const std::string_view word = document.substr(0, end);
    document.remove_prefix(std::min(end + 1, document.size()));
    const InterfaceKind kind = kind_of_name(word);
    const bool named = kind == InterfaceKind::Ethernet || kind == InterfaceKind::Bond || kind == InterfaceKind::Infiniband;
    if (named && std::any_of(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c) != 0; })) return std::string(word);
  }
  return {};
}

// A line between two runs that holds a time of day says when the next one was taken: "Tue Dec  1 10:00:05 UTC".
bool says_when(std::string_view line) {
  const auto digit = [&](std::size_t at) { return at < line.size() && line[at] >= '0' && line[at] <= '9'; };
  for (std::size_t colon = line.find(':'); colon != std::string_view::npos; colon = line.find(':', colon + 1)) {
    if (colon > 0 && digit(colon - 1) && digit(colon + 1) && digit(colon + 2)) return true;
  }
  return false;
}

}  // namespace

int likeness_ethtool_statistics(std::string_view head) {
  int counters = 0;
  int others = 0;
  for (const Line& line : lines_of(head)) {
    if (line.bare == kHeading) return 96;
    if (line.bare.empty()) continue;
    const auto pair = counter_of(line.bare);
    ++(pair && is_counter_name(pair->key) && parse_int<std::uint64_t>(pair->value) ? counters : others);
  }
  return counters >= 3 && others <= counters ? 55 : 0;
}

Reading read_ethtool_statistics(std::string_view text, const ReadOptions& options) {
  Store store(options);
  std::vector<CounterSnapshot>& snapshots = store.facts().snapshots;
  std::string moment;
  std::size_t count = 0;
  const auto begin = [&] {
    CounterSnapshot one;
    one.document = store.document();
    one.owner = owner_by_name(store.document());
    one.moment = moment;
    snapshots.push_back(std::move(one));
    moment.clear();
  };
  for (const Line& line : lines_of(text, options.strip_comment_prefix)) {
    if (line.bare.empty()) continue;
    if (line.bare == kHeading && snapshots.size() >= kMostSnapshots) {
      store.unread(line, "more looks than are kept");
      continue;
    }
    if (line.bare == kHeading) {
      begin();
      continue;
    }
    const auto pair = counter_of(line.bare);
    const bool counter = pair && (!snapshots.empty() || is_counter_name(pair->key));
    const auto number = counter ? parse_int<std::uint64_t>(pair->value) : std::nullopt;
    if (!number) {
      if (says_when(line.bare)) {
        moment = shorten(line.bare, 80);
        continue;
      }
      store.unread(line, counter ? "not a number of 64 bits" : "not NAME: NUMBER");
      continue;
    }
    if (snapshots.empty()) begin();
    if (++count > kMostCounters) {
      store.unread(line, "more counters than a driver has");
      continue;
    }
    if (!snapshots.back().counters.emplace(pair->key, *number).second) {
      store.unread(line, "a second counter of this name");
      continue;
    }
    const std::string at = snapshots.size() > 1 ? "snapshot[" + std::to_string(snapshots.size() - 1) + "]." : "";
    store.value(at + "counter." + std::string(pair->key), *number);
  }
  if (snapshots.empty()) return failure(ErrorCode::Invalid, "no counter in it");
  return store.take();
}

}  // namespace verl::fabric
