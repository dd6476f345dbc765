// Credential plugins: the call, the cache, one run for many, and a plugin that hangs.
#include <sys/stat.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "kube/client/exec_credentials.h"
#include "kube/protocol/exec_credential.h"
#include "tests/unit/kube/client/client_fixture.h"

namespace verl::kube {
namespace {

using scripted::json;
using scripted::ScriptedServer;
using std::chrono::milliseconds;

constexpr const char* kVersion = "client.authentication.k8s.io/v1";
constexpr const char* kPods = "/api/v1/pods";

std::string answer_with(const std::string& status) {
  return std::string(R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":)") + status + "}";
}

ClientConfig plugin_config() {
  return ClientConfig{.server = {.host = "h"}, .exec = ExecPlugin{.api_version = kVersion, .command = "login"}};
}

// A plugin that answers what it is told and counts its runs.
struct FakePlugin {
  std::shared_ptr<std::atomic<int>> runs{std::make_shared<std::atomic<int>>(0)};
  std::shared_ptr<std::string> answer{std::make_shared<std::string>()};
  RunPlugin run() const {
    return [runs_ = runs, answer_ = answer](const PluginCall&, milliseconds, std::stop_token) -> Result<std::string> {
      ++*runs_;
      return *answer_;
    };
  }
};

TEST(ExecPlugin, X3_TwentyThreadsCauseOneRun) {
  std::atomic<int> runs{0};
  const RunPlugin slow = [&runs](const PluginCall&, milliseconds, std::stop_token) -> Result<std::string> {
    ++runs;
    std::this_thread::sleep_for(milliseconds(50));
    return answer_with(R"({"token":"t"})");
  };
  const auto credentials = make_exec_credentials(plugin_config(), std::make_shared<TestClock>(), slow);
  std::vector<std::thread> threads;
  std::atomic<int> granted{0};
  for (int i = 0; i < 20; ++i) {
    threads.emplace_back([&] {
      const auto grant = credentials->grant(std::chrono::seconds(5), {});
      if (grant.has_value() && grant->authorization == "Bearer t") ++granted;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(granted, 20);
}

TEST(ExecPlugin, X3_TheOthersShareTheFailureToo) {
  std::atomic<int> runs{0};
  std::atomic<bool> go{false};
  const RunPlugin failing = [&](const PluginCall&, milliseconds, std::stop_token) -> Result<std::string> {
    ++runs;
    while (!go) std::this_thread::yield();
    return failure(ErrorCode::Denied, "it failed with exit code 1");
  };
  const auto credentials = make_exec_credentials(plugin_config(), std::make_shared<TestClock>(), failing);
  std::thread first([&] { EXPECT_FALSE(credentials->grant(std::chrono::seconds(5), {}).has_value()); });
  while (runs == 0) std::this_thread::yield();
  std::stop_source stop;
  std::thread stopped([&] { EXPECT_EQ(credentials->grant(std::chrono::seconds(5), stop.get_token()).error().code, ErrorCode::Cancelled); });
  stop.request_stop();
  stopped.join();
  EXPECT_EQ(credentials->grant(milliseconds(1), {}).error().code, ErrorCode::Timeout) << "a waiter has its own deadline";
  go = true;
  first.join();
  EXPECT_EQ(runs, 1);
}

TEST(ExecPlugin, X4_ACredentialIsKeptUntilItExpires) {
  const auto clock = std::make_shared<TestClock>();
  FakePlugin plugin;
  *plugin.answer = answer_with(R"({"token":"t","expirationTimestamp":")" + format_rfc3339(clock->now() + Seconds(60)) + "\"}");
  const auto credentials = make_exec_credentials(plugin_config(), clock, plugin.run());
  EXPECT_TRUE(credentials->grant(std::chrono::seconds(1), {}).has_value());
  clock->advance(Seconds(59));
  EXPECT_TRUE(credentials->grant(std::chrono::seconds(1), {}).has_value());
  EXPECT_EQ(*plugin.runs, 1);
  clock->advance(Seconds(1));
  EXPECT_TRUE(credentials->grant(std::chrono::seconds(1), {}).has_value());
  EXPECT_EQ(*plugin.runs, 2);
}

TEST(ExecPlugin, X4_X5_WithoutExpiryItIsKeptUntilA401AndThenRunOnce) {
  ScriptedServer server;
  server.expect({.path = kPods, .answer = json(200, "{}")});
  server.expect({.path = kPods, .answer = json(401, "{}")});
  server.expect({.path = kPods, .answer = json(200, "{}")});
  TestClient client(server);
  client.config.token.clear();
  client.config.exec = plugin_config().exec;
  FakePlugin plugin;
  *plugin.answer = answer_with(R"({"token":"one"})");
  const auto api = client.connect(make_exec_credentials(client.config, client.clock, plugin.run()));
  EXPECT_EQ(api->send(get(kPods), {})->status, 200);
  client.clock->advance(std::chrono::hours(1000));
  *plugin.answer = answer_with(R"({"token":"two"})");
  EXPECT_EQ(api->send(get(kPods), {})->status, 200);
  EXPECT_EQ(*plugin.runs, 2);
  EXPECT_EQ(server.seen().at(1).header("authorization"), "Bearer one");
  EXPECT_EQ(server.seen().at(2).header("authorization"), "Bearer two");
}

TEST(ExecPlugin, X5_A401OfATokenThatWasRotatedMeanwhileRunsNothing) {
  const auto clock = std::make_shared<TestClock>();
  FakePlugin plugin;
  *plugin.answer = answer_with(R"({"token":"new"})");
  const auto credentials = make_exec_credentials(plugin_config(), clock, plugin.run());
  EXPECT_TRUE(credentials->grant(std::chrono::seconds(1), {}).has_value());
  EXPECT_TRUE(credentials->refused(Grant{.authorization = "Bearer old"}, clock->steady()));
  EXPECT_EQ(credentials->grant(std::chrono::seconds(1), {})->authorization, "Bearer new");
  EXPECT_EQ(*plugin.runs, 1);
}

TEST(ExecPlugin, X7_ANewCertificateClosesConnectionsAndANewTokenClosesNone) {
  ScriptedServer server;
  server.expect({.path = kPods, .answer = json(200, "{}"), .times = 3});
  TestClient client(server);
  client.config.token.clear();
  client.config.exec = plugin_config().exec;
  const auto issue = [&](const std::string& name, const std::string& token) {
    const scripted::Identity identity = server.ca().issue({.common_name = name});
    const auto escaped = [](std::string text) {
      for (size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2) text.replace(at, 1, "\\n");
      return text;
    };
    return std::pair(answer_with("{\"token\":\"" + token + "\",\"expirationTimestamp\":\"2020-01-01T00:00:00Z\",\"clientCertificateData\":\"" +
                                 escaped(identity.certificate_pem) + "\",\"clientKeyData\":\"" + escaped(identity.key_pem) + "\"}"),
                     identity);
  };
  FakePlugin plugin;
  std::string first = issue("first", "one").first;
  *plugin.answer = first;
  const auto api = client.connect(make_exec_credentials(client.config, client.clock, plugin.run()));
  EXPECT_EQ(api->send(get(kPods), {})->status, 200);
  *plugin.answer = first.replace(first.find("\"one\""), 5, "\"two\"");
  EXPECT_EQ(api->send(get(kPods), {})->status, 200);
  *plugin.answer = issue("second", "two").first;
  EXPECT_EQ(api->send(get(kPods), {})->status, 200);
  const auto seen = server.seen();
  EXPECT_EQ(seen.at(0).client_name, "first");
  EXPECT_EQ(seen.at(1).connection, 1) << "a new token alone closes nothing";
  EXPECT_EQ(seen.at(1).header("authorization"), "Bearer two");
  EXPECT_EQ(seen.at(2).connection, 2);
  EXPECT_EQ(seen.at(2).client_name, "second");
}

TEST(ExecPlugin, X10_AMissingCommandShowsItsInstallHintWithoutControlCharacters) {
  ClientConfig config = plugin_config();
  config.exec->command = "no-such-login-plugin";
  config.exec->install_hint = "install\x1b[2J it";
  const auto grant = make_exec_credentials(config, std::make_shared<TestClock>())->grant(std::chrono::seconds(1), {});
  ASSERT_FALSE(grant.has_value());
  EXPECT_EQ(grant.error().message, "credential plugin no-such-login-plugin: there is no such command. install\\x1b[2J it");
}

class Script final {
 public:
  explicit Script(const std::string& body) {
    std::string name = "/tmp/verl-plugin-XXXXXX";
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    std::ofstream(path()) << "#!/bin/sh\n" << body << "\n";
    chmod(path().c_str(), 0700);
  }
  ~Script() {
    std::remove(path().c_str());
    std::remove(folder_.c_str());
  }
  Script(const Script&) = delete;
  Script& operator=(const Script&) = delete;
  std::string path() const { return folder_ + "/plugin"; }

 private:
  std::string folder_;
};

TEST(ExecPlugin, X2_TheCallCarriesEnvironmentArgumentsAndExecInfo) {
  const Script script(R"(printf '%s|%s|%s|%s|' "$1" "$FROM_PROCESS" "$BOTH" "$KUBERNETES_EXEC_INFO"; read -r line; printf '%s' "[$line]")");
  ClientConfig config = plugin_config();
  config.exec->env = {{"BOTH", "configured"}, {"BOTH", "later"}};
  config.process_environment = {"PATH=/usr/bin:/bin", "FROM_PROCESS=yes", "BOTH=process"};
  const PluginCall call{.command = script.path(), .args = {"a b"}, .environment = plugin_environment(config)};
  const auto output = run_plugin(call, std::chrono::seconds(10), {});
  ASSERT_TRUE(output.has_value()) << output.error().message;
  EXPECT_EQ(*output, "a b|yes|later|" R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","spec":{"interactive":false}})" "|[]");
}

TEST(ExecPlugin, X11_APluginThatHangsIsKilledWithAllItStarted) {
  const Script script("sleep 60 & sleep 60");
  const auto start = std::chrono::steady_clock::now();
  const auto output = run_plugin({.command = script.path(), .environment = {"PATH=/usr/bin:/bin"}}, milliseconds(200), {});
  ASSERT_FALSE(output.has_value());
  EXPECT_EQ(output.error(), (Error{.code = ErrorCode::Timeout, .message = "it did not end within 200 ms and was killed"}));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(3));
}

TEST(ExecPlugin, X11_AStopKillsItToo) {
  const Script script("sleep 60");
  std::stop_source stop;
  std::thread stopper([&] {
    std::this_thread::sleep_for(milliseconds(50));
    stop.request_stop();
  });
  const auto start = std::chrono::steady_clock::now();
  const auto output = run_plugin({.command = script.path(), .environment = {"PATH=/usr/bin:/bin"}}, std::chrono::seconds(30), stop.get_token());
  stopper.join();
  EXPECT_EQ(output.error().code, ErrorCode::Cancelled);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
}

TEST(ExecPlugin, AFailingPluginIsQuotedAndAFloodIsCut) {
  const Script failing("echo 'please log in' >&2; exit 3");
  const auto output = run_plugin({.command = failing.path(), .environment = {"PATH=/usr/bin:/bin"}}, std::chrono::seconds(10), {});
  EXPECT_EQ(output.error(), (Error{.code = ErrorCode::Denied, .message = "it failed with exit code 3 and said: please log in"}));
  const Script flood("yes");
  EXPECT_EQ(run_plugin({.command = flood.path(), .environment = {"PATH=/usr/bin:/bin"}}, std::chrono::seconds(20), {}).error().code, ErrorCode::TooLarge);
}

}  // namespace
}  // namespace verl::kube
