// perftest as text. Client and server often share one file: headers come twice, rows once or twice, lines of both in between. So
// nothing hangs on order but this: a title after rows begins another run. A row that was there before is no second measurement.
#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.h"
#include "diagnosis/benchmark/perftest.h"
#include "diagnosis/benchmark/readers.h"

namespace verl::benchmark {
namespace {

using fabric::contains;
using fabric::Line;
using fabric::Store;

// In the table's header, in any order and number; the unit stands in brackets behind.
struct ColumnKind {
  std::string_view heading{};
  std::string_view name{};
};
constexpr std::array<ColumnKind, 19> kColumns{{{"#bytes", "size"},
                                               {"#iterations", "iterations"},
                                               {"BW peak", "bw_peak"},
                                               {"BW average", "bw_average"},
                                               {"MsgRate[", "message_rate"},
                                               {"t_min", "latency_min"},
                                               {"t_max", "latency_max"},
                                               {"t_typical", "latency_typical"},
                                               {"t_avg", "latency_average"},
                                               {"t_stdev", "latency_deviation"},
                                               {"99% percentile", "latency_p99"},
                                               {"99.9% percentile", "latency_p99_9"},
                                               {"tps average", "transactions_per_second"},
                                               {"CPU_Util", "cpu"},
                                               {"#sl", "service_level"},
                                               {"BW Port1", "bw_port1"},
                                               {"MsgRate Port1", "message_rate_port1"},
                                               {"BW Port2", "bw_port2"},
                                               {"MsgRate Port2", "message_rate_port2"}}};

struct Column {
  std::size_t at{0};
  std::string_view name{};
  std::string unit{};
};

std::string unit_at(std::string_view header, std::size_t at) {
  const std::size_t open = header.find('[', at);
  const std::size_t close = header.find(']', at);
  if (open == std::string_view::npos || close == std::string_view::npos || close < open || open - at > 18) return {};
  return std::string(header.substr(open + 1, close - open - 1));
}

std::vector<Column> columns_of(std::string_view header) {
  std::vector<Column> columns;
  for (const ColumnKind& kind : kColumns) {
    const std::size_t at = header.find(kind.heading);
    if (at == std::string_view::npos) continue;
    Column column;
    column.at = at;
    column.name = kind.name;
    column.unit = unit_at(header, at);
    columns.push_back(std::move(column));
  }
  std::sort(columns.begin(), columns.end(), [](const Column& a, const Column& b) { return a.at < b.at; });
  return columns;
}

bool is_header(std::string_view line) { return contains(line, "#bytes") && (contains(line, "BW average") || contains(line, "t_avg") || contains(line, "t_min")); }

std::string_view unit_name(std::string_view unit) {
  if (unit == "Gb/sec") return "Gb/s";
  if (unit == "MB/sec" || unit == "MiB/sec") return "MiB/s";
  if (unit == "usec") return "us";
  return unit;
}

// Text that stands beside results and says nothing about them.
bool is_quiet(std::string_view line) {
  constexpr std::array<std::string_view, 14> kQuiet{"Conflicting CPU frequency", "Waiting for client", "Device not recognized", "Perftest doesn't supports CUDA", "ethernet_read_keys",
                                                    "Preparing",                  "initializing CUDA",  "Listing all CUDA",      "CUDA device ",                  "Picking device",
                                                    "creating CUDA Ctx",          "making it the current", "cuMemAlloc",         "allocated GPU buffer"};
  if (std::all_of(line.begin(), line.end(), [](char c) { return c == '-' || c == '*' || c == ' '; })) return true;
  return std::any_of(kQuiet.begin(), kQuiet.end(), [&](std::string_view one) { return contains(line, one); });
}

bool is_failure(std::string_view line) {
  constexpr std::array<std::string_view, 16> kFailures{"Couldn't connect to",   "Unable to ",          "Failed to ",         "state is Down",          "Failed status",     " Failed-status",
                                                       "Completion with error", "Found Incompatibility", "Couldn't ",       "IB device ",             "Did not detect",    "below bw limit",
                                                       "below msgrate limit",   "Failed to exchange",  "Segmentation fault", "Problems with warm up"};
  return std::any_of(kFailures.begin(), kFailures.end(), [&](std::string_view one) { return contains(line, one); });
}

class Reader final {
 public:
  explicit Reader(const ReadOptions& options) : store_(options) {}

  void take(const Line& line) {
    if (line.bare.empty()) return;
    if (const std::string test = test_of_title(line.bare); !test.empty()) return take_title(test, line);
    if (is_header(line.bare)) {
      columns_ = columns_of(line.bare);
      return;
    }
    if (contains(line.bare, "address:") && contains(line.bare, "LID")) return take_address(line);
    if (line.bare.starts_with("GID:")) return take_gid(line);
    if (std::isdigit(static_cast<unsigned char>(line.bare.front())) != 0 && !columns_.empty() && take_row(line)) return;
    if (is_failure(line.bare)) {
      diagnosis::Finding& failed = store_.finding("benchmark-failed", run_.test.empty() ? "perftest" : run_.test, line);
      failed.seen = shorten(line.bare, 120);
      failed.message = "the test did not run: " + shorten(line.bare, 200);
      failed_ = true;
      return;
    }
    if (is_quiet(line.bare)) return;
    if (!take_settings(line)) store_.unread(line, "not a line of perftest");
  }

  Reading finish() {
    close_run();
    const auto& measured = diagnosis::own_node(store_.reading()).benchmark.measurements;
    if (measured.empty() && !failed_) {
      if (run_.test.empty() && columns_.empty()) return failure(ErrorCode::Invalid, "no test of perftest in it");
      store_.incomplete(run_.test.empty() ? "perftest" : run_.test, "the table has no row: the test was cut off or did not finish", {});
    }
    if (repeated_ > 0) store_.value("rows.repeated", repeated_);
    store_.value("rows.count", static_cast<std::int64_t>(measured.size()));
    best();
    return store_.take();
  }

 private:
  std::vector<Measurement>& measured() { return diagnosis::own_node(store_.reading()).benchmark.measurements; }

  void take_title(const std::string& test, const Line& line) {
    if (run_.rows > 0 && (rows_since_title_ > 0)) {
      close_run();
      const std::size_t next = run_.number + 1;
      run_ = Run{};
      run_.number = next;
      first_ = measured().size();
    }
    rows_since_title_ = 0;
    const bool both = contains(line.bare, "Bidirectional");
    if (run_.test == test && run_.bidirectional == both) return;
    run_.test = test;
    run_.bidirectional = both;
    store_.value(run_path(run_, "test"), test);
    store_.value(run_path(run_, "bidirectional"), both);
  }

  void take_address(const Line& line) {
    local_ = !contains(line.bare, "remote");
    const auto words = split_whitespace(line.bare);
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
      if (words[i] != "LID") continue;
      const auto lid = fabric::hex_or_decimal(words[i + 1]);
      if (lid && *lid != 0) (local_ ? run_.local_lids : run_.remote_lids).insert(std::string(words[i + 1]));
      store_.value(run_path(run_, local_ ? "local_lid" : "remote_lid"), std::string(words[i + 1]));
    }
  }

  void take_gid(const Line& line) {
    const std::string gid(trim(line.bare.substr(4)));
    if (run_.local_gids.size() > 64 || run_.remote_gids.size() > 64) return;
    (local_ ? run_.local_gids : run_.remote_gids).insert(gid);
    store_.value(run_path(run_, local_ ? "local_gid" : "remote_gid"), gid);
  }

  // "KEY : VALUE", two a line, parted by two blanks or a tab.
  bool take_settings(const Line& line) {
    std::string_view rest = line.bare;
    bool any = false;
    while (!rest.empty()) {
      const std::size_t colon = rest.find(':');
      if (colon == std::string_view::npos || (colon + 1 < rest.size() && rest[colon + 1] != ' ')) return any;
      const std::string_view key = trim(rest.substr(0, colon));
      rest = rest.substr(colon + 1);
      while (rest.starts_with(' ')) rest.remove_prefix(1);
      const std::size_t gap = std::min(rest.find("  "), rest.find('\t'));
      const std::string_view value = trim(rest.substr(0, gap));
      rest = gap == std::string_view::npos ? std::string_view{} : trim(rest.substr(gap));
      if (key.empty() || key.size() > 40) return any;
      take_setting(store_, run_, key, value, line);
      any = true;
    }
    return any;
  }

  bool take_row(const Line& line) {
    const auto words = split_whitespace(line.bare);
    const auto size = parse_int(words[0]);
    if (!size || *size < 0) return false;
    if (words.size() < columns_.size()) {
      store_.incomplete(run_.test, "a row with " + std::to_string(words.size()) + " of " + std::to_string(columns_.size()) + " cells", line);
      return true;
    }
    Measurement one;
    one.test = run_.test;
    one.size = *size;
    one.queue_pairs = run_.queue_pairs;
    one.bidirectional = run_.bidirectional;
    one.device = run_.device;
    one.mtu = run_.mtu;
    std::vector<std::pair<std::string, diagnosis::Value>> values;
    std::optional<double> iterations;
    bool number = true;
    std::optional<double> average;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const auto value = fabric::parse_double(words[i]);
      if (!value) {
        number = false;
        break;
      }
      if (columns_[i].name == "iterations") iterations = value;
      if (columns_[i].name == "bw_average") {
        average = value;
        one.gbits_per_s = in_gbits(*value, columns_[i].unit);
      }
      if (columns_[i].name == "latency_average" || (columns_[i].name == "latency_typical" && !one.latency_us)) one.latency_us = value;
    }
    if (!number || (average && *average <= 0)) {
      diagnosis::Finding& failed = store_.finding("benchmark-failed", run_.test.empty() ? "perftest" : run_.test, line);
      failed.seen = shorten(line.bare, 120);
      failed.message = std::to_string(*size) + " B: the row holds no bandwidth" + (iterations && *iterations == 0 ? ", nothing was sent" : "");
      failed_ = true;
      return true;
    }
    const bool known = std::any_of(measured().begin() + static_cast<std::ptrdiff_t>(measured().size() > kLook ? measured().size() - kLook : 0), measured().end(),
                                   [&](const Measurement& other) { return same(one, other); });
    ++rows_since_title_;
    if (known) {
      ++repeated_;
      return true;
    }
    if (measured().size() >= kMostRows) {
      store_.unread(line, "more rows than are kept");
      return true;
    }
    write_row(line, words, one);
    return true;
  }

  static bool same(const Measurement& a, const Measurement& b) {
    return a.test == b.test && a.size == b.size && a.queue_pairs == b.queue_pairs && a.bidirectional == b.bidirectional && a.gbits_per_s == b.gbits_per_s &&
           a.latency_us == b.latency_us && a.device == b.device;
  }

  void write_row(const Line& line, const std::vector<std::string_view>& words, Measurement one) {
    const std::string path = "rows[" + std::to_string(measured().size()) + "].";
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const auto whole = parse_int(words[i]);
      const std::string name = path + std::string(columns_[i].name);
      if (columns_[i].name == "size") {
        store_.value(name, one.size, "B");
      } else if (columns_[i].name == "iterations" && whole) {
        store_.value(name, *whole);
      } else {
        store_.value(name, *fabric::parse_double(words[i]), unit_name(columns_[i].unit));
      }
    }
    if (one.gbits_per_s) store_.value(path + "bw_average_gbits", *one.gbits_per_s, "Gb/s");
    if (one.queue_pairs) store_.value(path + "queue_pairs", *one.queue_pairs);
    if (one.bidirectional) store_.value(path + "bidirectional", *one.bidirectional);
    one.line = store_.evidence(line);
    ++run_.rows;
    measured().push_back(std::move(one));
  }

  void close_run() {
    const auto looped = loopback(run_);
    if (looped) store_.value(run_path(run_, "loopback"), *looped);
    if (!looped || !*looped) return;
    for (std::size_t i = first_; i < measured().size(); ++i) measured()[i].network = false;
  }

  void best() {
    const auto& all = measured();
    const auto most = std::max_element(all.begin(), all.end(), [](const Measurement& a, const Measurement& b) { return a.gbits_per_s.value_or(-1) < b.gbits_per_s.value_or(-1); });
    if (most == all.end() || !most->gbits_per_s) return;
    store_.value("best.bw_average_gbits", *most->gbits_per_s, "Gb/s");
    store_.value("best.size", most->size, "B");
  }

  static constexpr std::size_t kMostRows = 20'000;
  static constexpr std::size_t kLook = 256;  // rows back that a repeated one may lie
  Store store_;
  Run run_{};
  std::vector<Column> columns_{};
  std::size_t first_{0};
  std::int64_t repeated_{0};
  std::int64_t rows_since_title_{0};
  bool local_{true};
  bool failed_{false};
};

}  // namespace

int likeness_perftest(std::string_view head) {
  bool title = false;
  for (const Line& line : fabric::lines_of(head)) {
    if (is_header(line.bare)) return 95;
    title = title || !test_of_title(line.bare).empty();
  }
  return title ? 80 : 0;
}

Reading read_perftest(std::string_view text, const ReadOptions& options) {
  Reader reader(options);
  for (const Line& line : fabric::lines_of(text, options.strip_comment_prefix)) reader.take(line);
  return reader.finish();
}

}  // namespace verl::benchmark
