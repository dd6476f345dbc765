#include "tests/scripted-server/script.h"

#include <fmt/format.h>

#include <algorithm>

#include "tests/scripted-server/live_body.h"

namespace verl::scripted {
namespace {

bool takes(const Expectation& expectation, const Seen& seen) {
  if (expectation.method != seen.method || expectation.path != seen.path) return false;
  for (const auto& wanted : expectation.query) {
    if (seen.parameter(wanted.first) != wanted.second) return false;
  }
  for (const std::string& name : expectation.absent) {
    if (seen.parameter(name).has_value()) return false;
  }
  return !expectation.also || expectation.also(seen);
}

}  // namespace

std::optional<std::string> Seen::parameter(std::string_view name) const {
  for (const auto& pair : query) {
    if (pair.first == name) return pair.second;
  }
  return std::nullopt;
}

std::string Seen::header(std::string_view lower_case_name) const {
  for (const auto& pair : headers) {
    if (pair.first == lower_case_name) return pair.second;
  }
  return "";
}

std::string describe(const Seen& seen) { return fmt::format("{} {} on connection {}", seen.method, seen.target, seen.connection); }

void Script::add(Expectation expectation) {
  const std::lock_guard lock(mutex_);
  lines_.push_back(Line{.expectation = std::move(expectation)});
}

std::optional<Answer> Script::answer(const Seen& seen) {
  std::function<Answer(const Seen&)> maker;
  {
    const std::lock_guard lock(mutex_);
    seen_.push_back(seen);
    const auto line = std::find_if(lines_.begin(), lines_.end(), [&](const Line& candidate) {
      const int times = candidate.expectation.times;
      return (times == kAnyTimes || candidate.used < times) && takes(candidate.expectation, seen);
    });
    if (line == lines_.end()) return std::nullopt;
    ++line->used;
    if (!line->expectation.answer_by) return line->expectation.answer;
    maker = line->expectation.answer_by;
  }
  return maker(seen);
}

std::vector<Seen> Script::seen() const {
  const std::lock_guard lock(mutex_);
  return seen_;
}

std::vector<std::string> Script::unused() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> out;
  for (const Line& line : lines_) {
    if (line.expectation.times == kAnyTimes || line.used == line.expectation.times) continue;
    out.push_back(fmt::format("{} {}: used {} of {} times", line.expectation.method, line.expectation.path, line.used,
                              line.expectation.times));
  }
  return out;
}

LiveBody::LiveBody() : state_(std::make_unique<State>()) {}
LiveBody::~LiveBody() = default;

void LiveBody::push(std::string bytes) {
  const std::lock_guard lock(state_->mutex);
  state_->pieces.push_back(std::move(bytes));
  state_->changed.notify_all();
}

void LiveBody::end(End how) {
  const std::lock_guard lock(state_->mutex);
  state_->end = how;
  state_->changed.notify_all();
}

bool LiveBody::wait_opened(Milliseconds limit) {
  std::unique_lock lock(state_->mutex);
  return state_->changed.wait_for(lock, limit, [&] { return state_->opened; });
}

bool LiveBody::wait_client_gone(Milliseconds limit) {
  std::unique_lock lock(state_->mutex);
  return state_->changed.wait_for(lock, limit, [&] { return state_->client_gone; });
}

Answer json(int status, std::string body, Fields headers) {
  headers.emplace_back("Content-Type", "application/json");
  Answer answer{.status = status, .headers = std::move(headers)};
  answer.pieces.push_back(Piece{.bytes = std::move(body)});
  return answer;
}

Answer watch_of(std::vector<std::string> lines, End end) {
  Answer answer{.headers = {{"Content-Type", "application/json"}}, .framing = Framing::Chunked, .end = end};
  for (std::string& line : lines) answer.pieces.push_back(Piece{.bytes = std::move(line) + "\n"});
  return answer;
}

Answer live_watch(std::shared_ptr<LiveBody> body) {
  return Answer{.headers = {{"Content-Type", "application/json"}}, .framing = Framing::Chunked, .live = std::move(body)};
}

Answer no_answer(End end) { return Answer{.status = 0, .end = end}; }

}  // namespace verl::scripted
