// perftest --out_json. It prints no unit, but the rate of messages is always in millions a second, and rate times size tells
// which unit the bandwidth is in.
#include <cmath>

#include "diagnosis/benchmark/perftest.h"
#include "diagnosis/benchmark/readers.h"
#include "diagnosis/fabric/json_text.h"

namespace verl::benchmark {
namespace {

using fabric::Json;

std::optional<double> number_of(const Json& object, const char* key) {
  const std::string text = fabric::text_of(object, key);
  return text.empty() ? std::nullopt : fabric::parse_double(text);
}

std::string_view unit_by_rate(double bandwidth, double size, double million_messages) {
  const double bits = size * million_messages * 1e6 * 8;
  const auto near = [&](double value) { return value > 0 && std::abs(bandwidth - value) <= 0.02 * value; };
  if (near(bits / 1e9)) return "Gb/sec";
  if (near(bits / 8 / 1048576)) return "MiB/sec";
  return {};
}

}  // namespace

int likeness_perftest_json(std::string_view head) {
  return trim(head).starts_with('{') && fabric::contains(head, "\"test_info\"") ? 95 : 0;
}

Reading read_perftest_json(std::string_view text, const ReadOptions& options) {
  const auto json = fabric::parse_json(text);
  if (!json) return failure(ErrorCode::Invalid, "not whole JSON (perftest before 2024 and with --output or QoS writes none)");
  const Json* about = fabric::member(*json, "test_info");
  const Json* results = fabric::member(*json, "results");
  if (!about || !about->is_object() || !results) return failure(ErrorCode::Invalid, "no test_info and results in it");
  fabric::Store store(options);
  Run run;
  for (const auto& item : about->items()) {
    const std::string value = fabric::text_of(*about, item.key().c_str());
    if (item.key() == "test") {
      run.test = test_of_title(value);
      if (run.test.empty()) run.test = test_of_title(value + " Test");
      run.bidirectional = fabric::contains(value, "Bidirectional");
      store.value(run_path(run, "test"), run.test.empty() ? value : run.test);
      store.value(run_path(run, "bidirectional"), *run.bidirectional);
    } else {
      take_setting(store, run, item.key(), value, {});
    }
  }
  auto& measured = diagnosis::own_node(store.reading()).benchmark.measurements;
  const auto take = [&](const Json& row) {
    const auto size = fabric::integer_of(row, "MsgSize");
    if (!size || *size < 0 || measured.size() >= 10'000) return;
    Measurement one;
    one.test = run.test;
    one.size = *size;
    one.queue_pairs = run.queue_pairs;
    one.bidirectional = run.bidirectional;
    one.device = run.device;
    one.mtu = run.mtu;
    one.line.source = store.document();
    const std::string path = "rows[" + std::to_string(measured.size()) + "].";
    store.value(path + "size", *size, "B");
    if (const auto iterations = fabric::integer_of(row, "n_iterations")) store.value(path + "iterations", *iterations);
    const auto average = number_of(row, "BW_average");
    const auto rate = number_of(row, "MsgRate");
    if (rate) store.value(path + "message_rate", *rate, "Mpps");
    if (average) {
      const std::string_view unit = rate ? unit_by_rate(*average, static_cast<double>(*size), *rate) : std::string_view{};
      store.value(path + "bw_average", *average, unit == "Gb/sec" ? "Gb/s" : unit == "MiB/sec" ? "MiB/s" : "");
      if (const auto peak = number_of(row, "BW_peak")) store.value(path + "bw_peak", *peak, unit == "Gb/sec" ? "Gb/s" : unit == "MiB/sec" ? "MiB/s" : "");
      one.gbits_per_s = in_gbits(*average, unit);
      if (one.gbits_per_s) store.value(path + "bw_average_gbits", *one.gbits_per_s, "Gb/s");
      if (!one.gbits_per_s) store.incomplete(run.test, "the unit of the bandwidth is not told, nor can the rate of messages tell it", {});
    }
    constexpr std::pair<const char*, const char*> kLatencies[] = {{"t_min", "latency_min"},     {"t_max", "latency_max"},         {"t_typical", "latency_typical"},
                                                                  {"t_avg", "latency_average"}, {"t_stdev", "latency_deviation"}, {"percentile_99", "latency_p99"},
                                                                  {"percentile_99.9", "latency_p99_9"}};
    for (const auto& [key, name] : kLatencies) {
      if (const auto value = number_of(row, key)) store.value(path + name, *value, "us");
    }
    one.latency_us = number_of(row, "t_avg");
    if (one.queue_pairs) store.value(path + "queue_pairs", *one.queue_pairs);
    measured.push_back(std::move(one));
  };
  if (results->is_array()) {
    for (const Json& row : *results) take(row);
  } else {
    take(*results);
  }
  if (measured.empty()) store.incomplete(run.test, "no result in it", {});
  store.value("rows.count", static_cast<std::int64_t>(measured.size()));
  return store.take();
}

}  // namespace verl::benchmark
