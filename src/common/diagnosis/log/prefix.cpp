#include "diagnosis/log/prefix.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "diagnosis/log/scan.h"

namespace verl::log {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::size_t digits(std::string_view text) {
  return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_digit) - text.begin());
}

void set_rank(Line& line, std::string_view text) {
  if (const auto rank = parse_int<std::int32_t>(text); rank && *rank >= 0) line.rank = *rank;
}

// "[1,9]<stdout>:", "[1,9]<stderr>: ", "[88] ", "[rank3]:", "[default0]:", "[pod/name/container] ", "[2026-01-02 03:04:05] "
bool take_bracket(std::string_view& text, Line& line) {
  if (!text.starts_with('[')) return false;
  if (const std::size_t code = digits(text.substr(1)); code > 0 && code < 4 && text.size() > code + 1 && text[code + 1] == 'm') {
    text.remove_prefix(code + 2);  // "[36m": a colour whose escape byte the paste lost
    return true;
  }
  const std::size_t close = text.substr(0, 200).find(']');
  if (close == std::string_view::npos) return false;
  const std::string_view inside = text.substr(1, close - 1);
  const std::string_view rest = text.substr(close + 1);
  if (rest.starts_with('<')) {  // Open MPI --tag-output
    const std::size_t end = rest.substr(0, 20).find(">:");
    const std::size_t comma = inside.find(',');
    if (end == std::string_view::npos || comma == std::string_view::npos) return false;
    set_rank(line, inside.substr(comma + 1));
    text = rest.substr(end + 2);
    return true;
  }
  if (!inside.empty() && digits(inside) == inside.size() && (rest.empty() || rest.starts_with(' '))) {
    set_rank(line, inside);
    text = rest;
    return true;
  }
  if (inside.starts_with("rank") && rest.starts_with(':') && digits(inside.substr(4)) == inside.size() - 4) {
    set_rank(line, inside.substr(4));
    text = rest.substr(1);
    return true;
  }
  if (inside.starts_with("default") && rest.starts_with(':')) {  // torchrun --tee: a local rank
    text = rest.substr(1);
    return true;
  }
  if (inside.starts_with("pod/")) {  // kubectl logs --prefix
    text = rest;
    return true;
  }
  if (inside.size() >= 19 && inside[4] == '-' && inside[7] == '-' && inside[13] == ':') {
    line.time = inside.substr(0, 19);
    text = rest;
    return true;
  }
  return false;
}

// "2026-01-14T08:02:11.123456789Z ", "2026-01-14 08:02:11,118 ": of containers and of Python's logging.
bool take_time(std::string_view& text, Line& line) {
  if (text.size() < 20 || text[4] != '-' || text[7] != '-' || (text[10] != 'T' && text[10] != ' ') || text[13] != ':' || text[16] != ':') return false;
  if (!is_digit(text[0]) || !is_digit(text[5]) || !is_digit(text[11]) || !is_digit(text[17])) return false;
  const std::size_t end = text.find_first_not_of("0123456789.,:+-Z", 19);
  if (end == std::string_view::npos || end > 40 || text[end] != ' ') return false;
  line.time = text.substr(0, 19);
  text.remove_prefix(end);
  const std::size_t next = text.find_first_not_of(' ');
  for (const std::string_view stream : {"stdout F ", "stderr F ", "stdout P ", "stderr P "}) {  // containerd and CRI-O files
    if (next != std::string_view::npos && text.substr(next).starts_with(stream)) {
      text.remove_prefix(next + stream.size());
      break;
    }
  }
  return true;
}

// "(WorkerDict pid=1832, ip=192.0.2.61) ", "(pid=711) ", "(raylet, ip=192.0.2.7) "
bool take_ray(std::string_view& text, Line& line) {
  if (!text.starts_with('(')) return false;
  const std::size_t close = text.substr(0, 200).find(')');
  if (close == std::string_view::npos) return false;
  const std::string_view inside = text.substr(1, close - 1);
  const bool pid = inside.starts_with("pid=") || inside.find(" pid=") != std::string_view::npos;
  const bool ip = inside.find(" ip=") != std::string_view::npos;
  const bool ray = inside == "raylet" || inside.starts_with("autoscaler") || inside == "gcs_server";
  if (!pid && !ip && !ray) return false;
  line.actor = inside.substr(0, inside.find_first_of(" ,"));
  if (line.actor.starts_with("pid=")) line.actor = {};
  if (ip) line.ip = word_at(*after(inside, " ip="));
  text.remove_prefix(close + 1);
  return true;
}

// "Jan 14 08:02:11 node7 kubelet[1234]: ": syslog and journalctl. The host is the machine's, as the journal knows it.
bool take_syslog(std::string_view& text, Line& line) {
  if (text.size() < 20 || !is_letter(text[0]) || !is_letter(text[2]) || text[3] != ' ' || text[6] != ' ' || text[9] != ':' || text[12] != ':' || text[15] != ' ') return false;
  const std::string_view rest = text.substr(16);
  const std::size_t space = rest.find(' ');
  if (space == std::string_view::npos || space > 253) return false;
  const std::size_t end = rest.substr(0, 400).find(": ", space);
  if (end == std::string_view::npos) return false;
  line.time = text.substr(0, 15);
  if (line.host.empty()) line.host = rest.substr(0, space);
  text = rest.substr(end + 2);
  return true;
}

// "7: " of srun --label, "worker-1  | " of compose.
bool take_label(std::string_view& text, Line& line) {
  const std::size_t number = digits(text.substr(0, 8));
  if (number > 0 && number < 7 && text.size() > number + 1 && text[number] == ':' && text[number + 1] == ' ') {
    set_rank(line, text.substr(0, number));
    text.remove_prefix(number + 1);
    return true;
  }
  const std::size_t bar = text.substr(0, 80).find("| ");
  if (bar != std::string_view::npos && bar > 0 && text[bar - 1] == ' ') {
    const std::string_view name = trim(text.substr(0, bar));
    const bool plain = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) { return is_letter(c) || is_digit(c) || c == '-' || c == '_' || c == '.'; });
    if (plain) {
      text.remove_prefix(bar + 2);
      return true;
    }
  }
  return false;
}

}  // namespace

bool take_prefix(std::string_view& text, Line& line) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) {
    text = {};
    return false;
  }
  text.remove_prefix(first);
  return take_bracket(text, line) || take_ray(text, line) || take_time(text, line) || take_syslog(text, line) || take_label(text, line);
}

void take_repetition(std::string_view& text, Line& line) {
  if (text.empty() || (text.back() != ']' && text.back() != ')' && text.back() != 'm')) return;
  constexpr std::string_view kOpen = "[repeated ";
  const std::size_t pos = text.rfind(kOpen);
  if (pos == std::string_view::npos) return;
  const std::string_view rest = text.substr(pos + kOpen.size());
  const auto times = number_at(rest);
  if (!times || *times < 1 || *times > 1'000'000 || rest.find("x across cluster]") == std::string_view::npos) return;
  line.times = *times;
  text = text.substr(0, pos);
  while (text.ends_with(' ')) text.remove_suffix(1);
}

}  // namespace verl::log
