// One measurement against servers: ntpdate -q, sntp, chronyd -Q. It says how far the clock is off, not who keeps it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "diagnosis/time/readers.h"
#include "diagnosis/time/text_lines.h"

namespace verl::diagnosis {
namespace {

using namespace time_text;

struct Answer {
  std::string server{};
  double offset_s{0};  // server minus this clock
  std::optional<double> error_s{};
  std::int64_t stratum{-1};
};

// "server 192.0.2.1, stratum 2, offset 0.003214, delay 0.04001"; stratum 0 is no answer.
std::optional<Answer> ntpdate_line(std::string_view line) {
  if (!line.starts_with("server ")) return std::nullopt;
  Answer answer;
  bool offset = false;
  for (const std::string_view item : split(line.substr(0, 300), ',')) {
    const std::vector<std::string_view> words = split_whitespace(item);
    if (words.size() < 2) continue;
    if (words[0] == "server") answer.server = std::string(words[1]);
    if (words[0] == "stratum") answer.stratum = parse_int(words[1]).value_or(-1);
    if (words[0] != "offset" && words[0] != "delay") continue;
    const auto number = parse_real(words[1]);
    if (!number) return std::nullopt;
    if (words[0] == "offset") {
      answer.offset_s = *number;
      offset = true;
    } else {
      answer.error_s = *number / 2;
    }
  }
  if (!offset || answer.stratum < 0) return std::nullopt;
  return answer;
}

// "2026-01-12 10:00:00.123456 (+0000) +0.003214 +/- 0.012034 ntp.example 192.0.2.1 s2 no-leap", also without the name.
std::optional<Answer> sntp_line(std::string_view line) {
  const size_t bound = line.find("+/-");
  if (bound == std::string_view::npos) return std::nullopt;
  const std::vector<std::string_view> left = split_whitespace(line.substr(0, bound));
  const std::vector<std::string_view> right = split_whitespace(line.substr(bound + 3).substr(0, 200));
  if (left.empty() || right.size() < 2) return std::nullopt;
  const auto offset = parse_real(left.back());
  const auto error = parse_real(right[0]);
  if (!offset || !error) return std::nullopt;
  Answer answer;
  answer.offset_s = *offset;
  answer.error_s = *error;
  answer.server = std::string(right[1]);
  for (const std::string_view word : right) {
    if (word.starts_with('s') && parse_int(word.substr(1))) answer.stratum = *parse_int(word.substr(1));
  }
  return answer;
}

bool known_aside(std::string_view line) {
  return line.find("ntpdate[") != std::string_view::npos || line.find("no server suitable") != std::string_view::npos || line.starts_with("sntp ");
}

}  // namespace

int like_ntp_query(std::string_view head) {
  for (const std::string_view line : split(head.substr(0, 8192), '\n')) {
    const std::string_view trimmed = trim(line);
    if (ntpdate_line(trimmed)) return 88;
    if (sntp_line(trimmed) && trimmed.find('(') != std::string_view::npos) return 80;
    if (trimmed.find("ntpdate[") != std::string_view::npos || trimmed.find("no server suitable for synchronization") != std::string_view::npos) return 80;
    if (trimmed.find("(ignored)") != std::string_view::npos && trimmed.find("System clock wrong by") != std::string_view::npos) return 60;
  }
  return 0;
}

Result<Reading> read_ntp_query(std::string_view text, const ReadOptions& options) {
  Reading reading;
  std::vector<Answer> answers;
  bool aside = false;
  clock::Statement statement;
  statement.witness = clock::Witness::Query;
  statement.tool = "query of a time server";
  for (const Line& one : lines_of(text, options)) {
    const std::string_view line = trim(one.text);
    auto answer = ntpdate_line(line);
    if (!answer) answer = sntp_line(line);
    if (!answer) {
      aside = aside || known_aside(line);
      if (!is_scenery(one.text) && !known_aside(line)) unread(reading, one, "not an answer of a time server");
      continue;
    }
    if (answer->stratum == 0 || answer->stratum >= 16) {
      put(reading, fmt::format("servers[{}].silent", answers.size()), answer->server);
      aside = true;
      continue;
    }
    const std::string path = fmt::format("servers[{}].", answers.size());
    put(reading, path + "address", answer->server);
    put(reading, path + "offset", answer->offset_s, "s");
    if (answer->error_s) put(reading, path + "error", *answer->error_s, "s");
    if (statement.evidence.line == 0) statement.evidence = evidence_of(one, options);
    answers.push_back(std::move(*answer));
  }
  if (answers.empty() && !aside) return failure(ErrorCode::Invalid, "no answer of a time server is in it");
  if (!answers.empty()) {
    const auto middle = answers.begin() + static_cast<std::ptrdiff_t>(answers.size() / 2);
    std::nth_element(answers.begin(), middle, answers.end(), [](const Answer& a, const Answer& b) { return a.offset_s < b.offset_s; });
    statement.offset_s = -middle->offset_s;
    if (middle->error_s) statement.bound_s = std::abs(middle->offset_s) + *middle->error_s;
    statement.reference = middle->server;
    statement.why = "a query measures the clock; it does not say that a daemon keeps it";
    put(reading, "offset", middle->offset_s, "s");
  } else {
    statement.why = "no time server answered the query";
  }
  clock::add(own_node(reading).clock, std::move(statement));
  return reading;
}

}  // namespace verl::diagnosis
