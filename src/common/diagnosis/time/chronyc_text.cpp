// chronyc tracking, sources (-v or not) and sourcestats as people see them, one or several in one text.
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
using chrony::SourceMode;
using chrony::SourceState;
using chrony::Tracking;

constexpr std::array<std::string_view, 7> kRefusals{"506 Cannot talk to daemon", "501 Not authorised", "Could not open connection to daemon",
                                                    "Request refused", "500 Failure", "503 No such source", "Fatal error"};

// "0.000187340 seconds fast of NTP time": the word is the sign.
std::optional<double> correction(std::string_view value) {
  const std::vector<std::string_view> words = split_whitespace(value);
  if (words.size() < 3 || !words[1].starts_with("second")) return std::nullopt;
  const auto number = parse_real(words[0]);
  if (!number || (words[2] != "fast" && words[2] != "slow")) return std::nullopt;
  return words[2] == "slow" ? *number : -*number;
}

struct RealField {
  std::string_view key{};
  double Tracking::*field{nullptr};
  std::string_view name{};
  std::string_view unit{};
};

constexpr std::array kReals{
    RealField{"Last offset", &Tracking::last_offset, "tracking.last_offset", "s"},
    RealField{"RMS offset", &Tracking::rms_offset, "tracking.rms_offset", "s"},
    RealField{"Residual freq", &Tracking::residual_ppm, "tracking.residual_frequency", "ppm"},
    RealField{"Skew", &Tracking::skew_ppm, "tracking.skew", "ppm"},
    RealField{"Root delay", &Tracking::root_delay, "tracking.root_delay", "s"},
    RealField{"Root dispersion", &Tracking::root_dispersion, "tracking.root_dispersion", "s"},
    RealField{"Update interval", &Tracking::update_interval, "tracking.update_interval", "s"},
};

struct LeapWord {
  std::string_view word{};
  chrony::Leap leap{};
};
constexpr std::array kLeapWords{LeapWord{"Normal", chrony::Leap::Normal}, LeapWord{"Insert second", chrony::Leap::InsertSecond},
                                LeapWord{"Delete second", chrony::Leap::DeleteSecond}, LeapWord{"Not synchronised", chrony::Leap::Unsynchronised}};

// "C000020A (ntp-a.example.net)", before chrony 3 "192.0.2.10 (192.0.2.10)", "()" when there is none.
bool take_reference(std::string_view value, ChronycText& text, std::string& name) {
  const size_t open = value.find('(');
  const std::string_view id = trim(value.substr(0, open));
  if (open != std::string_view::npos) {
    std::string_view inside = value.substr(open + 1);
    if (inside.ends_with(')')) inside.remove_suffix(1);
    name = std::string(trim(inside));
  }
  if (id.find('.') != std::string_view::npos) {
    std::uint32_t whole = 0;
    const std::vector<std::string_view> parts = split(id, '.');
    if (parts.size() != 4) return false;
    for (const std::string_view part : parts) {
      const auto octet = parse_int<std::uint8_t>(part);
      if (!octet) return false;
      whole = whole << 8 | *octet;
    }
    text.tracking->reference_id = whole;
    return true;
  }
  std::uint32_t whole = 0;
  const auto [end, error] = std::from_chars(id.data(), id.data() + id.size(), whole, 16);
  if (id.empty() || error != std::errc{} || end != id.data() + id.size()) return false;
  text.tracking->reference_id = whole;
  return true;
}

class TextReader final {
 public:
  explicit TextReader(const ReadOptions& options) : options_(options) {}

  void line(const Line& one) {
    if (take_refusal(one) || take_heading(one) || take_tracking(one) || take_source(one) || take_statistics(one)) return;
    if (!is_scenery(one.text)) unread(reading_, one, "neither a field of tracking nor a row of sources");
  }

  Result<Reading> finish() {
    if (text_.tracking) {
      text_.tracking->reference = reference_of(text_.tracking->reference_id, name_, text_.tracking->stratum);
      put(reading_, "tracking.reference_address", text_.tracking->reference);
      put(reading_, "tracking.reference_name", name_);
      text_.distance_read = delay_read_ && dispersion_read_;
    } else if (!text_.sources_shown && text_.refusal.empty()) {
      return failure(ErrorCode::Invalid, "neither \"Reference ID\" of chronyc tracking nor the table of chronyc sources is in it");
    }
    if (reading_.unread.empty() && text_.sources_shown && announced_ >= 0 && static_cast<size_t>(announced_) > text_.sources.size()) {
      incomplete(reading_, "sources", fmt::format("{} sources are announced, {} are listed", announced_, text_.sources.size()));
    }
    conclude(reading_, text_);
    return std::move(reading_);
  }

 private:
  bool take_refusal(const Line& one) {
    const std::string_view line = trim(one.text);
    for (const std::string_view refusal : kRefusals) {
      if (!line.starts_with(refusal)) continue;
      text_.refusal = shorten(line, 120);
      text_.evidence = evidence_of(one, options_);
      return true;
    }
    return false;
  }

  bool take_heading(const Line& one) {
    const std::string_view line = trim(one.text);
    if (line.starts_with("MS Name")) {
      table_ = Table::Sources;
      text_.sources_shown = true;
      if (!text_.tracking) text_.evidence = evidence_of(one, options_);
      return true;
    }
    if (line.starts_with("Name/IP Address") && line.find("NP") != std::string_view::npos) {
      table_ = Table::Statistics;
      return true;
    }
    if (line.starts_with("210 Number of sources")) {
      const auto pair = key_value(line, '=');
      announced_ = pair ? parse_int<std::int64_t>(pair->second).value_or(-1) : -1;
      return true;
    }
    // The legend of -v.
    return line.starts_with(".-") || line.starts_with("/ .-") || line.starts_with("|") || line.starts_with("/    .-") ||
           (line.starts_with("/") && line.find(".-") != std::string_view::npos);
  }

  bool take_tracking(const Line& one) {
    const auto pair = key_value(one.text);
    if (!pair) return false;
    const auto& [key, value] = *pair;
    if (key == "Reference ID") {
      if (!text_.tracking) text_.tracking.emplace();
      text_.evidence = evidence_of(one, options_);
      if (!take_reference(value, text_, name_)) unread(reading_, one, "the reference is neither eight hexadecimal digits nor an address");
      put(reading_, "tracking.reference_id", std::string(trim(value.substr(0, value.find('(')))));
      table_ = Table::None;
      return true;
    }
    if (!text_.tracking) return false;
    Tracking& tracking = *text_.tracking;
    if (key == "Stratum") {
      const auto stratum = parse_int<std::uint16_t>(value);
      if (!stratum) return false;
      tracking.stratum = *stratum;
      put(reading_, "tracking.stratum", std::int64_t{*stratum});
      return true;
    }
    if (key == "Ref time (UTC)" || key == "Ref time") {
      put(reading_, "tracking.reference_time", std::string(value));
      return true;
    }
    if (key == "System time") {
      const auto found = correction(value);
      if (!found) return false;
      tracking.current_correction = *found;
      text_.offset_read = true;
      put(reading_, "tracking.offset", -*found, "s");
      return true;
    }
    if (key == "Frequency") {
      const std::vector<std::string_view> words = split_whitespace(value);
      const auto number = words.empty() ? std::nullopt : parse_real(words[0]);
      if (!number || words.size() < 3) return false;
      tracking.frequency_ppm = words[2] == "slow" ? -*number : *number;
      put(reading_, "tracking.frequency", tracking.frequency_ppm, "ppm");
      return true;
    }
    if (key == "Leap status") return take_leap(value);
    return take_real(key, value);
  }

  bool take_leap(std::string_view value) {
    for (const LeapWord& word : kLeapWords) {
      if (value != word.word) continue;
      text_.tracking->leap = word.leap;
      text_.leap_read = true;
      put(reading_, "tracking.leap", std::string(value));
      return true;
    }
    return false;
  }

  bool take_real(std::string_view key, std::string_view value) {
    for (const RealField& field : kReals) {
      if (key != field.key) continue;
      const std::vector<std::string_view> words = split_whitespace(value);
      const auto number = words.empty() ? std::nullopt : parse_real(words[0]);
      if (!number) return false;
      (*text_.tracking).*field.field = *number;
      delay_read_ = delay_read_ || key == "Root delay";
      dispersion_read_ = dispersion_read_ || key == "Root dispersion";
      put(reading_, std::string(field.name), *number, std::string(field.unit));
      return true;
    }
    return false;
  }

  // "^* ntp-a.example.net    2   6   377    23   -923us[ -924us] +/-   43ms", read from the right.
  bool take_source(const Line& one) {
    if (table_ != Table::Sources) return false;
    const std::string_view line = trim(one.text);
    if (line.size() < 4 || line[2] != ' ') return false;
    const size_t mode = std::string_view("^=#").find(line[0]);
    const size_t state = std::string_view("*?x~+-").find(line[1]);
    const size_t plus = line.rfind("+/-");
    const size_t open = line.rfind('[');
    const size_t close = line.rfind(']');
    if (mode == std::string_view::npos || state == std::string_view::npos || plus == std::string_view::npos) return false;
    if (open == std::string_view::npos || close == std::string_view::npos || open > close || close > plus) return false;
    const std::vector<std::string_view> cells = split_whitespace(line.substr(3, open - 3));
    const auto measured = parse_span(trim(line.substr(open + 1, close - open - 1)));
    const auto error = parse_span(trim(line.substr(plus + 3)));
    if (cells.size() < 6 || !measured || !error) return false;
    const size_t last = cells.size() - 1;
    const auto adjusted = parse_span(cells[last]);
    const auto since = cells[last - 1] == "-" ? std::optional<double>(0) : parse_span(cells[last - 1]);
    const auto poll = parse_int<std::int16_t>(cells[last - 3]);
    const auto stratum = parse_int<std::uint16_t>(cells[last - 4]);
    std::uint16_t reach = 0;
    const std::string_view octal = cells[last - 2];
    const auto [end, fault] = std::from_chars(octal.data(), octal.data() + octal.size(), reach, 8);
    if (!adjusted || !since || !poll || !stratum || fault != std::errc{} || end != octal.data() + octal.size()) return false;

    constexpr std::array kStates{SourceState::Selected, SourceState::NonSelectable, SourceState::FalseTicker,
                                 SourceState::Jittery,  SourceState::Unselected,    SourceState::Selectable};
    constexpr std::array kModes{SourceMode::Client, SourceMode::Peer, SourceMode::ReferenceClock};
    chrony::Source source;
    source.state = kStates[state];
    source.mode = kModes[mode];
    source.poll = *poll;
    source.stratum = *stratum;
    source.reach = reach;
    source.since_sample = static_cast<std::uint32_t>(std::clamp(*since, 0.0, 4e9));
    std::string name;
    for (size_t i = 0; i + 5 <= last; ++i) name += (i > 0 ? " " : "") + std::string(cells[i]);
    source.address = name;

    const std::string path = fmt::format("sources[{}].", text_.sources.size());
    put(reading_, path + "name", name);
    put(reading_, path + "mode", std::string(1, line[0]));
    put(reading_, path + "state", std::string(1, line[1]));
    put(reading_, path + "stratum", std::int64_t{*stratum});
    put(reading_, path + "poll", std::int64_t{*poll}, "log2 s");
    put(reading_, path + "reach", std::string(octal));
    if (cells[last - 1] != "-") put(reading_, path + "last_received", *since, "s");
    put(reading_, path + "adjusted_offset", *adjusted, "s");
    put(reading_, path + "measured_offset", *measured, "s");
    put(reading_, path + "error", *error, "s");
    text_.sources.push_back(std::move(source));
    text_.source_names.push_back(std::move(name));
    text_.source_offsets.push_back(*adjusted);
    return true;
  }

  bool take_statistics(const Line& one) {
    if (table_ != Table::Statistics) return false;
    const std::vector<std::string_view> cells = split_whitespace(one.text);
    if (cells.size() < 8) return false;
    const size_t last = cells.size() - 1;
    const auto deviation = parse_span(cells[last]);
    const auto offset = parse_span(cells[last - 1]);
    if (!deviation || !offset) return false;
    const std::string path = fmt::format("sourcestats[{}].", statistics_++);
    put(reading_, path + "name", std::string(cells[0]));
    put(reading_, path + "offset", *offset, "s");
    put(reading_, path + "standard_deviation", *deviation, "s");
    return true;
  }

  enum class Table { None, Sources, Statistics };
  const ReadOptions& options_;
  Reading reading_{};
  ChronycText text_{};
  std::string name_{};
  Table table_{Table::None};
  std::int64_t announced_{-1};
  int statistics_{0};
  bool delay_read_{false};
  bool dispersion_read_{false};
};

}  // namespace

int like_chronyc_tracking(std::string_view head) {
  if (has_line(head, "Reference ID") && (has_line(head, "System time") || has_line(head, "Leap status") || has_line(head, "Stratum"))) return 95;
  return has_line(head, "506 Cannot talk to daemon") ? 90 : 0;
}

int like_chronyc_sources(std::string_view head) { return has_line(head, "MS Name/IP") ? 94 : 0; }

Result<Reading> read_chronyc(std::string_view text, const ReadOptions& options) {
  TextReader reader(options);
  for (const Line& one : lines_of(text, options)) reader.line(one);
  return reader.finish();
}

}  // namespace verl::diagnosis
