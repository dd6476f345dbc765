// A client against a scripted server, with a clock and waits that take no time.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "kube/client/http_api.h"
#include "kube/client/load_config.h"
#include "kube/client/token_credentials.h"
#include "tests/scripted-server/scripted_server.h"

namespace verl::kube {

// Files as texts; counts reads.
class Files final {
 public:
  void set(const std::string& path, std::string text, bool others_can_read = false);
  void remove(const std::string& path);
  int reads(const std::string& path) const;
  ReadFile reader() const;  // shares this object's state

 private:
  struct State {
    mutable std::mutex mutex{};
    std::map<std::string, FileText> files{};
    std::map<std::string, int> reads{};
  };
  std::shared_ptr<State> state_{std::make_shared<State>()};
};

// Moves as told, from any thread.
class TestClock final : public Clock {
 public:
  Timestamp now() const override;
  std::chrono::steady_clock::time_point steady() const override;
  void advance(std::chrono::milliseconds by);

 private:
  mutable std::mutex mutex_{};
  std::chrono::milliseconds passed_{std::chrono::hours(1)};
};

// Notes the waits and advances the clock instead.
class TestSleeper final : public Sleeper {
 public:
  explicit TestSleeper(std::shared_ptr<TestClock> clock) : clock_(std::move(clock)) {}
  bool wait(std::chrono::milliseconds time, std::stop_token stop) override;
  std::vector<std::chrono::milliseconds> waits() const;

 private:
  std::shared_ptr<TestClock> clock_;
  mutable std::mutex mutex_{};
  std::vector<std::chrono::milliseconds> waits_{};
};

struct TestClient {
  std::shared_ptr<TestClock> clock{std::make_shared<TestClock>()};
  std::shared_ptr<TestSleeper> sleeper{std::make_shared<TestSleeper>(clock)};
  Files files{};
  std::shared_ptr<std::vector<std::string>> said{std::make_shared<std::vector<std::string>>()};  // warnings and debug lines; read when no call runs
  ClientConfig config{};
  ApiOptions options{};

  // Takes server address, CA and a token from the server; further fields of `config` and `options` may be set before connect().
  explicit TestClient(const scripted::ScriptedServer& server);
  std::unique_ptr<HttpApi> connect(std::unique_ptr<Credentials> credentials = nullptr);
};

Request get(std::string path);
void expect_error(const Result<Reply>& reply, ErrorCode code, const std::string& part_of_message);

// Keeps what a stream delivers; may end it.
class Recorder final : public StreamSink {
 public:
  bool on_reply(int status, std::optional<Seconds>, std::optional<Timestamp>) override;
  bool on_bytes(std::string_view bytes) override;
  int status{0};
  std::string text{};
  std::vector<std::string> pieces{};
  std::size_t most_pieces{1000000};
};

}  // namespace verl::kube
