// chronyc -c: no headings and no units. tracking has 14 fields, sources 10; their count and kinds tell them apart.
#include <fmt/format.h>

#include <array>
#include <charconv>

#include "base/text.h"
#include "diagnosis/time/chronyc_statement.h"
#include "diagnosis/time/readers.h"
#include "diagnosis/time/text_lines.h"

namespace verl::diagnosis {
namespace {

using namespace time_text;
using chrony::SourceState;
using chrony::Tracking;

constexpr size_t kTrackingFields = 14;
constexpr size_t kSourceFields = 10;

std::optional<std::uint32_t> hexadecimal(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

struct RealField {
  size_t index{0};
  double Tracking::*field{nullptr};
  std::string_view name{};
  std::string_view unit{};
};

// The sign of "System time" is chronyd's own: positive means slow (client.c prints the correction).
constexpr std::array kReals{
    RealField{4, &Tracking::current_correction, "", ""},
    RealField{5, &Tracking::last_offset, "tracking.last_offset", "s"},
    RealField{6, &Tracking::rms_offset, "tracking.rms_offset", "s"},
    RealField{7, &Tracking::frequency_ppm, "tracking.frequency", "ppm"},
    RealField{8, &Tracking::residual_ppm, "tracking.residual_frequency", "ppm"},
    RealField{9, &Tracking::skew_ppm, "tracking.skew", "ppm"},
    RealField{10, &Tracking::root_delay, "tracking.root_delay", "s"},
    RealField{11, &Tracking::root_dispersion, "tracking.root_dispersion", "s"},
    RealField{12, &Tracking::update_interval, "tracking.update_interval", "s"},
};

struct LeapWord {
  std::string_view word{};
  chrony::Leap leap{};
};
constexpr std::array kLeapWords{LeapWord{"Normal", chrony::Leap::Normal}, LeapWord{"Insert second", chrony::Leap::InsertSecond},
                                LeapWord{"Delete second", chrony::Leap::DeleteSecond}, LeapWord{"Not synchronised", chrony::Leap::Unsynchronised}};

bool is_tracking(const std::vector<std::string_view>& fields) {
  return fields.size() == kTrackingFields && hexadecimal(fields[0]) && parse_int<std::uint16_t>(fields[2]) && parse_real(fields[4]);
}

bool is_source(const std::vector<std::string_view>& fields) {
  return fields.size() == kSourceFields && fields[0].size() == 1 && std::string_view("^=#").find(fields[0][0]) != std::string_view::npos &&
         fields[1].size() == 1;
}

bool take_tracking(const std::vector<std::string_view>& fields, Reading& reading, ChronycText& text) {
  Tracking tracking;
  tracking.reference_id = *hexadecimal(fields[0]);
  tracking.stratum = *parse_int<std::uint16_t>(fields[2]);
  for (const RealField& field : kReals) {
    const auto number = parse_real(fields[field.index]);
    if (!number) return false;
    tracking.*field.field = *number;
  }
  const auto seconds = parse_real(fields[3]);
  if (!seconds || *seconds < 0 || *seconds > 2.5e11) return false;
  tracking.reference_time = Timestamp(Microseconds(static_cast<std::int64_t>(*seconds * 1e6)));
  for (const LeapWord& word : kLeapWords) {
    if (fields[13] != word.word) continue;
    tracking.leap = word.leap;
    text.leap_read = true;
  }
  tracking.reference = reference_of(tracking.reference_id, fields[1], tracking.stratum);
  put(reading, "tracking.reference_id", std::string(fields[0]));
  put(reading, "tracking.reference_name", std::string(fields[1]));
  put(reading, "tracking.reference_address", tracking.reference);
  put(reading, "tracking.stratum", std::int64_t{tracking.stratum});
  put(reading, "tracking.reference_time", *seconds, "s");
  put(reading, "tracking.offset", -tracking.current_correction, "s");
  for (const RealField& field : kReals) {
    if (!field.name.empty()) put(reading, std::string(field.name), tracking.*field.field, std::string(field.unit));
  }
  put(reading, "tracking.leap", std::string(fields[13]));
  text.offset_read = true;
  text.distance_read = true;
  text.tracking = tracking;
  return text.leap_read;
}

bool take_source(const std::vector<std::string_view>& fields, Reading& reading, ChronycText& text) {
  constexpr std::string_view kStates = "*?x~+-";
  const size_t state = kStates.find(fields[1][0]);
  const auto stratum = parse_int<std::uint16_t>(fields[3]);
  const auto poll = parse_int<std::int16_t>(fields[4]);
  std::uint16_t reach = 0;
  const auto [end, fault] = std::from_chars(fields[5].data(), fields[5].data() + fields[5].size(), reach, 8);
  const auto since = parse_int<std::uint32_t>(fields[6]);
  const auto adjusted = parse_real(fields[7]);
  const auto measured = parse_real(fields[8]);
  const auto error = parse_real(fields[9]);
  if (state == std::string_view::npos || !stratum || !poll || fault != std::errc{} || end != fields[5].data() + fields[5].size()) return false;
  if (!since || !adjusted || !measured || !error) return false;
  constexpr std::array kMeaning{SourceState::Selected, SourceState::NonSelectable, SourceState::FalseTicker,
                                SourceState::Jittery,  SourceState::Unselected,    SourceState::Selectable};
  chrony::Source source;
  source.address = std::string(fields[2]);
  source.poll = *poll;
  source.stratum = *stratum;
  source.state = kMeaning[state];
  source.mode = fields[0] == "#" ? chrony::SourceMode::ReferenceClock : fields[0] == "=" ? chrony::SourceMode::Peer : chrony::SourceMode::Client;
  source.reach = reach;
  source.since_sample = *since == 4294967295U ? 0 : *since;  // never
  const std::string path = fmt::format("sources[{}].", text.sources.size());
  put(reading, path + "name", source.address);
  put(reading, path + "mode", std::string(fields[0]));
  put(reading, path + "state", std::string(fields[1]));
  put(reading, path + "stratum", std::int64_t{*stratum});
  put(reading, path + "poll", std::int64_t{*poll}, "log2 s");
  put(reading, path + "reach", std::string(fields[5]));
  put(reading, path + "last_received", std::int64_t{*since}, "s");
  put(reading, path + "adjusted_offset", *adjusted, "s");
  put(reading, path + "measured_offset", *measured, "s");
  put(reading, path + "error", *error, "s");
  text.source_names.push_back(source.address);
  text.source_offsets.push_back(*adjusted);
  text.sources.push_back(std::move(source));
  text.sources_shown = true;
  return true;
}

}  // namespace

int like_chronyc_csv(std::string_view head) {
  int rows = 0;
  int other = 0;
  for (const std::string_view line : split(head.substr(0, 8192), '\n')) {
    const std::vector<std::string_view> fields = split(trim(line), ',');
    if (is_tracking(fields) || is_source(fields)) {
      ++rows;
    } else if (!is_scenery(line)) {
      ++other;
    }
  }
  return rows > 0 && other <= 1 ? 92 : 0;
}

Result<Reading> read_chronyc_csv(std::string_view text, const ReadOptions& options) {
  Reading reading;
  ChronycText found;
  for (const Line& one : lines_of(text, options)) {
    const std::vector<std::string_view> fields = split(trim(one.text), ',');
    bool taken = false;
    if (is_tracking(fields) && !found.tracking) {
      found.evidence = evidence_of(one, options);
      taken = take_tracking(fields, reading, found);
    } else if (is_source(fields)) {
      if (!found.tracking && found.sources.empty()) found.evidence = evidence_of(one, options);
      taken = take_source(fields, reading, found);
    }
    if (!taken && !is_scenery(one.text)) unread(reading, one, fmt::format("{} fields; tracking has {}, sources {}", fields.size(), kTrackingFields, kSourceFields));
  }
  if (!found.tracking && !found.sources_shown) return failure(ErrorCode::Invalid, "no row of chronyc -c tracking or chronyc -c sources is in it");
  conclude(reading, found);
  return reading;
}

}  // namespace verl::diagnosis
