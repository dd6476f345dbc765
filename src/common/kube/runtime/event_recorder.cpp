#include "kube/runtime/event_recorder.h"

#include <algorithm>
#include <utility>

#include "kube/protocol/watch_status.h"

namespace verl::kube {
namespace {

constexpr Seconds kCallTimeout{10};

bool is_retryable(int status) { return status == 429 || status >= 500; }

}  // namespace

EventRecorder::EventRecorder(Api& api, const Clock& clock, EventSource source, EventRecorderOptions options,
                             std::function<void(std::string_view line)> log)
    : api_(api), clock_(clock), options_(options), log_(std::move(log)), series_(std::move(source)),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

bool EventRecorder::record(EventNote note) {
  const std::lock_guard lock(mutex_);
  ++counts_.told;
  if (queue_.size() >= options_.queue) {
    ++counts_.dropped;
    return false;
  }
  queue_.push_back({.note = std::move(note), .at = clock_.now()});
  changed_.notify_all();
  return true;
}

bool EventRecorder::flush(Microseconds deadline) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, deadline, [this] { return queue_.empty() && !busy_; });
}

EventCounts EventRecorder::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

void EventRecorder::run(const std::stop_token& stop) {
  Instant swept = clock_.steady();
  while (!stop.stop_requested()) {
    std::optional<Told> told;
    {
      std::unique_lock lock(mutex_);
      busy_ = false;
      changed_.notify_all();
      const Instant now = clock_.steady();
      Instant wake = swept + options_.sweep_every;
      if (!again_.empty()) wake = std::min(wake, again_.front().due);
      changed_.wait_for(lock, stop, std::max(wake - now, std::chrono::nanoseconds{0}), [this] { return !queue_.empty(); });
      if (stop.stop_requested()) return;
      if (!queue_.empty()) {
        told = std::move(queue_.front());
        queue_.pop_front();
        busy_ = true;
      }
    }
    if (told) {
      if (auto write = series_.record(told->note, told->at)) send({.write = std::move(*write)}, stop);
    }
    const Instant now = clock_.steady();
    if (!again_.empty() && again_.front().due <= now) {
      Pending due = std::move(again_.front());
      again_.pop_front();
      send(std::move(due), stop);
    }
    if (now - swept >= options_.sweep_every) {
      swept = now;
      for (auto& write : series_.sweep(clock_.now())) send({.write = std::move(write)}, stop);
    }
  }
}

// All waits are equally long, so the end of the line is always the latest due.
void EventRecorder::send(Pending pending, const std::stop_token& stop) {
  const Outcome outcome = send_once(pending.write, stop);
  ++pending.tries;
  const std::lock_guard lock(mutex_);
  switch (outcome) {
    case Outcome::Written:
      ++counts_.written;
      break;
    case Outcome::Refused:
      ++counts_.refused;
      break;
    case Outcome::Stopped:
      break;
    case Outcome::Again:
      if (pending.tries >= options_.tries) {
        ++counts_.given_up;
      } else if (again_.size() >= options_.queue) {
        ++counts_.dropped;
      } else {
        pending.due = clock_.steady() + options_.retry_after;
        again_.push_back(std::move(pending));
      }
      break;
  }
}

EventRecorder::Outcome EventRecorder::send_once(EventWrite& write, const std::stop_token& stop) {
  Request request{.method = Method::Post,
                  .path = resource_path(kEvents, write.name_space),
                  .content_type = "application/json",
                  .body = write.create,
                  .timeout = kCallTimeout};
  if (!write.patch.empty()) {
    request.method = Method::Patch;
    request.path = resource_path(kEvents, write.name_space, write.name);
    request.content_type = "application/merge-patch+json";
    request.body = write.patch;
  }
  const auto reply = api_.send(request, stop);
  if (!reply) {
    if (stop.stop_requested()) return Outcome::Stopped;
    say("events cannot be written: " + reply.error().message);
    return Outcome::Again;
  }
  if (reply->status >= 200 && reply->status < 300) {
    said_.clear();
    return Outcome::Written;
  }
  if (request.method == Method::Post && reply->status == 409) return Outcome::Written;  // an earlier try, or another leader, wrote it
  if (request.method == Method::Patch && reply->status == 404) {
    write.patch.clear();  // it expired meanwhile: begin it again, with its count
    return send_once(write, stop);
  }
  const auto status = parse_watch_status(reply->body, reply->status);
  say("events cannot be written: " + std::to_string(status.code) + " " + status.reason + ": " + status.message);
  return is_retryable(reply->status) ? Outcome::Again : Outcome::Refused;
}

void EventRecorder::say(std::string line) {
  if (line == said_) return;
  said_ = std::move(line);
  if (log_) log_(said_);
}

}  // namespace verl::kube
