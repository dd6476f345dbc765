#include "diagnosis/log/reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "diagnosis/log/cutter.h"
#include "diagnosis/log/events.h"
#include "diagnosis/log/line.h"
#include "diagnosis/log/nccl_run.h"
#include "diagnosis/log/ray_run.h"
#include "diagnosis/log/torch_run.h"
#include "diagnosis/rule.h"

namespace verl::log {
namespace {

using diagnosis::Finding;
using diagnosis::Reading;

constexpr int kJoined = 3;      // lines that may continue one record
constexpr int kSegments = 256;  // of one line between carriage returns

class Reader final : public diagnosis::StreamReader {
 public:
  explicit Reader(const diagnosis::ReadOptions& options) : name_(options.name), strip_(options.strip_comment_prefix), run_(options.name), events_(options.name) {}

  void feed(std::string_view piece) override {
    cutter_.feed(piece, [this](std::int64_t number, std::string_view text) { take(number, text); });
  }

  Reading finish() override;

 private:
  void take(std::int64_t number, std::string_view text);
  void take_segment(std::int64_t number, std::string_view text);
  bool continue_pending(const Line& line);
  void flush_pending();
  void take_record(const Line& line);
  void take_nccl(const Line& line);
  void take_other(const Line& line);
  void write_interfaces();

  std::string name_;
  bool strip_;
  LineCutter cutter_{};
  NcclRun run_;
  Events events_;
  RayRun ray_{};
  TorchRun torch_{};
  Records records_{};
  std::string scratch_{};
  std::string pending_{};        // a record that ends before its value
  std::int64_t pending_number_{0};
  int pending_lines_{0};
  std::int64_t total_{0}, nccl_{0}, other_{0}, blank_{0}, known_{0}, joined_{0}, torn_{0}, repeated_{0};
};

void Reader::take(std::int64_t number, std::string_view text) {
  ++total_;
  text = without_escapes(text, scratch_);
  if (strip_ && text.starts_with('#')) text.remove_prefix(text.starts_with("# ") ? 2 : 1);
  // Progress bars overwrite their line: each state is a line of its own.
  for (int i = 0; i < kSegments; ++i) {
    const std::size_t end = text.find('\r');
    if (end == std::string_view::npos) break;
    if (end > 0) take_segment(number, text.substr(0, end));
    text.remove_prefix(end + 1);
    if (text.empty()) return;
  }
  take_segment(number, text);
}

void Reader::take_segment(std::int64_t number, std::string_view text) {
  parse_line(text, number, records_);
  if (records_.count == 0) {
    ++blank_;
    flush_pending();
    return;
  }
  if (records_.more) ++torn_;
  for (std::size_t i = 0; i < records_.count; ++i) {
    const Line& line = records_.lines[i];
    if (line.torn) ++torn_;
    if (line.times > 1) ++repeated_;
    if (!pending_.empty()) {
      if (i == 0 && continue_pending(line)) continue;
      flush_pending();
    }
    const bool last = i + 1 == records_.count;
    if (last && !line.level.empty() && line.level != "VERSION" && is_cut_short(line.message)) {
      pending_ = line.text;
      pending_number_ = number;
      pending_lines_ = 0;
      continue;
    }
    take_record(line);
  }
}

// A paste broke the record before its value: what follows without a header and means nothing by itself is the rest of it.
bool Reader::continue_pending(const Line& line) {
  if (!line.level.empty() || pending_lines_ >= kJoined || pending_.size() + line.message.size() > kLineBytes || events_.has_cause(line)) return false;
  ++pending_lines_;
  ++joined_;
  pending_ += ' ';
  pending_ += line.message;
  Records joined;
  parse_line(pending_, pending_number_, joined);
  if (joined.count == 1 && !is_cut_short(joined.lines[0].message)) {
    take_record(joined.lines[0]);
    pending_.clear();
  }
  return true;
}

void Reader::flush_pending() {
  if (pending_.empty()) return;
  Records alone;
  parse_line(pending_, pending_number_, alone);
  for (std::size_t i = 0; i < alone.count; ++i) take_record(alone.lines[i]);
  pending_.clear();
}

void Reader::take_record(const Line& line) {
  if (line.level.empty()) {
    take_other(line);
  } else {
    take_nccl(line);
  }
}

void Reader::take_nccl(const Line& line) {
  ++nccl_;
  if (line.level == "VERSION") {
    run_.note_version(line, nullptr);
    return;
  }
  ProcessState* process = run_.process_of(line);
  const bool noted = process && run_.note(line, *process);
  // The path of a channel is no fault, and most of a large log.
  if (noted && line.level == "INFO" && line.message.starts_with("Channel ")) return;
  Line named = line;
  if (process && !process->host.empty()) named.host = process->host;
  Sighting sighting;
  if (events_.find(named, sighting)) {
    if (!sighting.rule.empty()) events_.add(named, process ? name_of(*process) : "", std::move(sighting));
    return;
  }
  if (!noted && line.level == "WARN" && !line.message.empty()) events_.add_unknown_warning(named, process ? name_of(*process) : "");
}

void Reader::take_other(const Line& line) {
  ++other_;
  if (run_.note_rank(line)) {
    ++known_;
    return;
  }
  const bool ray = ray_.note(line);
  Sighting sighting;
  if (events_.find(line, sighting)) {
    ++known_;
    if (sighting.rule == "torch-watchdog") torch_.note(line);
    if (!sighting.rule.empty()) events_.add(line, line.ip.empty() ? std::string() : std::string(line.ip), std::move(sighting));
  } else if (ray) {
    ++known_;
  }
}

// Interfaces that NCCL's sockets really use and that lead nowhere.
void Reader::write_interfaces() {
  const bool spans = run_.hosts().size() > 1 || run_.largest_nodes() > 1;
  for (const ProcessState& process : run_.processes()) {
    const std::string network = process.network_said ? process.network : process.listed;
    const bool sockets = is_socket(network);
    std::vector<SocketInterface> used;
    if (sockets) used = process.sockets;
    if (used.empty() && !process.bootstrap.empty()) used.push_back(process.bootstrap.front());
    std::vector<std::string> bad;
    std::vector<std::string> why;
    std::string carried;
    for (std::size_t i = 0; i < used.size(); ++i) {
      const std::string fault = fault_of(used[i]);
      if (fault.empty() || (fault == "loopback" && !spans)) continue;
      bad.push_back(used[i].name);
      why.push_back(fmt::format("{} {} (index {}: {})", used[i].name, used[i].address, i, fault));
      const auto on_it = std::find_if(process.channels.begin(), process.channels.end(), [&](const Channel& one) {
        const std::size_t slash = one.via.rfind('/');
        return one.net && is_socket(one.via.substr(4, slash - 4)) && one.device == static_cast<std::int32_t>(i);
      });
      if (on_it != process.channels.end() && sockets && carried.empty()) carried = fmt::format("; it carries Channel {:02d}", on_it->number);
    }
    if (bad.empty()) continue;
    Line line;
    const diagnosis::Evidence& at = sockets && process.sockets_at.line > 0 ? process.sockets_at : process.bootstrap_at;
    line.number = at.line;
    line.text = at.text;
    line.host = process.host;
    Sighting sighting;
    sighting.rule = "log-socket-interface";
    sighting.blame = Blame::Setting;
    sighting.subject = join_some(bad, 4);
    sighting.seen = sighting.subject;
    const std::vector<SocketInterface>& all = process.sockets.empty() ? process.bootstrap : process.sockets;
    sighting.message = fmt::format("NCCL uses {}{}{}: it does not lead to the other nodes", join_some(why, 4), on_host(line), carried);
    sighting.remedy = interface_advice(all);
    add_value(sighting, "advice", sighting.remedy);
    for (std::size_t i = 0; i < bad.size(); ++i) add_value(sighting, fmt::format("interface[{}]", i), bad[i]);
    events_.add(line, name_of(process), std::move(sighting));
  }
}

Reading Reader::finish() {
  cutter_.finish([this](std::int64_t number, std::string_view text) { take(number, text); });
  flush_pending();
  Reading reading;
  const auto count = [&](const char* name, std::int64_t value) { reading.values.push_back({.name = name, .value = value, .unit = {}}); };
  count("lines.total", total_);
  count("lines.nccl", nccl_);
  count("lines.other", other_);
  count("lines.other_known", known_);
  count("lines.blank", blank_);
  if (joined_ > 0) count("lines.joined", joined_);
  if (torn_ > 0) count("lines.torn", torn_);
  if (repeated_ > 0) count("lines.deduplicated", repeated_);
  if (cutter_.cut() > 0) count("lines.cut", cutter_.cut());
  run_.write_values(reading);
  write_interfaces();
  torch_.finish(events_, reading);
  ray_.finish(events_, reading);
  const std::vector<std::string> hosts = run_.hosts();
  events_.finish({.initialised = run_.all_completed(), .several_hosts = hosts.size() > 1}, reading);

  std::map<std::string, diagnosis::NodeFacts> nodes;
  for (auto& [host, facts] : run_.facts()) nodes[host].log = std::move(facts);
  for (const auto& [host, registrations] : events_.registrations()) nodes[hosts.size() > 1 ? host : ""].log.registrations = registrations;
  if (hosts.size() <= 1 && !run_.version_of("").empty()) nodes[""];
  for (auto& [host, facts] : nodes) facts.nccl.loaded_version = run_.version_of(host);
  for (auto& [host, facts] : nodes) reading.nodes.emplace_back(host, std::move(facts));

  if (const auto versions = run_.versions(); versions.size() > 1) {
    Finding finding = diagnosis::finding_of("log-versions", "NCCL");
    finding.seen = join_some(versions, 8);
    finding.message = fmt::format("the log shows several loaded NCCL versions: {}", finding.seen);
    reading.findings.push_back(std::move(finding));
  }
  if (repeated_ > 0) {
    Finding finding = diagnosis::finding_of("log-deduplicated", "");
    finding.message = fmt::format("Ray printed {} lines once for several processes: what single ranks said is lost", repeated_);
    reading.findings.push_back(std::move(finding));
  }
  if (run_.processes_more() > 0) {
    Finding finding = diagnosis::finding_of("document-incomplete", "processes");
    finding.message = fmt::format("{} lines are of processes beyond the first {}: they were not judged", run_.processes_more(), kProcesses);
    reading.findings.push_back(std::move(finding));
  }
  if (cutter_.cut() > 0) reading.skipped.push_back(fmt::format("the rest of {} lines beyond {} bytes each", cutter_.cut(), kLineBytes));
  if (nccl_ == 0 && known_ == 0) reading.findings.push_back(diagnosis::finding_of("log-nothing-known", ""));
  return reading;
}

}  // namespace

std::unique_ptr<diagnosis::StreamReader> make_reader(const diagnosis::ReadOptions& options) { return std::make_unique<Reader>(options); }

int likeness(std::string_view head) {
  static const Events kCauses("");
  const std::size_t whole = head.rfind('\n');
  if (whole != std::string_view::npos && head.size() >= diagnosis::kLikenessBytes) head = head.substr(0, whole);
  std::string scratch;
  Records records;
  int nccl = 0;
  int mentioned = 0;
  int ray = 0;
  int causes = 0;
  bool table = false;
  bool object = head.starts_with('{') || head.starts_with("[{");  // JSON and manifests only quote such messages
  RayRun reader;
  std::int64_t number = 0;
  while (!head.empty()) {
    const std::size_t end = std::min(head.find('\n'), head.size());
    const std::string_view text = without_escapes(head.substr(0, std::min(end, kLineBytes)), scratch);
    head.remove_prefix(std::min(end + 1, head.size()));
    parse_line(text, ++number, records);
    for (std::size_t i = 0; i < records.count; ++i) {
      const Line& line = records.lines[i];
      if (!line.level.empty()) {
        (line.torn ? mentioned : nccl) += 1;
        continue;
      }
      if (line.text.starts_with("apiVersion:") && line.text == text) object = true;
      if (line.message.starts_with("#") && (line.message.find("out-of-place") != std::string_view::npos || line.message.find("algbw") != std::string_view::npos)) table = true;
      if (!line.actor.empty() || !line.ip.empty()) ++ray;
      if (kCauses.has_cause(line)) ++causes;
      if (reader.note(line)) ++ray;
    }
  }
  if (nccl > 0) return table ? 70 : 95;  // the output of a benchmark with log lines in between is the benchmark's first
  if (object) return causes + ray + mentioned > 0 ? 10 : 0;
  if (causes > 0) return 60;
  if (ray > 0) return 55;
  return mentioned > 0 ? 40 : 0;
}

}  // namespace verl::log
