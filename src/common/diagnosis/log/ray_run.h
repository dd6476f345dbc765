// What Ray and verl tell over several lines: which versions do not fit, which address a node took, what a placement waits for,
// how far training is.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "diagnosis/log/events.h"
#include "diagnosis/log/line.h"
#include "diagnosis/reading.h"

namespace verl::log {

class RayRun {
 public:
  // Takes in a line that is not of NCCL. True when it says something we know.
  bool note(const Line& line);
  void finish(Events& events, diagnosis::Reading& reading);

 private:
  // A line kept for later: the views of a Line do not outlive it.
  struct Kept {
    std::int64_t number{0};
    std::string text{};
    std::string host{};
    std::string ip{};
    Line line() const;
  };
  struct Versions {
    std::string ray{};
    std::string python{};
  };

  static Kept keep(const Line& line);
  bool note_versions(const Line& line);
  void note_variables(const Line& line);
  void note_nodes(const Line& line);
  void note_request(const Line& line);
  bool note_step(const Line& line);
  void finish_versions(Events& events, diagnosis::Reading& reading);
  void finish_address(Events& events, diagnosis::Reading& reading);
  void finish_request(Events& events, diagnosis::Reading& reading);
  void finish_steps(Events& events, diagnosis::Reading& reading);
  void know_node(std::string_view address);

  std::int32_t block_lines_{0};  // of a version block that are still to come
  std::optional<Kept> versions_at_{};
  Versions cluster_{};
  Versions own_{};
  std::string versions_node_{};

  std::optional<Kept> local_at_{};
  std::string local_ip_{};
  std::string head_ip_{};
  std::string empty_variable_{};
  std::optional<Kept> empty_at_{};
  std::optional<Kept> timeout_at_{};
  std::optional<std::int64_t> alive_{};
  std::optional<std::int64_t> target_{};
  std::set<std::string> nodes_{};
  std::string last_node_{};

  std::optional<Kept> request_at_{};
  bool request_error_{false};
  std::string request_{};
  std::string request_ip_{};
  std::optional<std::int64_t> waiting_{};

  std::int64_t steps_{0};
  std::optional<std::int64_t> first_step_{};
  std::optional<std::int64_t> last_step_{};
  std::map<std::string, double> metrics_{};
  std::string not_finite_{};
  std::optional<Kept> not_finite_at_{};
  std::optional<std::int64_t> progress_{};
  std::optional<std::int64_t> progress_of_{};
  std::string resumed_{};
  std::map<std::string, std::string> said_{};  // other facts by the name of their value
};

}  // namespace verl::log
