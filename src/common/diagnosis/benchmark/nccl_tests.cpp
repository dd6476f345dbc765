// nccl-tests as text, of all generations: 12 or 13 columns, one half or two, "error" or "#wrong", with or without root, jitter
// columns, prefixes of launchers, and lines of NCCL in between. The header's words name the columns; a row is found by its
// type. The printed average runs over all sizes and both halves, so it is a value and never judged.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "base/text.h"
#include "diagnosis/benchmark/readers.h"
#include "diagnosis/fabric/store.h"

namespace verl::benchmark {
namespace {

using fabric::contains;
using fabric::Line;
using fabric::Store;
using Words = std::vector<std::string_view>;

constexpr std::array<std::string_view, 14> kTypes{"float", "half", "double", "bfloat16", "int8", "uint8", "int32", "uint32", "int64", "uint64", "char", "int", "f8e4m3", "f8e5m2"};

bool is_type(std::string_view word) { return std::find(kTypes.begin(), kTypes.end(), word) != kTypes.end() || word == "fp8_e4m3" || word == "fp8_e5m2"; }

bool is_header(const Words& words) {
  return std::find(words.begin(), words.end(), "busbw") != words.end() && std::find(words.begin(), words.end(), "time") != words.end();
}

std::string_view after_hash(std::string_view line) {
  const std::size_t hash = line.find('#');
  return hash == std::string_view::npos ? std::string_view{} : trim(line.substr(hash + 1));
}

struct Half {
  std::optional<double> time_us{};
  std::optional<double> algorithm{};
  std::optional<double> bus{};
  std::optional<double> wrong{};  // nothing: N/A
};

struct Row {
  std::int64_t size{0};
  std::int64_t count{0};
  std::string_view type{};
  std::string_view redop{};
  std::string_view root{};
  std::vector<Half> halves{};  // out-of-place, in-place
};

// What the columns behind "type" are, when no header was seen: by their number.
Words columns_by_count(std::size_t count) {
  Words columns;
  if (count == 6 || count == 10) columns = {"redop", "root"};
  if (count == 5 || count == 9) columns = {"redop"};
  const std::size_t halves = count >= 8 ? 2 : count >= 4 ? 1 : 0;
  for (std::size_t i = 0; i < halves; ++i) columns.insert(columns.end(), {"time", "algbw", "busbw", "#wrong"});
  return columns.size() == count ? columns : Words{};
}

// Position of the first word of the row behind whatever a launcher wrote before it.
std::optional<std::size_t> type_at(const Words& words) {
  for (std::size_t i = 2; i < words.size() && i < 16; ++i) {
    if (is_type(words[i]) && fabric::parse_double(words[i - 1]) && fabric::parse_double(words[i - 2])) return i;
  }
  return std::nullopt;
}

std::optional<Row> row_of(const Words& words, Words columns) {
  const auto type = type_at(words);
  if (!type) return std::nullopt;
  Row row;
  const auto size = fabric::parse_double(words[*type - 2]);
  const auto count = fabric::parse_double(words[*type - 1]);
  constexpr double kLargest = 9e15;
  if (!size || !count || *size < 0 || *count < 0 || *size > kLargest || *count > kLargest) return std::nullopt;
  row.size = static_cast<std::int64_t>(*size);
  row.count = static_cast<std::int64_t>(*count);
  row.type = words[*type];
  const Words rest(words.begin() + static_cast<std::ptrdiff_t>(*type) + 1, words.end());
  if (columns.empty()) columns = columns_by_count(rest.size());
  const std::size_t halves = static_cast<std::size_t>(std::count(columns.begin(), columns.end(), "time"));
  if (halves == 0 || rest.size() < columns.size()) {
    // The in-place half is left out where a collective has none.
    const auto second = halves == 2 ? std::find(std::find(columns.begin(), columns.end(), "time") + 1, columns.end(), "time") : columns.end();
    if (second == columns.end() || rest.size() != static_cast<std::size_t>(second - columns.begin())) return std::nullopt;
    columns.erase(second, columns.end());
  }
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i] == "redop") row.redop = rest[i];
    if (columns[i] == "root") row.root = rest[i];
    if (columns[i] == "time") row.halves.emplace_back();
    const auto number = fabric::parse_double(rest[i]);
    const bool not_told = rest[i] == "N/A";
    if (row.halves.empty() || columns[i] == "redop" || columns[i] == "root") continue;
    Half& half = row.halves.back();
    if (!number && !not_told && rest[i] != "nan" && rest[i] != "inf") return std::nullopt;
    if (columns[i] == "time") half.time_us = number;
    if (columns[i] == "algbw") half.algorithm = number;
    if (columns[i] == "busbw") half.bus = number;
    if (columns[i] == "#wrong" || columns[i] == "error") half.wrong = number;
  }
  return row;
}

class Reader final {
 public:
  explicit Reader(const ReadOptions& options) : store_(options) {}

  void take(const Line& line) {
    if (line.bare.empty() || line.bare == "#") return;
    const std::string_view comment = after_hash(line.bare);
    const Words words = split_whitespace(comment.empty() ? line.bare : comment);
    if (!comment.empty() && !type_at(split_whitespace(line.bare))) return take_comment(comment, words, line);
    if (contains(line.bare, "NCCL INFO") || contains(line.bare, "NCCL TRACE") || line.bare.starts_with("NCCL version")) {
      ++nccl_lines_;
      return;
    }
    if (const auto row = row_of(split_whitespace(line.bare), columns_)) return write(*row, line);
    if (type_at(split_whitespace(line.bare))) return store_.incomplete(test_.empty() ? "nccl-tests" : test_, "a row with cells missing or damaged", line);
    if (contains(line.bare, "Test NCCL failure") || contains(line.bare, "Test CUDA failure") || contains(line.bare, "Test failure") || contains(line.bare, "test timeout")) {
      diagnosis::Finding& failed = store_.finding("benchmark-failed", test_.empty() ? "nccl-tests" : test_, line);
      failed.seen = shorten(line.bare, 120);
      failed.message = "the test failed: " + shorten(line.bare, 200);
      return;
    }
    if (std::all_of(line.bare.begin(), line.bare.end(), [](char c) { return c == '-' || c == '='; })) return;
    store_.unread(line, contains(line.bare, "NCCL WARN") ? "a warning of NCCL: read the text as a log" : "neither a row nor a comment of nccl-tests");
  }

  Reading finish() {
    auto& all = diagnosis::own_node(store_.reading()).benchmark.measurements;
    if (rows_ == 0 && columns_.empty()) return failure(ErrorCode::Invalid, "no table of nccl-tests in it");
    if (rows_ == 0) store_.incomplete(test_.empty() ? "nccl-tests" : test_, "the table has no row: the test was cut off or did not finish", {});
    if (nccl_lines_ > 0) store_.reading().skipped.push_back(std::to_string(nccl_lines_) + " lines of NCCL's own log between the rows: read them as a log");
    const std::size_t ranks = ranks_.size();
    infer_test(static_cast<double>(ranks));
    const bool one_host = hosts_.size() == 1 && ranks > 0;
    store_.value("rows.count", rows_);
    store_.value("rows.measured", static_cast<std::int64_t>(all.size()));
    if (ranks > 0) store_.value("ranks", static_cast<std::int64_t>(ranks));
    if (ranks > 0) store_.value("hosts", static_cast<std::int64_t>(hosts_.size()));
    if (one_host) store_.value("single_host", true);
    const auto best = [&](std::size_t half, const char* name) {
      if (best_[half].first < 0) return;
      store_.value(std::string("best.") + name + ".bus_bandwidth", best_[half].first, "GB/s");
      store_.value(std::string("best.") + name + ".size", best_[half].second, "B");
    };
    best(0, "out_of_place");
    best(1, "in_place");
    for (Measurement& one : all) {
      one.test = test_;
      one.network = !one_host;
      if (ranks > 0) one.ranks = static_cast<std::int64_t>(ranks);
    }
    judge_correctness();
    return store_.take();
  }

 private:
  void take_comment(std::string_view comment, const Words& words, const Line& line) {
    if (is_header(words)) {
      const auto type = std::find(words.begin(), words.end(), "type");
      columns_.clear();
      if (type != words.end()) {
        for (auto one = type + 1; one != words.end(); ++one) columns_.push_back(names_.insert(std::string(*one)).first->data());
      }
      return;
    }
    if (comment.starts_with("Rank ")) return take_rank(words);
    const auto pair = fabric::key_value(comment);
    if (comment.starts_with("Collective test starting") && pair) {
      test_ = std::string(pair->value);
      return store_.value("test", test_);
    }
    if (comment.starts_with("nccl-tests version") && words.size() >= 3) {
      store_.value("nccl_tests_version", std::string(words[2]));
      for (const std::string_view word : words) {
        const auto value = fabric::key_value(word, '=');
        if (value && value->key == "nccl-library") store_.value("nccl_library", std::string(value->value));
        if (value && value->key == "nccl-headers") store_.value("nccl_headers", std::string(value->value));
      }
      return;
    }
    if (comment.starts_with("nThread")) return take_arguments(words);
    if (comment.starts_with("Out of bounds values") && pair) {
      const Words said = split_whitespace(pair->value);
      const auto number = said.empty() ? std::nullopt : parse_int(said[0]);
      if (number) store_.value("out_of_bounds", *number);
      if (said.size() > 1) store_.value("out_of_bounds.verdict", std::string(said[1]));
      if (number && *number > 0) out_of_bounds_ = line;
      return;
    }
    if (comment.starts_with("Avg bus bandwidth") && pair) {
      const Words said = split_whitespace(pair->value);
      const auto number = said.empty() ? std::nullopt : fabric::parse_double(said[0]);
      if (number) store_.value("average_bus_bandwidth", *number, "GB/s");
      return;
    }
  }

  void take_rank(const Words& words) {
    constexpr std::size_t kMost = 100'000;
    if (words.size() < 2 || ranks_.size() >= kMost) return;
    const auto rank = parse_int(words[1]);
    if (!rank) return;
    ranks_.insert(*rank);
    for (std::size_t i = 2; i + 1 < words.size(); ++i) {
      if (words[i] == "on") hosts_.insert(std::string(words[i + 1]));
    }
  }

  // "nThread 1 nGpus 8 minBytes 1 ... warmup iters: 5 iters: 20 agg iters: 1 validation: 0 graph: 0"
  void take_arguments(const Words& words) {
    std::string key;
    for (const std::string_view word : words) {
      const auto number = parse_int(word.substr(0, word.find('(')));
      if (!number) {
        if (!key.empty()) key += "_";
        key += word.ends_with(':') ? word.substr(0, word.size() - 1) : word;
        continue;
      }
      if (!key.empty()) store_.value("arguments." + key, *number);
      if (key == "validation") validated_ = *number != 0;
      key.clear();
    }
  }

  void write(const Row& row, const Line& line) {
    constexpr std::int64_t kMostRows = 20'000;
    if (rows_ >= kMostRows) return store_.unread(line, "more rows than are kept");
    const std::string path = "rows[" + std::to_string(rows_++) + "].";
    store_.value(path + "size", row.size, "B");
    store_.value(path + "count", row.count);
    store_.value(path + "type", std::string(row.type));
    if (!row.redop.empty()) store_.value(path + "redop", std::string(row.redop));
    if (!row.root.empty()) store_.value(path + "root", std::string(row.root));
    Measurement one;
    one.size = row.size;
    one.line = store_.evidence(line);
    for (std::size_t i = 0; i < row.halves.size() && i < 2; ++i) {
      const Half& half = row.halves[i];
      const std::string at = path + (i == 0 ? "out_of_place." : "in_place.");
      if (half.time_us) store_.value(at + "time", *half.time_us, "us");
      if (half.algorithm) store_.value(at + "algorithm_bandwidth", *half.algorithm, "GB/s");
      if (half.bus) store_.value(at + "bus_bandwidth", *half.bus, "GB/s");
      if (half.wrong) store_.value(at + "wrong", *half.wrong);
      if (row.size > 0) {
        (half.wrong ? checked_ : unchecked_) += 1;
        if (half.wrong && *half.wrong > 0) wrong_.push_back(line);
      }
      if (row.size > 0 && half.bus) {
        one.bus_gbytes_per_s = std::max(one.bus_gbytes_per_s.value_or(0), *half.bus);
        if (*half.bus > best_[i].first) best_[i] = {*half.bus, row.size};
        if (half.algorithm && *half.algorithm > 0) ratio_ = *half.bus / *half.algorithm;
      }
      if (half.time_us && (!one.latency_us || *half.time_us < *one.latency_us)) one.latency_us = half.time_us;
    }
    // With no byte moved there is nothing measured but the start.
    if (row.size > 0) diagnosis::own_node(store_.reading()).benchmark.measurements.push_back(std::move(one));
  }

  // Old builds do not name the test; the ratio of bus to algorithm bandwidth names all-reduce alone.
  void infer_test(double ranks) {
    if (!test_.empty() || ranks < 3 || !ratio_) return;
    if (std::abs(*ratio_ - 2 * (ranks - 1) / ranks) > 0.01) return;
    test_ = "all_reduce_perf";
    store_.value("test", test_);
    store_.value("test.inferred", true);
  }

  void judge_correctness() {
    const std::string subject = test_.empty() ? "nccl-tests" : test_;
    if (!wrong_.empty() || out_of_bounds_) {
      diagnosis::Finding& one = store_.finding("benchmark-correctness", subject, wrong_.empty() ? *out_of_bounds_ : wrong_.front());
      one.seen = std::to_string(wrong_.size()) + " rows with wrong values";
      one.message = "the collective gave wrong data in " + std::to_string(wrong_.size()) + " cells of the table";
    } else if (unchecked_ > 0 && checked_ == 0) {
      diagnosis::Finding& one = store_.finding("benchmark-correctness-unknown", subject, {});
      one.seen = "N/A";
      one.message = "the test ran without validation, so nothing says whether its data was right";
    }
    if (validated_) store_.value("validated", *validated_);
    store_.value("correctness", std::string(!wrong_.empty() || out_of_bounds_ ? "wrong" : checked_ > 0 ? "right" : "unknown"));
  }

  Store store_;
  Words columns_{};                    // behind "type"; they point into names_
  std::set<std::string> names_{};
  std::string test_{};
  std::set<std::int64_t> ranks_{};
  std::set<std::string> hosts_{};
  std::vector<Line> wrong_{};
  std::optional<Line> out_of_bounds_{};
  std::optional<bool> validated_{};
  std::optional<double> ratio_{};
  std::array<std::pair<double, std::int64_t>, 2> best_{{{-1, 0}, {-1, 0}}};
  std::int64_t rows_{0};
  std::int64_t checked_{0};
  std::int64_t unchecked_{0};
  std::int64_t nccl_lines_{0};
};

}  // namespace

int likeness_nccl_tests(std::string_view head) {
  bool devices = false;
  for (const Line& line : fabric::lines_of(head)) {
    if (!contains(line.bare, "#")) continue;
    const std::string_view comment = after_hash(line.bare);
    if (is_header(split_whitespace(comment))) return 96;
    devices = devices || comment.starts_with("nThread ") || comment.starts_with("nccl-tests version");
  }
  return devices ? 90 : 0;
}

Reading read_nccl_tests(std::string_view text, const ReadOptions& options) {
  Reader reader(options);
  for (const Line& line : fabric::lines_of(text, options.strip_comment_prefix)) reader.take(line);
  return reader.finish();
}

}  // namespace verl::benchmark
