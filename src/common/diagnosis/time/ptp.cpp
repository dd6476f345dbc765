// linuxptp: the log lines of ptp4l (keeps the clock of the network card) and phc2sys (keeps the system clock by it), and pmc.
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <map>

#include "base/text.h"
#include "diagnosis/rule.h"
#include "diagnosis/time/readers.h"
#include "diagnosis/time/syslog_line.h"
#include "diagnosis/time/text_lines.h"

namespace verl::diagnosis {
namespace {

using namespace time_text;

struct Servo {
  std::optional<double> offset_ns{};
  std::optional<int> state{};   // s0 unlocked, s1 the clock is being set, s2 and s3 locked
  std::string port_state{};     // "SLAVE", "FAULTY"
  std::string master{};
  bool waiting{false};
  Evidence evidence{};
};

// "[352.361] text": the monotonic stamp that is printed behind "ptp4l:" under systemd.
std::string_view without_stamp(std::string_view text) {
  if (!text.starts_with('[')) return text;
  const size_t close = text.find(']');
  if (close == std::string_view::npos || close > 24) return text;
  std::string_view rest = text.substr(close + 1);
  if (rest.starts_with(':')) rest.remove_prefix(1);
  rest = trim(rest);
  // "[ptp4l.0.config] text" and "(ptp4l.0.config): text" of OpenShift.
  return rest.starts_with('[') ? without_stamp(rest) : rest;
}

bool is_ptp(std::string_view program) { return program == "ptp4l" || program == "phc2sys" || program == "timemaster"; }

std::optional<std::string_view> word_after(const std::vector<std::string_view>& words, std::string_view name) {
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == name) return words[i + 1];
  }
  return std::nullopt;
}

// "master offset -12 s2 freq -5000 path delay 531", "CLOCK_REALTIME phc offset -32 s2 freq ...", "rms 787 max 1208 freq ..."
bool take_servo(const std::vector<std::string_view>& words, Servo& servo) {
  if (const auto offset = word_after(words, "offset")) {
    const auto number = parse_real(*offset);
    if (!number) return false;
    servo.offset_ns = number;
    for (const std::string_view word : words) {
      if (word.size() == 2 && word[0] == 's' && word[1] >= '0' && word[1] <= '3') servo.state = word[1] - '0';
    }
    return true;
  }
  if (const auto maximum = word_after(words, "max"); maximum && word_after(words, "rms")) {
    const auto number = parse_real(*maximum);
    if (!number) return false;
    servo.offset_ns = number;
    if (!servo.state) servo.state = 2;  // summaries are printed of a locked servo only
    return true;
  }
  return false;
}

// "port 1: UNCALIBRATED to SLAVE on MASTER_CLOCK_SELECTED", "port 1 (eno1): ..."
bool take_port(std::string_view text, const std::vector<std::string_view>& words, Servo& servo) {
  if (!text.starts_with("port ")) return false;
  const auto to = word_after(words, "to");
  if (!to || !word_after(words, "on")) return true;  // other news of a port
  servo.port_state = std::string(*to);
  return true;
}

void conclude(Reading& reading, const std::string& host, std::string_view program, const Servo& servo) {
  clock::Statement statement;
  const bool system = program == "phc2sys";
  statement.witness = system ? clock::Witness::PtpSystem : clock::Witness::PtpClock;
  statement.tool = std::string(program);
  statement.reference = servo.master.empty() ? (system ? "PTP" : "") : servo.master;
  statement.evidence = servo.evidence;
  if (servo.offset_ns) statement.offset_s = *servo.offset_ns / 1e9;
  const bool port_bad = servo.port_state == "FAULTY" || servo.port_state == "LISTENING" || servo.port_state == "DISABLED" || servo.port_state == "UNCALIBRATED" || servo.port_state == "INITIALIZING";
  if (port_bad) {
    statement.state = clock::State::Lost;
    statement.why = fmt::format("{}: the port is {}", program, servo.port_state);
  } else if (!system && (servo.port_state == "MASTER" || servo.port_state == "GRAND_MASTER")) {
    statement.state = clock::State::LocalOnly;
    statement.why = fmt::format("{}: the port is {}: this clock follows nobody", program, servo.port_state);
  } else if (servo.state && *servo.state >= 2) {
    statement.state = clock::State::Synchronised;
    statement.why = fmt::format("{}: the servo is locked (s{})", program, *servo.state);
  } else if (servo.state) {
    statement.state = clock::State::Unsynchronised;
    statement.starting = true;
    statement.why = fmt::format("{}: the servo is not locked (s{})", program, *servo.state);
  } else if (servo.waiting) {
    statement.state = clock::State::Unsynchronised;
    statement.starting = true;
    statement.why = fmt::format("{}: waits for ptp4l", program);
  } else {
    statement.why = fmt::format("{}: no servo state in this log", program);
  }
  const std::string path = (host.empty() ? "" : host + ".") + std::string(program) + ".";
  if (servo.offset_ns) put(reading, path + "offset", *servo.offset_ns, "ns");
  if (servo.state) put(reading, path + "servo_state", std::int64_t{*servo.state});
  if (!servo.port_state.empty()) put(reading, path + "port_state", servo.port_state);
  for (auto& [name, facts] : reading.nodes) {
    if (name == host) return clock::add(facts.clock, std::move(statement));
  }
  NodeFacts facts;
  clock::add(facts.clock, std::move(statement));
  reading.nodes.emplace_back(host, std::move(facts));
}

}  // namespace

int like_ptp_log(std::string_view head) {
  int lines = 0;
  int ours = 0;
  for (const std::string_view line : split(head.substr(0, 16384), '\n')) {
    if (is_scenery(line)) continue;
    ++lines;
    if (is_ptp(syslog_line(line).program)) ++ours;
  }
  if (ours == 0) return 0;
  return ours * 10 >= lines * 8 ? 92 : ours * 2 >= lines ? 60 : 0;
}

Result<Reading> read_ptp_log(std::string_view text, const ReadOptions& options) {
  Reading reading;
  std::map<std::pair<std::string, std::string>, Servo> servos;
  constexpr size_t kMostServos = 20000;
  for (const Line& one : lines_of(text, options)) {
    if (is_scenery(one.text) || trim(one.text).starts_with("-- ")) continue;
    const SyslogLine parts = syslog_line(one.text);
    if (!is_ptp(parts.program)) {
      unread(reading, one, "not a line of ptp4l or phc2sys");
      continue;
    }
    const std::pair key(std::string(parts.host), std::string(parts.program));
    if (servos.size() >= kMostServos && servos.find(key) == servos.end()) {
      unread(reading, one, "more hosts than are kept apart");
      continue;
    }
    Servo& servo = servos[key];
    const std::string_view message = without_stamp(parts.message);
    const std::vector<std::string_view> words = split_whitespace(message.substr(0, 400));
    const bool told = take_port(message, words, servo) || take_servo(words, servo);
    if (message.starts_with("selected best master clock ")) servo.master = std::string(message.substr(27).substr(0, 40));
    if (message.starts_with("Waiting for ptp4l")) servo.waiting = true;
    if (told || servo.evidence.line == 0) servo.evidence = evidence_of(one, options);
  }
  if (servos.empty()) return failure(ErrorCode::Invalid, "no line of ptp4l or phc2sys is in it");
  for (const auto& [key, servo] : servos) conclude(reading, key.first, key.second, servo);
  return reading;
}

int like_pmc(std::string_view head) {
  return head.find("RESPONSE MANAGEMENT") != std::string_view::npos && (has_line(head, "sending: GET") || head.find("_DATA_SET") != std::string_view::npos || head.find("TIME_STATUS_NP") != std::string_view::npos) ? 93 : 0;
}

Result<Reading> read_pmc(std::string_view text, const ReadOptions& options) {
  Reading reading;
  Servo servo;
  std::optional<bool> grandmaster_present;
  int sets = 0;
  std::string set;
  for (const Line& one : lines_of(text, options)) {
    const std::vector<std::string_view> words = split_whitespace(one.text.substr(0, 400));
    if (words.empty()) continue;
    if (trim(one.text).starts_with("sending: GET")) continue;
    if (one.text.find("RESPONSE MANAGEMENT") != std::string_view::npos) {
      ++sets;
      set = fmt::format("{}[{}].", words.back(), sets - 1);
      servo.evidence = evidence_of(one, options);
      continue;
    }
    if (words.size() < 2 || sets == 0) {
      if (!is_scenery(one.text)) unread(reading, one, "not a field of a management response");
      continue;
    }
    put(reading, set + std::string(words[0]), std::string(words[1]), words[0] == "offsetFromMaster" || words[0] == "master_offset" || words[0] == "meanPathDelay" ? "ns" : "");
    if (words[0] == "offsetFromMaster" || words[0] == "master_offset") servo.offset_ns = parse_real(words[1]);
    if (words[0] == "portState") servo.port_state = std::string(words[1]);
    if (words[0] == "gmPresent") grandmaster_present = words[1] == "true";
    if (words[0] == "gmIdentity" || words[0] == "grandmasterIdentity") servo.master = std::string(words[1]);
  }
  if (sets == 0) return failure(ErrorCode::Invalid, "no management response is in it");
  if (grandmaster_present && !*grandmaster_present && servo.port_state.empty()) servo.port_state = "GRAND_MASTER";
  if (servo.port_state == "SLAVE" || (servo.port_state.empty() && grandmaster_present && *grandmaster_present)) servo.state = 2;
  conclude(reading, "", "ptp4l", servo);
  return reading;
}

}  // namespace verl::diagnosis
