#include "node-agent/incontainer/settings.h"

#include <charconv>

namespace verl::incontainer {

Settings read_settings(const std::map<std::string, std::string>& environment) {
  Settings settings{};
  const auto text = [&](const char* name) {
    const auto found = environment.find(name);
    return found == environment.end() ? std::string() : found->second;
  };
  const auto number = [&](const char* name, bool needed, std::uint64_t& into) {
    const std::string value = text(name);
    if (value.empty() && !needed) return;
    if (value.empty()) return settings.faults.push_back(std::string(name) + " is empty; the operator sets it in every pod");
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), into);
    if (error != std::errc{} || end != value.data() + value.size()) settings.faults.push_back(std::string(name) + " is not a number: " + value);
  };
  number("VERL_RUN_SHM_BYTES", true, settings.wanted.shm_bytes);
  number("VERL_RUN_GPUS", true, settings.wanted.gpus);
  number("VERL_RUN_RDMA_DEVICES", false, settings.wanted.rdma_devices);
  const std::string numa = text("VERL_RUN_NUMA");
  if (numa == "Required") {
    settings.wanted.numa = Numa::Required;
  } else if (numa == "None") {
    settings.wanted.numa = Numa::None;
  } else if (!numa.empty() && numa != "Preferred") {
    settings.faults.push_back("VERL_RUN_NUMA is " + numa + ", wants Required, Preferred or None");
  }
  if (const std::string log = text("VERL_RUN_TERMINATION_LOG"); !log.empty()) settings.termination_log = log;
  return settings;
}

}  // namespace verl::incontainer
