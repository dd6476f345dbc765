#include "kube/client/watchdog.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

namespace verl::kube {

Lifeline::~Lifeline() {
  if (socket_ >= 0) close(socket_);
}

void Lifeline::attach(int socket) {
  const std::lock_guard lock(mutex_);
  if (socket_ >= 0) close(socket_);
  socket_ = fcntl(socket, F_DUPFD_CLOEXEC, 3);
}

void Lifeline::cut() {
  const std::lock_guard lock(mutex_);
  if (socket_ >= 0) shutdown(socket_, SHUT_RDWR);
}

bool Lifeline::is_quiet() const {
  const std::lock_guard lock(mutex_);
  if (socket_ < 0) return false;
  pollfd wanted{.fd = socket_, .events = POLLIN | POLLRDHUP, .revents = 0};
  return poll(&wanted, 1, 0) == 0;
}

Watchdog::Watch::Watch(Watchdog& dog, std::shared_ptr<Lifeline> line, SteadyTime deadline, std::chrono::milliseconds silence)
    : dog_(dog),
      line_(std::move(line)),
      deadline_(deadline),
      silence_(silence),
      last_heard_(std::chrono::steady_clock::now().time_since_epoch().count()) {
  const std::lock_guard lock(dog_.mutex_);
  dog_.watches_.push_back(this);
  dog_.kicked_ = true;
  dog_.changed_.notify_all();
}

Watchdog::Watch::~Watch() {
  const std::lock_guard lock(dog_.mutex_);
  dog_.watches_.erase(std::find(dog_.watches_.begin(), dog_.watches_.end(), this));
}

void Watchdog::Watch::heard() { last_heard_ = std::chrono::steady_clock::now().time_since_epoch().count(); }

void Watchdog::Watch::cut(CutReason reason) {
  CutReason none = CutReason::None;
  reason_.compare_exchange_strong(none, reason);
  line_->cut();
  const std::lock_guard lock(dog_.mutex_);
  dog_.kicked_ = true;
  dog_.changed_.notify_all();
}

Watchdog::Watchdog() : thread_([this] { run(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

Watchdog::SteadyTime Watchdog::look_at(Watch& watch, SteadyTime now) {
  SteadyTime next = watch.deadline_;
  CutReason due = watch.deadline_ <= now ? CutReason::OutOfTime : CutReason::None;
  if (watch.silence_.count() > 0) {
    const SteadyTime silent_at = SteadyTime(SteadyTime::duration(watch.last_heard_.load())) + watch.silence_;
    if (silent_at <= now && due == CutReason::None) due = CutReason::Silent;
    next = std::min(next, silent_at);
  }
  if (due != CutReason::None) {
    CutReason none = CutReason::None;
    watch.reason_.compare_exchange_strong(none, due);
  }
  if (watch.reason_ == CutReason::None) return next;
  // Repeated until the exchange is gone: a socket that was not yet connected cannot be shut down.
  watch.line_->cut();
  return now + std::chrono::milliseconds(50);
}

void Watchdog::run() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    const SteadyTime now = std::chrono::steady_clock::now();
    SteadyTime next = now + std::chrono::hours(1);
    for (Watch* watch : watches_) next = std::min(next, look_at(*watch, now));
    kicked_ = false;
    changed_.wait_until(lock, next, [&] { return stop_ || kicked_; });
  }
}

}  // namespace verl::kube
