#include "diagnosis/time/chronyc_statement.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "base/text.h"
#include "diagnosis/rule.h"
#include "diagnosis/time/text_lines.h"

namespace verl::diagnosis {
namespace {

constexpr std::uint16_t kStratumOfLocalServers = 10;  // chronyd's default for `local`; real servers have a handful
constexpr int kYoungPolls = 3;                        // fewer answers than that: the daemon has just started

bool young(std::uint16_t reach) { return reach != 0 && reach < 0xFF && std::popcount(reach) <= kYoungPolls && (reach & (reach + 1)) == 0; }

clock::State state_of_sources(const ChronycText& text, clock::Statement& statement) {
  using chrony::SourceState;
  const auto count = [&](auto wanted) { return std::count_if(text.sources.begin(), text.sources.end(), wanted); };
  const auto selected = std::find_if(text.sources.begin(), text.sources.end(), [](const chrony::Source& one) { return one.state == SourceState::Selected; });
  const auto total = text.sources.size();
  if (selected != text.sources.end()) {
    statement.reference = text.source_names[static_cast<size_t>(selected - text.sources.begin())];
    statement.server_is_local = selected->mode != chrony::SourceMode::ReferenceClock && selected->stratum >= kStratumOfLocalServers;
    if (selected->reach != 0) {
      statement.why = fmt::format("chronyd: follows {}", statement.reference);
      return clock::State::Synchronised;
    }
    statement.why = fmt::format("chronyd: no answer from {} in the last 8 polls, though it is still selected", statement.reference);
    return clock::State::Lost;
  }
  if (total == 0) {
    statement.why = "chronyd: no source is configured";
    return clock::State::Unsynchronised;
  }
  const auto answering = count([](const chrony::Source& one) { return one.reach != 0; });
  const auto false_tickers = count([](const chrony::Source& one) { return one.state == SourceState::FalseTicker; });
  statement.starting = false_tickers == 0 && answering > 0 &&
                       std::all_of(text.sources.begin(), text.sources.end(), [](const chrony::Source& one) { return one.reach == 0 || young(one.reach); });
  if (answering == 0) {
    statement.why = fmt::format("chronyd: none of {} sources answers", total);
  } else if (false_tickers > 0) {
    statement.why = fmt::format("chronyd: no source is selected, {} of {} are called falsetickers: no majority", false_tickers, total);
  } else {
    statement.why = fmt::format("chronyd: none of {} sources is selected", total);
  }
  return clock::State::Unsynchronised;
}

std::optional<double> median(std::vector<double> numbers) {
  if (numbers.empty()) return std::nullopt;
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle;
}

// What the sources that answer say of this clock, where chronyd itself says nothing.
std::optional<double> offset_by_sources(const ChronycText& text) {
  std::vector<double> offsets;
  for (size_t i = 0; i < text.sources.size() && i < text.source_offsets.size(); ++i) {
    if (text.sources[i].reach != 0) offsets.push_back(text.source_offsets[i]);
  }
  return median(std::move(offsets));
}

void judge_tracking(const ChronycText& text, clock::Statement& statement) {
  clock::Daemon daemon{.tracking = *text.tracking, .sources = text.sources};
  // Text does not say when it was printed. The selected source does, in a way: so long ago its last sample came.
  Timestamp now = text.tracking->reference_time;
  for (const chrony::Source& one : text.sources) {
    if (one.state == chrony::SourceState::Selected) now += Seconds(one.since_sample);
  }
  // Tracking alone shows no source; that they answer is then neither known nor denied, and leap and reference decide.
  if (!text.sources_shown) daemon.sources.push_back({.address = "", .poll = 0, .stratum = 0, .state = chrony::SourceState::Selected, .mode = {}, .reach = 1, .since_sample = 0});
  const clock::Judgement judged = clock::judge_daemon(daemon, now);
  statement.state = judged.state;
  statement.why = judged.evidence;
  statement.reference = text.tracking->reference;
  statement.stratum = text.tracking->stratum;
  statement.leap_second = text.tracking->leap == chrony::Leap::InsertSecond || text.tracking->leap == chrony::Leap::DeleteSecond;
  statement.server_is_local = judged.state == clock::State::Synchronised && text.tracking->stratum > kStratumOfLocalServers;
  if (!text.leap_read) {
    statement.state = clock::State::Unknown;
    statement.why = "chronyd: the line of the leap status is missing";
  }
  if (statement.state == clock::State::Synchronised || statement.state == clock::State::Lost) {
    if (text.offset_read) statement.offset_s = -text.tracking->current_correction;
    if (text.offset_read && text.distance_read) {
      statement.bound_s = std::abs(text.tracking->current_correction) + text.tracking->root_dispersion + text.tracking->root_delay / 2;
    }
  }
}

}  // namespace

std::string reference_of(std::uint32_t id, std::string_view name, std::uint16_t stratum) {
  if (id == 0) return {};
  if (name.find(':') != std::string_view::npos) return std::string(name);
  std::string letters;
  bool is_text = true;
  for (int shift = 24; shift >= 0; shift -= 8) {
    const char c = static_cast<char>((id >> shift) & 0xFF);
    if (c == '\0' && !letters.empty()) continue;
    is_text = is_text && c >= 0x21 && c <= 0x7E;
    letters.push_back(c);
  }
  // "PPS0" could be the address 80.80.83.48; a reference clock gives stratum 1 and is called by its id.
  if (is_text && (stratum == 1 || name == letters)) return letters;
  return fmt::format("{}.{}.{}.{}", id >> 24, (id >> 16) & 0xFF, (id >> 8) & 0xFF, id & 0xFF);
}

void conclude(Reading& reading, const ChronycText& text) {
  clock::Statement statement;
  statement.witness = clock::Witness::Chronyd;
  statement.tool = text.tracking ? "chronyc tracking" : "chronyc sources";
  statement.evidence = text.evidence;
  if (text.tracking) {
    judge_tracking(text, statement);
    if (!text.leap_read) time_text::incomplete(reading, "Leap status", "the line \"Leap status\" is missing: whether chronyd is synchronised is not known");
    if (text.leap_read && !text.offset_read) time_text::incomplete(reading, "System time", "the line \"System time\" is missing or unreadable: how far the clock is off is not known");
    if (text.sources_shown && statement.state == clock::State::Unsynchronised && !text.sources.empty()) {
      clock::Statement more;
      if (state_of_sources(text, more) == clock::State::Unsynchronised) statement.why = more.why;
      statement.starting = more.starting;
    }
  } else if (text.sources_shown) {
    statement.state = state_of_sources(text, statement);
  } else if (!text.refusal.empty()) {
    statement.why = fmt::format("chronyc got no answer: {}", text.refusal);
  }
  if (!statement.offset_s && text.sources_shown && statement.state != clock::State::LocalOnly) statement.offset_s = offset_by_sources(text);
  for (size_t i = 0; i < text.sources.size(); ++i) {
    if (text.sources[i].state != chrony::SourceState::FalseTicker) continue;
    Finding finding = finding_of("clock-falseticker", text.source_names[i]);
    finding.seen = i < text.source_offsets.size() ? time_text::span_text(text.source_offsets[i]) : "";
    finding.message = fmt::format("chronyd takes {} for a falseticker: its time contradicts the other sources", text.source_names[i]);
    finding.evidence.push_back(text.evidence);
    reading.findings.push_back(std::move(finding));
  }
  clock::add(own_node(reading).clock, std::move(statement));
}

}  // namespace verl::diagnosis
