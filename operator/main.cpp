// verl-operator: options, parts, run. What it decides is in operator/core.
#include <fmt/format.h>
#include <malloc.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <random>
#include <thread>

#include "base/read_file.h"
#include "kube/client/http_api.h"
#include "kube/client/load_config.h"
#include "kube/client/sigpipe.h"
#include "kube/protocol/user_agent.h"
#include "kube/runtime/event_recorder.h"
#include "kube/runtime/leader_elector.h"
#include "operator/controller/caches.h"
#include "operator/controller/executor.h"
#include "operator/controller/loop.h"
#include "operator/controller/presets.h"
#include "operator/controller/server_time.h"
#include "operator/options.h"
#include "operator/snapshot/config.h"
#include "telemetry/http_server.h"
#include "telemetry/log.h"
#include "telemetry/metrics.h"

extern char** environ;

namespace {

using namespace verl;
using telemetry::Level;

void info(std::string_view line) { telemetry::log(Level::Info, line); }
void warn(std::string_view line) { telemetry::log(Level::Warn, line); }

int fail(const std::string& sentence) {
  telemetry::log(Level::Error, sentence);
  return 1;
}

Level level_of(const std::string& word) {
  return word == "debug" ? Level::Debug : word == "warn" ? Level::Warn : word == "error" ? Level::Error : Level::Info;
}

Result<std::string> read_small_file(const std::string& path) {
  auto file = read_file(path, Bytes{kMiB.count});
  if (!file) return tl::unexpected<Error>(file.error());
  return std::move(file->text);
}

std::string random_suffix() {
  std::random_device device;
  return fmt::format("{:08x}", device());
}

// First lists are megabytes of text among small values that stay. By default glibc soon takes such blocks from the heap, where
// what stays above them keeps them resident, and gives each of our threads a heap of its own: with two, 4 MiB more stay.
void keep_memory_small() {
  ::mallopt(M_MMAP_THRESHOLD, 256 * 1024);
  ::mallopt(M_TRIM_THRESHOLD, 1024 * 1024);
  ::mallopt(M_ARENA_MAX, 1);
}

int run(const OperatorOptions& options, sigset_t& signals) {
  const auto text = read_small_file(options.config_file);
  if (!text) return fail(text.error().message);
  auto file = snapshot::parse_config(*text);
  if (!file) return fail(options.config_file + ": " + file.error().message);
  const auto key_text = read_small_file(options.token_key_file);
  if (!key_text) return fail(key_text.error().message);
  const auto key = controller::TokenKey::from_text(*key_text);
  if (!key) return fail(options.token_key_file + ": " + key.error().message);
  std::vector<std::pair<std::string, std::string>> presets;
  for (const std::string& path : file->presets) {
    auto preset = read_small_file(path);
    if (!preset) return fail(preset.error().message);
    presets.emplace_back(path, std::move(*preset));
  }

  const auto client = kube::load_client_config(options.kube, kube::client_environment(environ));
  if (!client) return fail("finding the cluster: " + client.error().message);
  core::Config config = file->config;
  config.tools_image = options.tools_image;
  config.name_space = !options.name_space.empty() ? options.name_space : client->name_space;
  const kube::LeaderOptions election{.name_space = config.name_space,
                                     .name = "verl-operator",
                                     .identity = (options.identity.empty() ? "verl-operator" : options.identity) + "_" + random_suffix(),
                                     .lease_duration = options.lease_duration,
                                     .renew_deadline = options.renew_deadline,
                                     .retry_period = options.retry_period};
  if (const std::string problem = kube::options_problem(election); !problem.empty()) return fail("leader election: " + problem);

  auto connected = kube::connect(*client, {.user_agent = kube::user_agent("verl-operator", VERL_VERSION, "operator"), .warn = warn});
  if (!connected) return fail("connecting: " + connected.error().message);
  const SystemClock clock;
  controller::ServerTime time(clock);
  controller::TimedApi api(**connected, time);
  telemetry::Metrics metrics;
  std::atomic<bool> leading{false};
  std::atomic<bool> lost{false};

  controller::Loop* loop_to_wake = nullptr;
  std::atomic<bool> loop_ready{false};
  controller::Caches caches(api, clock, config.name_space, [&] { if (loop_ready) loop_to_wake->wake(); }, warn);
  kube::EventRecorder events(api, clock, {.controller = "verl.run/operator", .instance = election.identity}, {}, warn);

  std::stop_source election_stop;
  std::stop_source work_stop;
  kube::LeaderElector* asked = nullptr;
  kube::LeaderElector elector(api, clock, election,
                              {.on_started = [&](const kube::LeaderTerm&) { info("leading as " + election.identity); leading = true; },
                               .on_lost = [&](std::string_view reason) {
                                 warn(fmt::format("leadership is lost: {}", reason));
                                 lost = true;
                                 leading = false;
                                 work_stop.request_stop();
                                 ::kill(::getpid(), SIGTERM);
                               },
                               .on_new_holder = [](std::string_view holder) { info(fmt::format("the leader is {}", holder)); },
                               .log = warn});
  asked = &elector;
  controller::Executor executor({.api = api, .caches = caches, .events = events, .key = *key, .may_write = [&] { return asked->is_leading(); },
                                 .log = warn, .name_space = config.name_space});
  controller::Loop loop({.caches = caches, .executor = executor, .time = time, .clock = clock, .metrics = metrics, .config = config,
                         .may_write = [&] { return asked->is_leading(); }, .log = info,
                         .on_filled = [] { ::malloc_trim(0); }});  // the holes that the texts of the first lists have left
  loop_to_wake = &loop;
  loop_ready = true;

  std::vector<std::unique_ptr<telemetry::HttpServer>> servers;
  const auto serve = [&](int port, std::map<std::string, std::function<telemetry::Page()>> pages) -> std::string {
    if (port == 0) return "";
    auto server = telemetry::HttpServer::start("0.0.0.0", port, std::move(pages));
    if (!server) return server.error().message;
    servers.push_back(std::move(*server));
    return "";
  };
  const auto healthz = [] { return telemetry::Page{200, "ok\n"}; };
  const auto readyz = [&] {
    const std::string trouble = caches.trouble();
    return caches.synced() ? telemetry::Page{200, "ok\n" + trouble} : telemetry::Page{503, "caches are not filled yet\n" + trouble};
  };
  const auto metric_text = [&] {
    metrics.set("leader_election_master_status", "1 while this process leads.", {{"name", "verl-operator"}}, leading ? 1 : 0);
    return telemetry::Page{200, metrics.text()};
  };
  for (const std::string& problem : {serve(options.health_port, {{"/healthz", healthz}, {"/readyz", readyz}, {"/livez", healthz}}),
                                     serve(options.metrics_port, {{"/metrics", metric_text}})}) {
    if (!problem.empty()) return fail(problem);
  }

  caches.start();
  std::jthread election_thread([&] { elector.run(election_stop.get_token()); });
  std::jthread work([&] {
    const std::stop_token stop = work_stop.get_token();
    while (!leading && !stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const auto term = elector.term();
    if (!term || stop.stop_requested()) return;
    // Without its preset a fresh cluster has no policy and no fit node, so a failed attempt is repeated.
    std::jthread preset_thread([&](std::stop_token presets_stop) {
      std::mutex mutex;
      std::condition_variable_any never;
      while (!presets_stop.stop_requested() && !controller::create_presets(api, presets, warn, presets_stop)) {
        std::unique_lock lock(mutex);
        never.wait_for(lock, presets_stop, std::chrono::seconds(30), [] { return false; });
      }
    });
    loop.run(term->acquired_at, stop);
  });

  int signal_number = 0;
  sigwait(&signals, &signal_number);
  info(lost ? "stopping, for another may lead now" : fmt::format("stopping on signal {}", signal_number));
  work_stop.request_stop();
  loop.wake();
  work.join();
  events.flush(std::chrono::seconds(1));
  election_stop.request_stop();  // gives the lease back, after the writers have stopped
  election_thread.join();
  caches.stop();
  return lost ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  keep_memory_small();
  kube::ignore_sigpipe();
  // Every thread inherits the mask; only main waits for the signals.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  const ParsedOptions parsed = parse_options(argc, argv);
  if (!parsed.run) return parsed.exit_code;
  telemetry::set_level(level_of(parsed.run->log_level));
  return run(*parsed.run, signals);
}
