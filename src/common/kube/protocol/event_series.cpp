#include "kube/protocol/event_series.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace verl::kube {
namespace {

using nlohmann::json;
using std::chrono::minutes;

constexpr minutes kFinishAfter{6};
constexpr minutes kRefreshEvery{30};
constexpr std::size_t kMaxSeries = 4096;
constexpr std::size_t kNotesOfAKind = 10;
constexpr std::size_t kMaxNote = 1024;
constexpr std::size_t kMaxWord = 128;

std::string dump(const json& document) { return document.dump(-1, ' ', false, json::error_handler_t::replace); }

std::uint64_t fnv1a(std::uint64_t hash, std::string_view text) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return (hash ^ 0xFF) * 1099511628211ULL;  // a separator that no UTF-8 text holds
}

json to_json(const ObjectReference& reference) {
  json out = {{"apiVersion", reference.api_version}, {"kind", reference.kind}, {"name", reference.name}};
  if (!reference.name_space.empty()) out["namespace"] = reference.name_space;
  if (!reference.uid.empty()) out["uid"] = reference.uid;
  return out;
}

// "<object>.<hash>": the same telling has the same name, so a repeated POST collides and cannot double.
std::string event_name(const EventNote& note, const EventSource& source, Timestamp now) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const std::string_view part : {std::string_view(note.regarding.kind), std::string_view(note.regarding.uid), std::string_view(note.regarding.name),
                                      std::string_view(note.reason), std::string_view(note.action), std::string_view(note.note)}) {
    hash = fnv1a(hash, part);
  }
  hash = note.occasion.empty() ? fnv1a(fnv1a(hash, source.instance), std::to_string(now.time_since_epoch().count())) : fnv1a(hash, note.occasion);

  std::string name;
  for (const char c : note.regarding.name.substr(0, 200)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
    name += plain ? c : '-';
  }
  while (!name.empty() && (name.back() == '-' || name.back() == '.')) name.pop_back();
  while (!name.empty() && (name.front() == '-' || name.front() == '.')) name.erase(name.begin());
  return fmt::format("{}.{:016x}", name.empty() ? "event" : name, hash);
}

json series_json(int count, Timestamp last) { return {{"count", count}, {"lastObservedTime", format_rfc3339(last, true)}}; }

// MicroTime wants a fraction even when it is zero; format_rfc3339 with fraction gives six digits.
EventWrite first_write(const EventNote& note, const EventSource& source, Timestamp now) {
  EventWrite write{.name_space = note.regarding.name_space.empty() ? "default" : note.regarding.name_space, .name = event_name(note, source, now)};
  json document = {{"apiVersion", api_version(kEvents)},
                   {"kind", kEvents.kind},
                   {"metadata", {{"name", write.name}, {"namespace", write.name_space}}},
                   {"eventTime", format_rfc3339(now, true)},
                   {"reportingController", source.controller},
                   {"reportingInstance", shorten(source.instance, kMaxWord)},
                   {"action", shorten(note.action.empty() ? note.reason : note.action, kMaxWord)},
                   {"reason", shorten(note.reason, kMaxWord)},
                   {"type", note.type == EventType::Warning ? "Warning" : "Normal"},
                   {"regarding", to_json(note.regarding)},
                   {"note", shorten(note.note, kMaxNote)}};
  if (note.related) document["related"] = to_json(*note.related);
  write.create = dump(document);
  return write;
}

}  // namespace

std::optional<EventWrite> EventSeries::record(const EventNote& note, Timestamp now) {
  const Key key{note.regarding, note.related, note.type, note.reason, note.action, note.note, note.occasion};
  if (const auto found = series_.find(key); found != series_.end()) return repeat(found->second, now);
  if (Series* full = fold_into(key)) return repeat(*full, now);
  make_room();
  Series series{.event = first_write(note, source_, now), .first = now, .last = now, .written = now};
  const EventWrite write = series.event;
  series_.emplace(key, std::move(series));
  return write;
}

std::optional<EventWrite> EventSeries::repeat(Series& series, Timestamp now) {
  ++series.count;
  series.last = now;
  // The second telling is written at once, so that a reader sees that it goes on; later ones by sweep().
  if (series.count == 2) return update_of(series, now);
  return std::nullopt;
}

EventWrite EventSeries::update_of(Series& series, Timestamp now) const {
  series.written = now;
  series.written_count = series.count;
  EventWrite write = series.event;
  const json repeats = series_json(series.count, series.last);
  write.patch = dump({{"series", repeats}});
  json document = json::parse(write.create, nullptr, false);
  document["series"] = repeats;
  write.create = dump(document);
  return write;
}

// Ten different notes of one kind about one object are enough: the next ones count for the last of them.
EventSeries::Series* EventSeries::fold_into(const Key& key) {
  Key first = key;
  first.note.clear();
  first.occasion.clear();
  std::size_t notes = 0;
  Series* latest = nullptr;
  for (auto at = series_.lower_bound(first); at != series_.end(); ++at) {
    Key kind = at->first;
    kind.note.clear();
    kind.occasion.clear();
    if (kind != first) break;
    ++notes;
    if (!latest || at->second.last >= latest->last) latest = &at->second;
  }
  return notes >= kNotesOfAKind ? latest : nullptr;
}

// The quarter that was told longest ago goes at once, so that a flood does not search for one victim each time.
void EventSeries::make_room() {
  if (series_.size() < kMaxSeries) return;
  std::vector<Timestamp> told;
  for (const auto& [key, series] : series_) told.push_back(series.last);
  const auto cut = told.begin() + static_cast<std::ptrdiff_t>(told.size() / 4);
  std::nth_element(told.begin(), cut, told.end());
  std::erase_if(series_, [&](const auto& entry) { return entry.second.last <= *cut; });
}

std::vector<EventWrite> EventSeries::sweep(Timestamp now) {
  std::vector<EventWrite> writes;
  for (auto at = series_.begin(); at != series_.end();) {
    Series& series = at->second;
    const bool over = now - series.last >= kFinishAfter;
    const bool unwritten = series.count > series.written_count;
    if (unwritten && (over || now - series.written >= kRefreshEvery)) writes.push_back(update_of(series, now));
    at = over ? series_.erase(at) : std::next(at);
  }
  return writes;
}

}  // namespace verl::kube
