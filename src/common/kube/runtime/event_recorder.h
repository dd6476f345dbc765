// Writes Events without ever holding up who tells them: a bounded queue, one thread, a bounded number of tries.
// Which Event to write is decided by protocol/event_series.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include "base/time.h"
#include "kube/protocol/backoff.h"
#include "kube/protocol/event_series.h"
#include "kube/protocol/http.h"

namespace verl::kube {

struct EventRecorderOptions {
  std::size_t queue{1000};          // told and not yet looked at; as many again may wait for another try
  int tries{12};
  Microseconds retry_after{Seconds{10}};
  Microseconds sweep_every{Seconds{60}};
};

struct EventCounts {
  std::uint64_t told{0};
  std::uint64_t written{0};
  std::uint64_t dropped{0};   // the queue was full
  std::uint64_t refused{0};   // the apiserver said no for good (403, 404, 422)
  std::uint64_t given_up{0};  // after the last try
  bool operator==(const EventCounts&) const = default;
};

class EventRecorder final {
 public:
  // `log` is called on the recorder's thread when writing begins to fail or an Event is refused; may be empty.
  EventRecorder(Api& api, const Clock& clock, EventSource source, EventRecorderOptions options = {},
                std::function<void(std::string_view line)> log = {});
  ~EventRecorder() = default;  // stops within a second; what is queued then is lost: flush() first

  // Never blocks. False when the queue was full; that is counted.
  bool record(EventNote note);

  // Waits until all that was told has been tried once, or for `deadline`; returns whether it was.
  bool flush(Microseconds deadline);

  EventCounts counts() const;

 private:
  struct Told {
    EventNote note{};
    Timestamp at{};
  };
  struct Pending {
    EventWrite write{};
    int tries{0};
    Instant due{};
  };
  enum class Outcome { Written, Refused, Again, Stopped };

  void run(const std::stop_token& stop);
  void send(Pending pending, const std::stop_token& stop);
  Outcome send_once(EventWrite& write, const std::stop_token& stop);
  void say(std::string line);

  Api& api_;
  const Clock& clock_;
  const EventRecorderOptions options_;
  const std::function<void(std::string_view)> log_;

  EventSeries series_;                  // only the thread's
  std::deque<Pending> again_{};         // only the thread's
  std::string said_{};                  // only the thread's

  mutable std::mutex mutex_{};
  std::condition_variable_any changed_{};
  std::deque<Told> queue_{};
  bool busy_{false};
  EventCounts counts_{};

  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace verl::kube
