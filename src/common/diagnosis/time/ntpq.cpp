// ntpq -p (peers, lpeers, -n, -w) and ntpq -c rv. Rows are read from the right: names are cut at 15 characters and may hold
// blanks and brackets. Offsets are milliseconds, server minus this clock; facts have the opposite sign.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>

#include "base/text.h"
#include "diagnosis/rule.h"
#include "diagnosis/time/readers.h"
#include "diagnosis/time/text_lines.h"

namespace verl::diagnosis {
namespace {

using namespace time_text;

constexpr std::string_view kTallies = "*o#+-x. ~";
constexpr std::int64_t kStratumOfLocalServers = 10;  // what `fudge` and chronyd's `local` give by default; real servers have a handful
constexpr int kYoungPolls = 4;

struct Peer {
  char tally{' '};
  std::string remote{};
  std::string refid{};
  std::int64_t stratum{16};
  std::string type{};
  std::uint32_t reach{0};
  double delay_ms{0};
  double offset_ms{0};
  double jitter_ms{0};
  Line line{};
};

bool placeholder(const Peer& peer) { return peer.refid == ".POOL." || peer.type == "p" || peer.refid == ".BCST." || peer.refid == ".MCST."; }

bool own_clock(std::string_view name) { return name.starts_with("LOCAL(") || name.starts_with("127.127.1.") || name == "LOCL" || name == ".LOCL."; }

// The own clock as a source: refid .LOCL. in the row of LOCAL(0). The same refid in a row of a server is the server's own clock.
bool follows_itself(const Peer& peer) { return own_clock(peer.remote); }
bool server_follows_itself(const Peer& peer) {
  return !follows_itself(peer) && (own_clock(peer.refid) || (peer.stratum >= kStratumOfLocalServers && peer.stratum < 16));
}

// Milliseconds; ntpsec may print a unit.
std::optional<double> milliseconds(std::string_view cell) {
  if (const auto plain = parse_real(cell)) return plain;
  const auto seconds = parse_span(cell);
  if (!seconds) return std::nullopt;
  return *seconds * 1e3;
}

std::optional<std::uint32_t> octal(std::string_view cell) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value, 8);
  if (cell.empty() || error != std::errc{} || end != cell.data() + cell.size() || value > 0xFF) return std::nullopt;
  return value;
}

bool is_heading(std::string_view line) {
  return line.find("remote") != std::string_view::npos && line.find("reach") != std::string_view::npos && line.find("offset") != std::string_view::npos;
}

// [remote and refid] st t when poll reach delay offset jitter
std::optional<Peer> row(std::string_view text) {
  const std::vector<std::string_view> cells = split_whitespace(text);
  constexpr size_t kRight = 8;
  if (cells.size() < kRight || cells.size() > kRight + 12) return std::nullopt;
  const size_t first = cells.size() - kRight;
  Peer peer;
  const auto stratum = parse_int(cells[first]);
  const auto reach = octal(cells[first + 4]);
  const auto delay = milliseconds(cells[first + 5]);
  const auto offset = milliseconds(cells[first + 6]);
  const auto jitter = milliseconds(cells[first + 7]);
  if (!stratum || *stratum < 0 || *stratum > 16 || cells[first + 1].size() != 1 || !reach || !delay || !offset || !jitter) return std::nullopt;
  if (cells[first + 2] != "-" && !parse_span(cells[first + 2])) return std::nullopt;
  if (cells[first + 3] != "-" && !parse_span(cells[first + 3])) return std::nullopt;
  peer.stratum = *stratum;
  peer.type = std::string(cells[first + 1]);
  peer.reach = *reach;
  peer.delay_ms = *delay;
  peer.offset_ms = *offset;
  peer.jitter_ms = *jitter;
  // One word: the refid's cell is empty. Else the last word is the refid, all before it the name.
  const size_t names = first > 1 ? first - 1 : first;
  for (size_t i = 0; i < names; ++i) peer.remote += (i > 0 ? " " : "") + std::string(cells[i]);
  if (first > 1) peer.refid = std::string(cells[first - 1]);
  return peer;
}

class PeersReader final {
 public:
  explicit PeersReader(const ReadOptions& options) : options_(options) {}

  void line(const Line& one) {
    const std::string_view trimmed = trim(one.text);
    if (is_heading(one.text)) {
      heading_ = true;
      indent_ = one.text.find("remote") >= 5 ? one.text.find("remote") - 5 : 0;
      column_cut_ = one.text.find("remote") == 0;
      evidence_ = evidence_of(one, options_);
      return;
    }
    if (take_variables(one)) return;
    if (trimmed.find("Connection refused") != std::string_view::npos || trimmed.find("timed out") != std::string_view::npos ||
        trimmed.find("Request timed out") != std::string_view::npos) {
      refusal_ = shorten(trimmed, 120);
      evidence_ = evidence_of(one, options_);
      return;
    }
    if (trimmed.find("No association ID") != std::string_view::npos) {
      heading_ = true;
      evidence_ = evidence_of(one, options_);
      return;
    }
    if (is_scenery(one.text)) return;
    if (!take_row(one)) unread(reading_, one, "not a row of the table of peers");
  }

  Result<Reading> finish() {
    if (!heading_ && peers_.empty() && !variables_ && refusal_.empty()) return failure(ErrorCode::Invalid, "no table of ntpq peers is in it");
    if (!wrapped_.empty()) incomplete(reading_, wrapped_, fmt::format("the row of {} has a name and no numbers", wrapped_));
    conclude();
    return std::move(reading_);
  }

 private:
  bool take_row(const Line& one) {
    std::string_view text = one.text;
    // Blanks before the whole table, not the tally's own column.
    for (size_t i = 0; i < indent_ && text.starts_with(' '); ++i) text.remove_prefix(1);
    if (trim(text).empty() || !heading_) return false;
    char tally = text.front();
    if (kTallies.find(tally) == std::string_view::npos || (column_cut_ && (tally == 'o' || tally == 'x'))) {
      if (column_cut_ && (tally == 'o' || tally == 'x')) doubtful_ = true;
      tally = ' ';
    } else {
      text.remove_prefix(1);
    }
    if (tally == '\t') tally = ' ';
    // A long name of -w stands on a line of its own.
    if (split_whitespace(text).size() == 1 && !text.starts_with(' ')) {
      if (!wrapped_.empty()) return false;
      wrapped_ = std::string(trim(text));
      wrapped_tally_ = tally;
      return true;
    }
    std::string joined;
    if (!wrapped_.empty()) {
      joined = wrapped_ + " " + std::string(text);
      tally = wrapped_tally_;
    }
    auto peer = row(wrapped_.empty() ? text : std::string_view(joined));
    if (!peer) return false;
    wrapped_.clear();
    peer->tally = tally;
    peer->line = one;
    const std::string path = fmt::format("peers[{}].", peers_.size());
    put(reading_, path + "tally", std::string(1, tally));
    put(reading_, path + "remote", peer->remote);
    put(reading_, path + "refid", peer->refid);
    put(reading_, path + "stratum", peer->stratum);
    put(reading_, path + "type", peer->type);
    put(reading_, path + "reach", fmt::format("{:o}", peer->reach));
    put(reading_, path + "delay", peer->delay_ms, "ms");
    put(reading_, path + "offset", peer->offset_ms, "ms");
    put(reading_, path + "jitter", peer->jitter_ms, "ms");
    peers_.push_back(std::move(*peer));
    return true;
  }

  // associd=0 status=0615 leap_none, sync_ntp, ... stratum=2, refid=..., offset=0.473, rootdelay=..., rootdisp=...
  bool take_variables(const Line& one) {
    const std::string_view trimmed = trim(one.text);
    if (trimmed.starts_with("associd=") || trimmed.starts_with("assID=") || trimmed.starts_with("status=")) {
      variables_ = true;
      in_variables_ = true;
      evidence_ = evidence_of(one, options_);
      if (trimmed.find("leap_alarm") != std::string_view::npos) alarm_ = true;
      if (trimmed.find("leap_none") != std::string_view::npos) alarm_ = false;
      return true;
    }
    if (!in_variables_ || trimmed.find('=') == std::string_view::npos || heading_after(one)) return false;
    for (const std::string_view item : split(trimmed, ',')) {
      const auto pair = key_value(item, '=');
      if (!pair) continue;
      const auto& [key, value] = *pair;
      const auto number = parse_real(value);
      if (key == "offset" || key == "rootdelay" || key == "rootdisp" || key == "sys_jitter") {
        if (!number) continue;
        put(reading_, "system." + std::string(key), *number, "ms");
        if (key == "offset") system_offset_ = *number;
        if (key == "rootdelay") root_delay_ = *number;
        if (key == "rootdisp") root_dispersion_ = *number;
      } else if (key == "stratum" && number) {
        system_stratum_ = static_cast<std::int32_t>(std::clamp(*number, 0.0, 16.0));
        put(reading_, "system.stratum", std::int64_t{system_stratum_});
      } else if (key == "leap") {
        alarm_ = value == "11" || value == "3";
        put(reading_, "system.leap", std::string(value));
      } else {
        if (key == "refid") system_reference_ = std::string(value);
        put(reading_, "system." + shorten(key, 40), std::string(value));
      }
    }
    return true;
  }

  static bool heading_after(const Line& one) { return is_heading(one.text); }

  void conclude() {
    clock::Statement statement;
    statement.witness = clock::Witness::Ntpd;
    statement.tool = "ntpq";
    statement.evidence = evidence_;
    if (!refusal_.empty() && peers_.empty()) {
      statement.why = "ntpq got no answer: " + refusal_;
    } else if (doubtful_ && !system_peer()) {
      incomplete(reading_, "tally", "the column of the tally was cut off: which server is the system peer is not known");
    } else if (heading_) {
      by_peers(statement);
    } else {
      by_variables(statement);
    }
    if (heading_ && system_offset_ && statement.state == clock::State::Synchronised) {
      statement.offset_s = -*system_offset_ / 1e3;
      if (root_delay_ && root_dispersion_) statement.bound_s = (std::abs(*system_offset_) + *root_dispersion_ + *root_delay_ / 2) / 1e3;
    }
    if (statement.offset_s) put(reading_, "offset", -*statement.offset_s, "s");
    clock::add(own_node(reading_).clock, std::move(statement));
  }

  void by_variables(clock::Statement& statement) const {
    statement.reference = system_reference_;
    statement.stratum = system_stratum_;
    if (own_clock(system_reference_)) {
      statement.state = clock::State::LocalOnly;
      statement.why = "ntpd: follows only its own clock";
    } else if (!alarm_) {
      statement.why = "ntpd: no leap indicator was printed";
    } else if (*alarm_ || system_stratum_ >= 16) {
      statement.state = clock::State::Unsynchronised;
      statement.why = "ntpd: not synchronised (leap indicator 11 or stratum 16)";
    } else {
      statement.state = clock::State::Synchronised;
      statement.why = fmt::format("ntpd: follows {} (stratum {})", system_reference_, system_stratum_);
      if (system_offset_) statement.offset_s = -*system_offset_ / 1e3;
      if (system_offset_ && root_delay_ && root_dispersion_) statement.bound_s = (std::abs(*system_offset_) + *root_dispersion_ + *root_delay_ / 2) / 1e3;
    }
  }

  // "o" marks the system peer whose seconds come from a PPS signal; the "*" row beside it only numbers them.
  const Peer* system_peer() const {
    for (const char tally : {'o', '*'}) {
      const auto found = std::find_if(peers_.begin(), peers_.end(), [&](const Peer& one) { return one.tally == tally; });
      if (found != peers_.end()) return &*found;
    }
    return nullptr;
  }

  void by_peers(clock::Statement& statement) {
    for (const Peer& peer : peers_) {
      if (peer.tally != 'x') continue;
      Finding finding = finding_of("clock-falseticker", peer.remote);
      finding.seen = fmt::format("{} ms", peer.offset_ms);
      finding.message = fmt::format("ntpd takes {} for a falseticker: its time contradicts the other servers", peer.remote);
      finding.evidence.push_back(evidence_of(peer.line, options_));
      reading_.findings.push_back(std::move(finding));
    }
    if (const Peer* peer = system_peer()) return by_system_peer(*peer, statement);

    std::vector<double> offsets;
    size_t servers = 0;
    bool all_young = true;
    for (const Peer& peer : peers_) {
      if (placeholder(peer)) continue;
      ++servers;
      if (peer.reach == 0 || peer.stratum >= 16) continue;
      offsets.push_back(peer.offset_ms);
      all_young = all_young && peer.reach < 0xFF && std::popcount(peer.reach) <= kYoungPolls;
    }
    statement.state = clock::State::Unsynchronised;
    put(reading_, "servers", static_cast<std::int64_t>(servers));
    put(reading_, "servers_reached", static_cast<std::int64_t>(offsets.size()));
    if (servers == 0) {
      statement.why = "ntpd: no server is configured";
    } else if (offsets.empty()) {
      statement.why = fmt::format("ntpd: no system peer, none of {} servers answers", servers);
    } else {
      const auto middle = offsets.begin() + static_cast<std::ptrdiff_t>(offsets.size() / 2);
      std::nth_element(offsets.begin(), middle, offsets.end());
      statement.offset_s = -*middle / 1e3;
      statement.starting = all_young;
      statement.why = all_young ? fmt::format("ntpd: no system peer yet, {} of {} servers answer since a moment", offsets.size(), servers)
                                : fmt::format("ntpd: no system peer, though {} of {} servers answer", offsets.size(), servers);
    }
  }

  void by_system_peer(const Peer& peer, clock::Statement& statement) {
    put(reading_, "system_peer", peer.remote);
    statement.evidence = evidence_of(peer.line, options_);
    statement.reference = peer.remote;
    if (peer.stratum < 16) statement.stratum = static_cast<std::int32_t>(peer.stratum) + 1;
    if (follows_itself(peer)) {
      statement.state = clock::State::LocalOnly;
      statement.why = fmt::format("ntpd: follows only its own clock ({})", peer.remote);
      return;
    }
    statement.server_is_local = server_follows_itself(peer);
    statement.offset_s = -peer.offset_ms / 1e3;
    statement.state = peer.reach == 0 ? clock::State::Lost : clock::State::Synchronised;
    statement.why = peer.reach == 0 ? fmt::format("ntpd: the system peer {} has not answered in the last 8 polls", peer.remote)
                                    : fmt::format("ntpd: follows {} (tally {})", peer.remote, peer.tally);
  }

  const ReadOptions& options_;
  Reading reading_{};
  std::vector<Peer> peers_{};
  Evidence evidence_{};
  std::string refusal_{};
  std::string wrapped_{};
  char wrapped_tally_{' '};
  size_t indent_{0};
  bool heading_{false};
  bool column_cut_{false};
  bool doubtful_{false};
  bool variables_{false};
  bool in_variables_{false};
  std::optional<bool> alarm_{};
  std::optional<double> system_offset_{};
  std::optional<double> root_delay_{};
  std::optional<double> root_dispersion_{};
  std::string system_reference_{};
  std::int32_t system_stratum_{16};
};

}  // namespace

int like_ntpq(std::string_view head) {
  for (const std::string_view line : split(head.substr(0, 8192), '\n')) {
    if (is_heading(line) && line.find("poll") != std::string_view::npos) return 95;
  }
  if (has_line(head, "associd=") && head.find("leap_") != std::string_view::npos) return 90;
  return head.find("ntpq: read: Connection refused") != std::string_view::npos || head.find("No association ID's returned") != std::string_view::npos ? 90 : 0;
}

Result<Reading> read_ntpq(std::string_view text, const ReadOptions& options) {
  PeersReader reader(options);
  for (const Line& one : lines_of(text, options)) reader.line(one);
  return reader.finish();
}

}  // namespace verl::diagnosis
