// What failed according to the lines: one group for each rule, host and subject; ranked by the order of blame; what only follows is
// folded into the cause. Memory is bounded: beyond kGroups sightings are counted by rule only.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "diagnosis/log/cause.h"
#include "diagnosis/log/facts.h"
#include "diagnosis/log/words.h"

namespace verl::log {

constexpr std::size_t kGroups = 512;
constexpr std::size_t kUnknownWarnings = 64;  // different texts of NCCL warnings that no cause knows

// What the rest of the log says, for rules whose meaning hangs on it.
struct Outlook {
  bool initialised{false};   // every communicator that began was completed
  bool several_hosts{false};
};

class Events {
 public:
  explicit Events(std::string source);

  // Looks for a cause in the line. True with an empty rule: there is one, but enough of its kind were taken apart already.
  bool find(const Line& line, Sighting& out);
  // Would find() find something?
  bool has_cause(const Line& line) const;
  void add(const Line& line, const std::string& process, Sighting sighting);
  void add_unknown_warning(const Line& line, const std::string& process);

  // Values "cause[i].…" in the order of blame, and the findings.
  void finish(const Outlook& outlook, diagnosis::Reading& reading);
  // Refused memory registrations by host: judged with the node's limits.
  const std::map<std::string, std::vector<Registration>>& registrations() const { return registrations_; }

 private:
  struct Group {
    Sighting sighting{};
    std::string host{};
    std::string process{};
    std::set<std::string> hosts{};
    std::int64_t count{0};
    std::int64_t line{0};
    std::string time{};
    std::vector<diagnosis::Evidence> evidence{};
  };

  diagnosis::Evidence evidence(const Line& line) const;
  void add_to(Group& group, const Line& line) const;
  void write_values(const Group& group, std::size_t index, diagnosis::Reading& reading) const;

  std::string source_;
  const std::vector<Cause>& causes_;
  const Words& words_;
  std::vector<std::int64_t> times_;  // by cause
  std::vector<Group> groups_{};
  std::unordered_map<std::string, std::size_t> by_key_{};
  std::unordered_map<std::string, std::size_t> unknown_{};
  std::map<std::string, std::int64_t> more_{};
  std::map<std::string, std::vector<Registration>> registrations_{};
  std::string key_{};  // scratch
};

}  // namespace verl::log
