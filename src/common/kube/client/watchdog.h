// Ends exchanges that must end now: a deadline passed, silence lasted too long, somebody asked to stop.
// It shuts the socket down under the blocked thread, which then finds its read or write failed. Shutting down works during
// connect, TLS handshake and transfer alike, so one mechanism covers them all.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace verl::kube {

enum class CutReason { None, OutOfTime, Silent, Retired, Cancelled };

// Holds a duplicate of a connection's descriptor, so that the number cannot come to mean another socket while it is used.
class Lifeline final {
 public:
  Lifeline() = default;
  ~Lifeline();
  Lifeline(const Lifeline&) = delete;
  Lifeline& operator=(const Lifeline&) = delete;

  void attach(int socket);   // duplicates it; replaces what was attached
  void cut();                // shuts the socket down; may be repeated
  bool is_quiet() const;     // nothing to read: an idle connection with something to read was closed by the server

 private:
  mutable std::mutex mutex_{};
  int socket_{-1};
};

class Watchdog final {
 public:
  using SteadyTime = std::chrono::steady_clock::time_point;

  // One exchange under watch. Movable times are atomic so that every received byte can extend the silence limit cheaply.
  class Watch final {
   public:
    Watch(Watchdog& dog, std::shared_ptr<Lifeline> line, SteadyTime deadline, std::chrono::milliseconds silence);
    ~Watch();
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

    void heard();                   // a byte came
    void cut(CutReason reason);     // from any thread; the first reason stays
    CutReason reason() const { return reason_.load(); }

   private:
    friend class Watchdog;
    Watchdog& dog_;
    std::shared_ptr<Lifeline> line_;
    const SteadyTime deadline_;
    const std::chrono::milliseconds silence_;
    std::atomic<SteadyTime::rep> last_heard_;
    std::atomic<CutReason> reason_{CutReason::None};
  };

  Watchdog();
  ~Watchdog();

 private:
  void run();
  SteadyTime look_at(Watch& watch, SteadyTime now);  // cuts when due; returns when to look again

  std::mutex mutex_{};
  std::condition_variable changed_{};
  std::vector<Watch*> watches_{};
  bool kicked_{false};
  bool stop_{false};
  std::thread thread_{};
};

}  // namespace verl::kube
