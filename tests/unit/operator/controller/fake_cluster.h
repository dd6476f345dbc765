// An apiserver for the operator's edge: serves lists and watches that a test fills, answers writes as a test says, and keeps
// what was asked. What a test did not foresee fails it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "kube/protocol/http.h"
#include "operator/controller/caches.h"

namespace verl::controller::testing {

inline std::string status_text(int code, const std::string& reason, const std::string& message, const std::string& name = "") {
  return R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":")" + message + R"(","reason":")" + reason +
         R"(","details":{"name":")" + name + R"("},"code":)" + std::to_string(code) + "}";
}

inline kube::Reply refusal(int code, const std::string& reason, const std::string& message, const std::string& name = "") {
  return {.status = code, .body = status_text(code, reason, message, name)};
}

// "POST /api/v1/namespaces/rl/pods", with " dry-run" behind it where it is one.
inline std::string line_of(const kube::Request& request) {
  constexpr const char* kWords[] = {"GET", "POST", "PUT", "PATCH", "DELETE"};
  const bool dry = std::any_of(request.query.begin(), request.query.end(), [](const kube::Header& one) { return one.name == "dryRun"; });
  return std::string(kWords[static_cast<int>(request.method)]) + " " + request.path + (dry ? " dry-run" : "");
}

class FakeCluster final : public kube::Api {
 public:
  using Answer = std::function<Result<kube::Reply>(const kube::Request& request)>;

  FakeCluster() {
    serve("/api/v1/nodes", "v1", "Node");
    serve("/api/v1/pods", "v1", "Pod");
    serve("/api/v1/resourcequotas", "v1", "ResourceQuota");
    serve("/apis/scheduling.k8s.io/v1/priorityclasses", "scheduling.k8s.io/v1", "PriorityClass");
    serve("/apis/coordination.k8s.io/v1/namespaces/verl-system/leases", "coordination.k8s.io/v1", "Lease");
    serve("/apis/verl.run/v1alpha1/verljobs", "verl.run/v1alpha1", "VerlJob");
    serve("/apis/verl.run/v1alpha1/nodereadinesses", "verl.run/v1alpha1", "NodeReadiness");
    serve("/apis/verl.run/v1alpha1/readinesspolicies", "verl.run/v1alpha1", "ReadinessPolicy");
  }

  // Objects of a list, as JSON text; before the caches start.
  void hold(const std::string& path, std::vector<std::string> objects) { kinds_.at(path).objects = std::move(objects); }

  // One event of an open watch (or of the next one to be opened).
  void tell(const std::string& path, const std::string& type, const std::string& object) {
    const std::lock_guard lock(mutex_);
    kinds_.at(path).events.push_back(R"({"type":")" + type + R"(","object":)" + object + "}\n");
    changed_.notify_all();
  }

  // Everything that is no list and no watch.
  void answer(Answer answer) {
    const std::lock_guard lock(mutex_);
    answer_ = std::move(answer);
  }

  std::vector<std::string> asked() const {
    const std::lock_guard lock(mutex_);
    return asked_;
  }
  std::vector<kube::Request> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

  std::vector<std::chrono::steady_clock::time_point> times() const {  // when each was asked
    const std::lock_guard lock(mutex_);
    return times_;
  }

  // Waits until `reached` is true of the requests so far; false after ten seconds.
  bool wait_for(const std::function<bool(const std::vector<std::string>& asked)>& reached) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(10), [&] { return reached(asked_); });
  }

  Result<kube::Reply> send(const kube::Request& request, std::stop_token) override {
    Answer answer;
    {
      const std::lock_guard lock(mutex_);
      if (const auto kind = kinds_.find(request.path); kind != kinds_.end() && request.method == kube::Method::Get) {
        return kube::Reply{.status = 200, .body = list_of(kind->second), .date = date};
      }
      asked_.push_back(line_of(request));
      requests_.push_back(request);
      times_.push_back(std::chrono::steady_clock::now());
      answer = answer_;
    }
    changed_.notify_all();
    if (answer) return answer(request);
    ADD_FAILURE() << "not foreseen: " << line_of(request);
    return failure(ErrorCode::Unavailable, "not foreseen");
  }

  Result<bool> stream(const kube::Request& request, kube::StreamSink& sink, std::stop_token stop) override {
    if (!sink.on_reply(200, {}, {})) return false;
    for (;;) {
      std::unique_lock lock(mutex_);
      Kind& kind = kinds_.at(request.path);
      changed_.wait(lock, stop, [&] { return !kind.events.empty(); });
      if (stop.stop_requested()) return failure(ErrorCode::Cancelled, "stopped");
      const std::string line = kind.events.front();
      kind.events.erase(kind.events.begin());
      lock.unlock();
      if (!sink.on_bytes(line)) return false;
    }
  }

  std::optional<Timestamp> date{};  // of every list; set before the caches start

 private:
  struct Kind {
    std::string api_version{};
    std::string kind{};
    std::vector<std::string> objects{};
    std::vector<std::string> events{};
  };

  void serve(const std::string& path, std::string api_version, std::string kind) {
    kinds_[path] = Kind{.api_version = std::move(api_version), .kind = std::move(kind)};
  }

  static std::string list_of(const Kind& kind) {
    std::string text = R"({"kind":")" + kind.kind + R"(List","apiVersion":")" + kind.api_version + R"(","metadata":{"resourceVersion":"100"},"items":[)";
    for (std::size_t i = 0; i < kind.objects.size(); ++i) text += (i == 0 ? "" : ",") + kind.objects[i];
    return text + "]}";
  }

  mutable std::mutex mutex_{};
  std::condition_variable_any changed_{};
  std::map<std::string, Kind> kinds_{};
  Answer answer_{};
  std::vector<std::string> asked_{};
  std::vector<kube::Request> requests_{};
  std::vector<std::chrono::steady_clock::time_point> times_{};
};

// Caches over it. They can be used without being started: then they are empty, and remember what they are told to expect.
struct CacheBench {
  FakeCluster cluster{};
  SystemClock clock{};
  std::mutex mutex{};
  std::condition_variable changed{};
  int wakes{0};
  Caches caches;

  CacheBench()
      : caches(cluster, clock, "verl-system",
               [this] {
                 const std::lock_guard lock(mutex);
                 ++wakes;
                 changed.notify_all();
               },
               [](std::string_view) {}) {}
  ~CacheBench() { caches.stop(); }

  bool start() {
    caches.start();
    return eventually([this] { return caches.synced(); });
  }
  bool eventually(const std::function<bool()>& reached) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, std::chrono::seconds(10), reached);
  }
  int woken() {
    const std::lock_guard lock(mutex);
    return wakes;
  }
};

}  // namespace verl::controller::testing
