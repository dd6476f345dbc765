// timedatectl in all its generations (status and show), and timedatectl timesync-status.
// "NTP service: active" says that a daemon runs, not that the clock is right.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "diagnosis/rule.h"
#include "diagnosis/time/readers.h"
#include "diagnosis/time/text_lines.h"

namespace verl::diagnosis {
namespace {

using namespace time_text;

enum class Meaning { Plain, Synchronised, Service, RtcLocal };

struct StatusKey {
  std::string_view key{};
  std::string_view name{};
  Meaning meaning{Meaning::Plain};
};

// systemd 208 to 257: the names changed twice, the meaning did not.
constexpr std::array kStatusKeys{
    StatusKey{"Local time", "local_time"},
    StatusKey{"Universal time", "universal_time"},
    StatusKey{"RTC time", "rtc_time"},
    StatusKey{"Time zone", "time_zone"},
    StatusKey{"Timezone", "time_zone"},
    StatusKey{"NTP enabled", "service", Meaning::Service},
    StatusKey{"Network time on", "service", Meaning::Service},
    StatusKey{"NTP service", "service", Meaning::Service},
    StatusKey{"systemd-timesyncd.service active", "service", Meaning::Service},
    StatusKey{"NTP", "service", Meaning::Service},
    StatusKey{"CanNTP", "can_ntp"},
    StatusKey{"NTP synchronized", "synchronised", Meaning::Synchronised},
    StatusKey{"System clock synchronized", "synchronised", Meaning::Synchronised},
    StatusKey{"NTPSynchronized", "synchronised", Meaning::Synchronised},
    StatusKey{"RTC in local TZ", "rtc_in_local_zone", Meaning::RtcLocal},
    StatusKey{"LocalRTC", "rtc_in_local_zone", Meaning::RtcLocal},
    StatusKey{"DST active", "dst_active"},
    StatusKey{"Last DST change", "last_dst_change"},
    StatusKey{"Next DST change", "next_dst_change"},
    StatusKey{"TimeUSec", "local_time"},
    StatusKey{"RTCTimeUSec", "rtc_time"},
    StatusKey{"Timezone", "time_zone"},
};

std::optional<bool> yes_or_no(std::string_view value) {
  if (value == "yes" || value == "active" || value == "true") return true;
  if (value == "no" || value == "inactive" || value == "false" || value == "n/a") return false;
  return std::nullopt;
}

const StatusKey* status_key(std::string_view key) {
  const auto found = std::find_if(kStatusKeys.begin(), kStatusKeys.end(), [&](const StatusKey& one) { return one.key == key; });
  return found == kStatusKeys.end() ? nullptr : &*found;
}

// "NTP synchronized: yes" or, of `show`, "NTPSynchronized=yes".
std::optional<std::pair<std::string_view, std::string_view>> field(std::string_view line) {
  const size_t equals = line.find('=');
  const size_t colon = line.find(':');
  return equals < colon ? key_value(line, '=') : key_value(line, ':');
}

struct StatusText {
  std::optional<bool> synchronised{};
  std::optional<bool> service{};
  std::optional<bool> rtc_local{};
  Evidence evidence{};
};

// A value that is neither yes nor no must not pass for either.
bool take(const StatusKey& key, std::string_view value, const Line& line, const ReadOptions& options, Reading& reading, StatusText& text) {
  if (key.meaning == Meaning::Plain) {
    put(reading, std::string(key.name), std::string(value));
    return true;
  }
  const auto answer = yes_or_no(value);
  if (!answer) return false;
  put(reading, std::string(key.name), *answer);
  if (key.meaning == Meaning::Synchronised) {
    text.synchronised = answer;
    text.evidence = evidence_of(line, options);
  } else if (key.meaning == Meaning::Service) {
    text.service = answer;
  } else {
    text.rtc_local = answer;
  }
  return true;
}

}  // namespace

int like_timedatectl(std::string_view head) {
  int keys = 0;
  for (const std::string_view line : split(head.substr(0, 8192), '\n')) {
    const auto pair = field(line);
    if (!pair) continue;
    const StatusKey* key = status_key(pair->first);
    if (!key) continue;
    if (key->meaning == Meaning::Synchronised || key->meaning == Meaning::RtcLocal) keys += 2;
    if (key->name == "universal_time" || key->name == "rtc_time" || key->name == "can_ntp") ++keys;
  }
  return keys >= 2 ? 93 : 0;
}

Result<Reading> read_timedatectl(std::string_view text, const ReadOptions& options) {
  Reading reading;
  StatusText found;
  bool dst = false;      // the lines below "Last DST change"
  bool warning = false;  // the paragraph about the hardware clock
  for (const Line& one : lines_of(text, options)) {
    const auto pair = field(one.text);
    const StatusKey* key = pair ? status_key(pair->first) : nullptr;
    if (key) {
      dst = key->name == "last_dst_change" || key->name == "next_dst_change";
      warning = false;
      if (!take(*key, pair->second, one, options, reading, found)) unread(reading, one, "neither yes nor no");
      continue;
    }
    if (trim(one.text).starts_with("Warning:")) warning = true;
    if (trim(one.text).empty()) dst = false;
    if (dst || warning || is_scenery(one.text)) continue;
    unread(reading, one, "not a field of timedatectl");
  }
  if (!found.synchronised && !found.rtc_local && reading.values.empty()) return failure(ErrorCode::Invalid, "no field of timedatectl is in it");
  clock::Statement statement;
  statement.witness = clock::Witness::SystemFlag;
  statement.tool = "timedatectl";
  statement.flag = found.synchronised;
  statement.rtc_local = found.rtc_local;
  statement.evidence = found.evidence;
  if (!found.synchronised) {
    incomplete(reading, "synchronised", "timedatectl's line about synchronisation is missing; that a time service is active proves nothing");
  } else if (*found.synchronised) {
    statement.state = clock::State::Synchronised;
    statement.why = "timedatectl: the system clock is synchronised";
  } else {
    statement.state = clock::State::Unsynchronised;
    statement.why = found.service && *found.service ? "timedatectl: the system clock is not synchronised, though a time service is active"
                                                    : "timedatectl: the system clock is not synchronised, and no time service is active";
  }
  clock::add(own_node(reading).clock, std::move(statement));
  return reading;
}

int like_timesync_status(std::string_view head) {
  const int keys = int{has_line(head, "Server:")} + int{has_line(head, "Poll interval:")} + int{has_line(head, "Root distance:")} + int{has_line(head, "Packet count:")};
  return keys >= 2 ? 93 : 0;
}

Result<Reading> read_timesync_status(std::string_view text, const ReadOptions& options) {
  Reading reading;
  clock::Statement statement;
  statement.witness = clock::Witness::Timesyncd;
  statement.tool = "timedatectl timesync-status";
  std::optional<double> offset;
  std::optional<double> distance;
  std::optional<std::int64_t> packets;
  std::string leap;
  bool any = false;
  for (const Line& one : lines_of(text, options)) {
    const auto pair = key_value(one.text);
    if (!pair) {
      if (!is_scenery(one.text)) unread(reading, one, "not a field of timesync-status");
      continue;
    }
    const auto& [key, value] = *pair;
    const std::string_view plain = trim(value.substr(0, value.find('(')));
    any = true;
    if (key == "Server") {
      // "192.0.2.100 (ntp1.example)" or, when it was never resolved, "n/a (ntp1.example)".
      if (plain != "n/a") statement.reference = std::string(plain);
      put(reading, "server", std::string(value));
      statement.evidence = evidence_of(one, options);
    } else if (key == "Root distance" || key == "Offset" || key == "Delay" || key == "Jitter" || key == "Poll interval") {
      const auto seconds = parse_span(plain);
      if (!seconds) {
        unread(reading, one, "not a span of time");
        continue;
      }
      if (key == "Offset") offset = seconds;
      if (key == "Root distance") distance = seconds;
      put(reading, key == "Root distance" ? "root_distance" : key == "Poll interval" ? "poll_interval" : key == "Offset" ? "offset" : key == "Delay" ? "delay" : "jitter", *seconds, "s");
      if (key == "Offset") statement.evidence = evidence_of(one, options);
    } else if (key == "Stratum" || key == "Version" || key == "Packet count") {
      const auto number = parse_int(plain);
      if (!number) {
        unread(reading, one, "not a number");
        continue;
      }
      if (key == "Stratum") statement.stratum = static_cast<std::int32_t>(std::clamp<std::int64_t>(*number, 0, 16));
      if (key == "Packet count") packets = number;
      put(reading, key == "Stratum" ? "stratum" : key == "Version" ? "version" : "packet_count", *number);
    } else if (key == "Leap" || key == "Reference" || key == "Precision" || key == "Frequency" || key == "Polling interval" || key == "Ignored") {
      if (key == "Leap") leap = std::string(plain);
      put(reading, key == "Leap" ? "leap" : key == "Reference" ? "reference" : key == "Precision" ? "precision" : key == "Frequency" ? "frequency" : key == "Ignored" ? "ignored" : "poll_interval_text", std::string(value));
    } else {
      unread(reading, one, "not a field of timesync-status");
    }
  }
  if (!any) return failure(ErrorCode::Invalid, "no field of timesync-status is in it");
  // timesyncd's offset is server minus this clock; its root distance is root delay / 2 + root dispersion of the server.
  if (offset) {
    statement.offset_s = -*offset;
    if (distance) statement.bound_s = std::abs(*offset) + *distance;
  }
  if (leap.empty() && (!packets || *packets == 0)) {
    statement.state = clock::State::Unsynchronised;
    statement.starting = true;
    statement.why = "systemd-timesyncd: no answer from a server yet";
  } else if (leap == "normal" || leap.find("second") != std::string::npos || leap.find("leap") != std::string::npos) {
    statement.state = offset ? clock::State::Synchronised : clock::State::Unknown;
    statement.leap_second = leap != "normal";
    statement.why = fmt::format("systemd-timesyncd: follows {}", statement.reference.empty() ? "a server" : statement.reference);
    if (!offset) incomplete(reading, "Offset", "the line \"Offset\" is missing: how far the clock is off is not known");
  } else if (leap.empty()) {
    incomplete(reading, "Leap", "the line \"Leap\" is missing: whether the server is synchronised is not known");
  } else {
    statement.state = clock::State::Unsynchronised;
    statement.why = fmt::format("systemd-timesyncd: the server says \"{}\"", shorten(escape_controls(leap), 40));
  }
  if (statement.state == clock::State::Synchronised && statement.stratum && *statement.stratum >= 10) statement.server_is_local = true;
  clock::add(own_node(reading).clock, std::move(statement));
  return reading;
}

}  // namespace verl::diagnosis
