#include "telemetry/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>
#include <unistd.h>

#include <cstdio>
#include <mutex>
#include <sstream>

namespace verl::telemetry {
namespace {

const prometheus::Histogram::BucketBoundaries kSeconds{0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60};

// Resident bytes from /proc/self/statm; 0 where that cannot be read.
double resident_bytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "re");
  if (file == nullptr) return 0;
  long total = 0;
  long resident = 0;
  const int read = std::fscanf(file, "%ld %ld", &total, &resident);
  std::fclose(file);
  return read == 2 ? static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE)) : 0;
}

}  // namespace

struct Metrics::State {
  prometheus::Registry registry{};
  std::mutex mutex{};
  std::map<std::string, prometheus::Family<prometheus::Counter>*, std::less<>> counters{};
  std::map<std::string, prometheus::Family<prometheus::Gauge>*, std::less<>> gauges{};
  std::map<std::string, prometheus::Family<prometheus::Histogram>*, std::less<>> histograms{};
};

Metrics::Metrics() : state_(std::make_unique<State>()) {}
Metrics::~Metrics() = default;

void Metrics::add(std::string_view name, std::string_view help, const MetricLabels& labels, double by) {
  const std::lock_guard lock(state_->mutex);
  auto& family = state_->counters[std::string(name)];
  if (family == nullptr) family = &prometheus::BuildCounter().Name(std::string(name)).Help(std::string(help)).Register(state_->registry);
  family->Add(labels).Increment(by);
}

void Metrics::set(std::string_view name, std::string_view help, const MetricLabels& labels, double value) {
  const std::lock_guard lock(state_->mutex);
  auto& family = state_->gauges[std::string(name)];
  if (family == nullptr) family = &prometheus::BuildGauge().Name(std::string(name)).Help(std::string(help)).Register(state_->registry);
  family->Add(labels).Set(value);
}

void Metrics::observe(std::string_view name, std::string_view help, const MetricLabels& labels, double seconds) {
  const std::lock_guard lock(state_->mutex);
  auto& family = state_->histograms[std::string(name)];
  if (family == nullptr) family = &prometheus::BuildHistogram().Name(std::string(name)).Help(std::string(help)).Register(state_->registry);
  family->Add(labels, kSeconds).Observe(seconds);
}

std::string Metrics::text() const {
  std::ostringstream out;
  prometheus::TextSerializer{}.Serialize(out, state_->registry.Collect());
  out << "# HELP process_resident_memory_bytes Resident memory size in bytes.\n# TYPE process_resident_memory_bytes gauge\n"
      << "process_resident_memory_bytes " << static_cast<long long>(resident_bytes()) << "\n";
  return out.str();
}

}  // namespace verl::telemetry
