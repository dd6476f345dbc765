// Counters, gauges and histograms by name, in Prometheus' text format. Names and labels are bounded: no pod, no message.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace verl::telemetry {

using MetricLabels = std::map<std::string, std::string>;

class Metrics final {
 public:
  Metrics();
  ~Metrics();

  void add(std::string_view name, std::string_view help, const MetricLabels& labels = {}, double by = 1);  // *_total
  void set(std::string_view name, std::string_view help, const MetricLabels& labels, double value);
  void observe(std::string_view name, std::string_view help, const MetricLabels& labels, double seconds);  // *_seconds

  std::string text() const;  // exposition format 0.0.4, process_* of this process included

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace verl::telemetry
