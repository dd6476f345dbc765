#include "diagnosis/log/line.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "diagnosis/log/prefix.h"

namespace verl::log {
namespace {

constexpr std::string_view kMark = "NCCL ";
constexpr int kPrefixes = 8;  // of one line, at most

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_host(char c) { return is_digit(c) || is_upper(c) || (c >= 'a' && c <= 'z') || c == '-' || c == '.' || c == '_'; }

// The last word before `end` and where it begins; `end` is moved to the blanks before it.
std::string_view word_before(std::string_view text, std::size_t& end) {
  while (end > 0 && text[end - 1] == ' ') --end;
  const std::size_t stop = end;
  while (end > 0 && text[end - 1] != ' ' && text[end - 1] != '\r') --end;
  return text.substr(end, stop - end);
}

bool all_digits(std::string_view text) { return !text.empty() && std::all_of(text.begin(), text.end(), is_digit); }

// "host:pid:tid", perhaps with a launcher's tag glued before it. Moves `begin` to the host.
bool take_process(std::string_view word, std::size_t& begin, Line& line) {
  const std::size_t last = word.rfind(':');
  if (last == std::string_view::npos || last == 0 || !all_digits(word.substr(last + 1))) return false;
  const std::size_t first = word.rfind(':', last - 1);
  if (first == std::string_view::npos || first == 0 || !all_digits(word.substr(first + 1, last - first - 1))) return false;
  std::size_t host = first;
  while (host > 0 && is_host(word[host - 1])) --host;
  if (host == first) return false;
  const auto pid = parse_int(word.substr(first + 1, last - first - 1));
  const auto tid = parse_int(word.substr(last + 1));
  if (!pid || !tid) return false;
  line.host = word.substr(host, first - host);
  line.pid = *pid;
  line.tid = *tid;
  begin += host;
  return true;
}

bool looks_like_source(std::string_view word) {
  const std::size_t colon = word.rfind(':');
  return colon != std::string_view::npos && colon > 0 && all_digits(word.substr(colon + 1)) &&
         std::count(word.begin(), word.end(), ':') == 1 && !word.starts_with('[');
}

struct Header {
  std::size_t begin{0};    // of the header: what stands before is prefix or another record
  std::size_t message{0};  // where the message begins
  Line line{};
  bool anchored{false};    // it says a device or a process
};

// The header that ends with "NCCL LEVEL" at `mark`.
std::optional<Header> header_at(std::string_view text, std::size_t mark) {
  Header header;
  std::size_t level = mark + kMark.size();
  const std::size_t stop = static_cast<std::size_t>(std::find_if_not(text.begin() + static_cast<std::ptrdiff_t>(level), text.end(), is_upper) - text.begin());
  if (stop == level) {
    // "NCCL version 2.21.5+cuda12.4", printed without a header.
    if (!text.substr(level).starts_with("version ")) return std::nullopt;
    header.begin = mark;
    header.line.level = "VERSION";
    header.message = mark;
    return header;
  }
  if (stop - level < 3 || (stop < text.size() && text[stop] != ' ' && text[stop] != '\r')) return std::nullopt;
  header.line.level = text.substr(level, stop - level);
  header.message = std::min(stop + 1, text.size());
  header.begin = mark;

  std::size_t end = mark;
  std::string_view word = word_before(text, end);
  if (word.ends_with(')')) {  // "(function)" of 2.30.7; its arguments are not printed
    const std::size_t from = mark - std::min<std::size_t>(mark, 200);
    const std::size_t place = text.substr(from, mark - from).rfind('(');
    const std::size_t open = place == std::string_view::npos ? 0 : from + place;
    if (open > 0) {
      header.begin = open;
      end = open;
      word = word_before(text, end);
    }
  }
  if (looks_like_source(word)) {
    header.line.where = word;
    header.begin = end;
    word = word_before(text, end);
  }
  if (!word.empty() && word.find('.') != std::string_view::npos && std::all_of(word.begin(), word.end(), [](char c) { return is_digit(c) || c == '.'; })) {
    word = word_before(text, end);  // milliseconds of TRACE
  }
  if (word.size() >= 3 && word.front() == '[' && word.back() == ']') {
    if (const auto device = parse_int<std::int32_t>(word.substr(1, word.size() - 2))) {
      header.line.device = *device;
      header.begin = end;
      header.anchored = true;
      word = word_before(text, end);
    }
  }
  std::size_t begin = end;
  if (take_process(word, begin, header.line)) {
    header.begin = begin;
    header.anchored = true;
  }
  return header;
}

std::size_t next_mark(std::string_view text, std::size_t from) {
  while (true) {
    const std::size_t pos = text.find(kMark, from);
    if (pos == std::string_view::npos || pos == 0 || !(is_host(text[pos - 1]) || text[pos - 1] == '=' || text[pos - 1] == '/')) return pos;
    from = pos + 1;
  }
}

// All known prefixes; a single word that ends with ':' is a label too (a file's name before a line that grep found).
void take_prefixes(std::string_view& before, Line& line) {
  for (int i = 0; i < kPrefixes && take_prefix(before, line); ++i) {
  }
  before = trim(before);
  if (before.ends_with(':') && before.find(' ') == std::string_view::npos) before = {};
}

// A mention of NCCL in another line's text is no header: one without device and process must stand at the front.
bool only_prefix(std::string_view before) {
  Line ignored;
  take_prefixes(before, ignored);
  return before.empty();
}

// "+cuda12.4host-1:31:31 [0] NCCL INFO": the banner lost its end of line, so the host reads "cuda12.4host-1".
void give_back_cuda(Header& header) {
  std::string_view host = header.line.host;
  if (!host.starts_with("cuda")) return;
  const std::size_t dot = host.find('.');
  if (dot == std::string_view::npos || dot + 2 >= host.size() || !all_digits(host.substr(4, dot - 4)) || !is_digit(host[dot + 1])) return;
  header.line.host = host.substr(dot + 2);
  header.begin += dot + 2;
}

void plain(std::string_view text, std::int64_t number, Records& out) {
  Line& line = out.lines[out.count++];
  line = Line{};
  line.number = number;
  line.text = trim(text);
  std::string_view rest = line.text;
  for (int i = 0; i < kPrefixes && take_prefix(rest, line); ++i) {
  }
  rest = trim(rest);
  take_repetition(rest, line);
  line.message = rest;
  if (rest.empty()) --out.count;
}

}  // namespace

std::string_view without_escapes(std::string_view text, std::string& scratch) {
  if (text.find('\x1b') == std::string_view::npos) return text;
  scratch.clear();
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\x1b') {
      scratch += text[i];
      continue;
    }
    if (i + 1 >= text.size()) break;
    if (text[i + 1] == '[') {  // control sequence: ends with a letter or one of @~`{|}
      i += 2;
      while (i < text.size() && (text[i] < '@' || text[i] > '~')) ++i;
    } else if (text[i + 1] == ']') {  // operating system command: ends with BEL
      while (i < text.size() && text[i] != '\a') ++i;
    } else {
      ++i;
    }
  }
  return scratch;
}

void parse_line(std::string_view text, std::int64_t number, Records& out) {
  out.count = 0;
  out.more = false;
  std::size_t mark = next_mark(text, 0);
  std::optional<Header> header;
  for (; mark != std::string_view::npos; mark = next_mark(text, mark + 1)) {
    header = header_at(text, mark);
    if (header && (header->anchored || only_prefix(text.substr(0, header->begin)))) break;
    header.reset();
  }
  if (!header) {
    if (!trim(text).empty()) plain(text, number, out);
    return;
  }

  std::size_t begin = 0;
  while (header) {
    Line line = header->line;
    line.number = number;
    std::string_view before = text.substr(begin, header->begin - begin);
    take_prefixes(before, line);
    if (!before.empty() && begin == 0) {
      line.torn = true;
      plain(text.substr(0, header->begin), number, out);
    }

    std::optional<Header> next;
    std::size_t end = text.size();
    for (mark = next_mark(text, header->message); mark != std::string_view::npos; mark = next_mark(text, mark + 1)) {
      next = header_at(text, mark);
      if (next && next->anchored && next->begin >= header->message) {
        if (line.level == "VERSION") give_back_cuda(*next);
        end = next->begin;
        break;
      }
      next.reset();
    }
    line.text = trim(text.substr(begin, end - begin));
    std::string_view message = trim(text.substr(header->message, end - header->message));
    take_repetition(message, line);
    line.message = message;
    if (out.count == kRecordsPerLine) {
      out.more = true;
      return;
    }
    out.lines[out.count++] = line;
    begin = end;
    header = next;
    if (header) header->line.torn = true;
  }
}

std::string_view without_header(std::string_view text) {
  Records records;
  parse_line(text, 0, records);
  return records.count == 0 ? text : records.lines[records.count - 1].message;
}

}  // namespace verl::log
