// nccl-tests -J. The file holds the whole environment of the process, secrets too: it is dropped unread.
#include <set>

#include "diagnosis/benchmark/readers.h"
#include "diagnosis/fabric/json_text.h"

namespace verl::benchmark {
namespace {

using fabric::Json;

// NaN comes as a string.
std::optional<double> number_of(const Json& object, const char* key) {
  const std::string text = fabric::text_of(object, key);
  return text.empty() ? std::nullopt : fabric::parse_double(text);
}

std::string name_of_program(std::string_view arguments) {
  const auto words = split_whitespace(arguments);
  if (words.empty()) return {};
  const std::size_t slash = words[0].rfind('/');
  return std::string(slash == std::string_view::npos ? words[0] : words[0].substr(slash + 1));
}

std::string test_of(const Json& json) {
  const Json* arguments = fabric::member(json, "args");
  std::string said;
  if (arguments && arguments->is_array() && !arguments->empty() && (*arguments)[0].is_string()) said = name_of_program((*arguments)[0].get<std::string>());
  if (arguments && arguments->is_string()) said = name_of_program(arguments->get<std::string>());
  return said.ends_with("_perf") ? said : std::string();
}

}  // namespace

int likeness_nccl_tests_json(std::string_view head) {
  if (!trim(head).starts_with('{')) return 0;
  if (fabric::contains(head, "\"out_of_place\"") && fabric::contains(head, "\"bus_bw\"")) return 95;
  return fabric::contains(head, "\"nccl_version\"") && fabric::contains(head, "\"args\"") && fabric::contains(head, "\"start_time\"") ? 90 : 0;
}

Reading read_nccl_tests_json(std::string_view text, const ReadOptions& options) {
  const auto json = fabric::parse_json(text);
  if (!json) return failure(ErrorCode::Invalid, "not whole JSON");
  const Json* results = fabric::member(*json, "results");
  if (!results || !results->is_array()) return failure(ErrorCode::Invalid, "no results in it");
  fabric::Store store(options);
  if (fabric::member(*json, "env")) store.reading().skipped.emplace_back("env: the environment of the test, never read");
  const std::string test = test_of(*json);
  if (!test.empty()) store.value("test", test);
  for (const char* key : {"version", "nccl_version", "start_time", "end_time"}) {
    if (const std::string value = fabric::text_of(*json, key); !value.empty()) store.value(key, value);
  }
  std::set<std::string> hosts;
  std::int64_t ranks = 0;
  const Json* config = fabric::member(*json, "config");
  if (const Json* devices = config ? fabric::member(*config, "devices") : nullptr; devices && devices->is_array()) {
    ranks = static_cast<std::int64_t>(devices->size());
    for (const Json& device : *devices) {
      for (const char* key : {"hostname", "host"}) {
        if (const std::string host = fabric::text_of(device, key); !host.empty()) hosts.insert(host);
      }
    }
    store.value("ranks", ranks);
    store.value("hosts", static_cast<std::int64_t>(hosts.size()));
  }
  auto& measured = diagnosis::own_node(store.reading()).benchmark.measurements;
  std::int64_t rows = 0;
  std::int64_t wrong = 0;
  std::int64_t checked = 0;
  for (const Json& row : *results) {
    const auto size = fabric::integer_of(row, "size");
    const std::string path = "rows[" + std::to_string(rows++) + "].";
    if (!size || *size < 0) {
      store.incomplete(test.empty() ? "nccl-tests" : test, "a result without its size", {});
      continue;
    }
    store.value(path + "size", *size, "B");
    Measurement one;
    one.test = test;
    one.size = *size;
    one.line.source = store.document();
    one.network = !(hosts.size() == 1 && ranks > 0);
    if (ranks > 0) one.ranks = ranks;
    for (const char* half : {"out_of_place", "in_place"}) {
      const Json* at = fabric::member(row, half);
      if (!at) continue;
      const std::string where = path + half + ".";
      if (const auto time = number_of(*at, "time")) {
        store.value(where + "time", *time, "us");
        if (!one.latency_us || *time < *one.latency_us) one.latency_us = time;
      }
      if (const auto bandwidth = number_of(*at, "alg_bw")) store.value(where + "algorithm_bandwidth", *bandwidth, "GB/s");
      if (const auto bandwidth = number_of(*at, "bus_bw")) {
        store.value(where + "bus_bandwidth", *bandwidth, "GB/s");
        one.bus_gbytes_per_s = std::max(one.bus_gbytes_per_s.value_or(0), *bandwidth);
      }
      if (const auto bad = number_of(*at, "nwrong"); bad && *size > 0) {
        store.value(where + "wrong", *bad);
        ++checked;
        wrong += *bad > 0 ? 1 : 0;
      }
    }
    if (*size > 0 && measured.size() < 100'000) measured.push_back(std::move(one));
  }
  store.value("rows.count", rows);
  if (const Json* average = fabric::member(*json, "average_bus_bandwidth")) {
    if (const auto value = number_of(*average, "bandwidth")) store.value("average_bus_bandwidth", *value, "GB/s");
  }
  const std::string subject = test.empty() ? "nccl-tests" : test;
  if (wrong > 0) {
    diagnosis::Finding& one = store.finding("benchmark-correctness", subject, {});
    one.seen = std::to_string(wrong) + " results with wrong values";
    one.message = "the collective gave wrong data in " + std::to_string(wrong) + " results";
  } else if (checked == 0) {
    store.finding("benchmark-correctness-unknown", subject, {}).message = "the test ran without validation, so nothing says whether its data was right";
  }
  return store.take();
}

}  // namespace verl::benchmark
