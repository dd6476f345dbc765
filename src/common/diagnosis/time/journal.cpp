// The journal of chronyd, ntpd and systemd-timesyncd, of one host or several: a state machine per host. A good sample now does
// not undo what the journal shows; a later "Selected source" ends "no majority", a later step ends "wrong by".
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "base/text.h"
#include "diagnosis/rule.h"
#include "diagnosis/time/readers.h"
#include "diagnosis/time/syslog_line.h"
#include "diagnosis/time/text_lines.h"

namespace verl::diagnosis {
namespace {

using namespace time_text;

enum class Event { WrongBy, Stepped, Selected, Lost, FalseTicker, Jump, Refused, Started, Harmless };

struct Message {
  std::string_view program{};  // empty: any
  std::string_view start{};
  Event event{Event::Harmless};
};

// The texts of chronyd 1.29 to 4.7 (reference.c, sources.c), ntpd 4.2 and systemd-timesyncd.
constexpr std::array kMessages{
    Message{"chronyd", "System clock wrong by ", Event::WrongBy},
    Message{"chronyd", "System clock was stepped by ", Event::Stepped},
    Message{"chronyd", "System's initial offset : ", Event::Stepped},
    Message{"chronyd", "Selected source ", Event::Selected},
    Message{"chronyd", "Can't synchronise: ", Event::Lost},
    Message{"chronyd", "Detected falseticker ", Event::FalseTicker},
    Message{"chronyd", "Forward time jump detected!", Event::Jump},
    Message{"chronyd", "Backward time jump detected!", Event::Jump},
    Message{"chronyd", "Could not step system clock", Event::Refused},
    Message{"chronyd", "Adjustment of ", Event::Refused},
    Message{"chronyd", "chronyd version ", Event::Started},
    Message{"ntpd", "time reset ", Event::Stepped},
    Message{"ntpd", "no servers reachable", Event::Lost},
    Message{"ntpd", "no reachable servers", Event::Lost},
    Message{"ntpd", "synchronized to ", Event::Selected},
    Message{"ntpd", "time correction of ", Event::Refused},
    Message{"systemd-timesyncd", "Synchronized to time server", Event::Selected},
    Message{"systemd-timesyncd", "Initial synchronization to time server", Event::Selected},
    Message{"systemd-timesyncd", "Initial clock synchronization to", Event::Selected},
    Message{"systemd-timesyncd", "Contacted time server", Event::Selected},
    Message{"systemd-timesyncd", "Timed out waiting for reply", Event::Lost},
    Message{"systemd-timesyncd", "No network connectivity", Event::Lost},
    Message{"systemd-timesyncd", "Server has too large root distance", Event::Lost},
};

const Message* message_of(std::string_view program, std::string_view text) {
  const auto found = std::find_if(kMessages.begin(), kMessages.end(), [&](const Message& one) {
    return (program.empty() || one.program == program) && text.starts_with(one.start);
  });
  return found == kMessages.end() ? nullptr : &*found;
}

bool is_daemon(std::string_view program) { return program == "chronyd" || program == "ntpd" || program == "systemd-timesyncd"; }

// The first number behind the fixed text, in seconds.
std::optional<double> number_after(std::string_view text, std::string_view start) {
  const std::vector<std::string_view> words = split_whitespace(text.substr(start.size()).substr(0, 100));
  return words.empty() ? std::nullopt : parse_real(words[0]);
}

struct HostState {
  std::optional<double> wrong_by{};  // largest since the last step
  Evidence wrong{};
  std::optional<double> stepped{};
  Evidence step{};
  std::string lost{};                // empty: a source is selected, or nobody said
  Evidence loss{};
  bool selected{false};
  std::string reference{};
  Evidence selection{};
  std::int64_t wrong_count{0};
  std::vector<Finding> findings{};
};

class JournalReader final {
 public:
  explicit JournalReader(const ReadOptions& options) : options_(options) {}

  void line(const Line& one) {
    if (is_scenery(one.text) || trim(one.text).starts_with("-- ")) return;
    const SyslogLine parts = syslog_line(one.text);
    const Message* message = message_of(parts.program, parts.message);
    if (!message && !is_daemon(parts.program)) {
      unread(reading_, one, "not a line of a time daemon");
      return;
    }
    ++taken_;
    if (!message) return;
    if (hosts_.size() >= kMostHosts && hosts_.find(std::string(parts.host)) == hosts_.end()) {
      unread(reading_, one, "more hosts than are kept apart");
      return;
    }
    take(*message, parts, one, hosts_[std::string(parts.host)]);
  }

  Result<Reading> finish() {
    if (taken_ == 0) return failure(ErrorCode::Invalid, "no line of chronyd, ntpd or systemd-timesyncd is in it");
    for (auto& [host, state] : hosts_) conclude(host, state);
    return std::move(reading_);
  }

 private:
  static constexpr size_t kMostHosts = 20000;

  void take(const Message& message, const SyslogLine& parts, const Line& one, HostState& state) {
    const auto number = number_after(parts.message, message.start);
    switch (message.event) {
      case Event::WrongBy:
        if (!number) return unread(reading_, one, "no number of seconds");
        ++state.wrong_count;
        event(parts.host, "wrong_by", *number, one);
        if (!state.wrong_by || std::abs(*number) >= std::abs(*state.wrong_by)) {
          state.wrong_by = number;
          state.wrong = evidence_of(one, options_);
        }
        return;
      case Event::Stepped:
        if (!number) return unread(reading_, one, "no number of seconds");
        event(parts.host, "stepped_by", *number, one);
        if (!state.stepped || std::abs(*number) >= std::abs(*state.stepped)) {
          state.stepped = number;
          state.step = evidence_of(one, options_);
        }
        // The step took away what was reported before it.
        if (state.wrong_by && std::abs(std::abs(*state.wrong_by) - std::abs(*number)) <= 0.01 * std::abs(*number) + 0.001) state.wrong_by.reset();
        return;
      case Event::Selected:
        state.selected = true;
        state.lost.clear();
        state.selection = evidence_of(one, options_);
        state.reference = std::string(parts.message.substr(message.start.size()).substr(0, parts.message.substr(message.start.size()).find(' ')));
        return;
      case Event::Lost:
        state.selected = false;
        state.lost = shorten(parts.message, 120);
        state.loss = evidence_of(one, options_);
        return;
      case Event::FalseTicker: {
        Finding finding = finding_of("clock-falseticker", shorten(parts.message.substr(message.start.size()), 100));
        finding.message = fmt::format("{} takes {} for a falseticker: its time contradicts the other sources", parts.program, finding.subject);
        finding.evidence.push_back(evidence_of(one, options_));
        if (state.findings.size() < 20) state.findings.push_back(std::move(finding));
        return;
      }
      case Event::Jump:
      case Event::Refused: {
        Finding finding = finding_of(message.event == Event::Jump ? "clock-stepped" : "clock-error", "clock");
        finding.seen = shorten(parts.message, 120);
        finding.message = message.event == Event::Jump ? fmt::format("{} saw the time jump while it ran: \"{}\"", parts.program, finding.seen)
                                                       : fmt::format("{} did not correct the clock: \"{}\"", parts.program, finding.seen);
        finding.evidence.push_back(evidence_of(one, options_));
        if (state.findings.size() < 20) state.findings.push_back(std::move(finding));
        return;
      }
      case Event::Started:
        // A daemon that starts anew has selected nothing yet, and what it reports belongs to the new run.
        state.selected = false;
        return;
      case Event::Harmless: return;
    }
  }

  void event(std::string_view host, std::string_view what, double seconds, const Line& one) {
    if (events_ >= 1000) return;
    const std::string path = fmt::format("events[{}].", events_++);
    put(reading_, path + "host", std::string(host));
    put(reading_, path + "line", one.number);
    put(reading_, path + std::string(what), seconds, "s");
  }

  void conclude(const std::string& host, HostState& state) {
    const Policy& policy = options_.policy;
    const double warn = static_cast<double>(policy.clock_warn.count()) / 1e6;
    const double fail = static_cast<double>(policy.clock_fail.count()) / 1e6;
    const auto add = [&](Finding finding) {
      if (!host.empty()) finding.nodes = {host};
      reading_.findings.push_back(std::move(finding));
    };
    if (state.wrong_by && std::abs(*state.wrong_by) > warn) {
      Finding finding = finding_of("clock-error", "clock");
      finding.severity = std::abs(*state.wrong_by) > fail ? Severity::Error : Severity::Warning;
      finding.seen = span_text(*state.wrong_by);
      finding.wanted = fmt::format("within {} (not ready beyond {})", span_text(warn), span_text(fail));
      finding.message = fmt::format("the daemon found the system clock wrong by {}{}", finding.seen,
                                    state.wrong_count > 1 ? fmt::format(", {} times in this journal", state.wrong_count) : "");
      finding.evidence.push_back(state.wrong);
      add(std::move(finding));
    }
    if (state.stepped && std::abs(*state.stepped) > 0.128) {
      Finding finding = finding_of("clock-stepped", "clock");
      finding.seen = span_text(*state.stepped);
      finding.message = fmt::format("the clock was stepped by {}: times before and after do not compare", finding.seen);
      finding.evidence.push_back(state.step);
      add(std::move(finding));
    }
    for (Finding& finding : state.findings) add(std::move(finding));
    clock::Statement statement;
    statement.witness = clock::Witness::Journal;
    statement.tool = "journal";
    statement.reference = state.reference;
    statement.state = !state.lost.empty() ? clock::State::Unsynchronised : state.selected ? clock::State::Synchronised : clock::State::Unknown;
    statement.why = !state.lost.empty() ? fmt::format("the last word of the journal is \"{}\", and no source was selected since", state.lost) : "the journal shows a selected source";
    statement.evidence = !state.lost.empty() ? state.loss : state.selection;
    NodeFacts facts;
    clock::add(facts.clock, std::move(statement));
    reading_.nodes.emplace_back(host, std::move(facts));
  }

  const ReadOptions& options_;
  Reading reading_{};
  std::map<std::string, HostState> hosts_{};
  std::int64_t taken_{0};
  int events_{0};
};

}  // namespace

int like_time_journal(std::string_view head) {
  int lines = 0;
  int ours = 0;
  for (const std::string_view line : split(head.substr(0, 16384), '\n')) {
    if (is_scenery(line) || trim(line).starts_with("-- ")) continue;
    ++lines;
    const SyslogLine parts = syslog_line(line);
    if (is_daemon(parts.program) || (parts.program.empty() && message_of({}, parts.message))) ++ours;
  }
  if (ours == 0) return 0;
  return ours * 10 >= lines * 8 ? 92 : ours * 2 >= lines ? 60 : 0;
}

Result<Reading> read_time_journal(std::string_view text, const ReadOptions& options) {
  JournalReader reader(options);
  for (const Line& one : lines_of(text, options)) reader.line(one);
  return reader.finish();
}

}  // namespace verl::diagnosis
