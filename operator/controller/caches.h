// The operator's view of the cluster: one reflector a kind, and the snapshot they add up to.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "api/node.h"
#include "api/node_readiness.h"
#include "api/readiness_policy.h"
#include "api/verl_job.h"
#include "kube/protocol/http.h"
#include "kube/runtime/reflector.h"
#include "kube/runtime/reflector_thread.h"
#include "operator/core/model.h"

namespace verl::controller {

class Caches final {
 public:
  // `changed` is called from the reflectors' threads whenever anything may have changed; `log` with lines about trouble.
  Caches(kube::Api& api, const Clock& clock, const std::string& name_space, std::function<void()> changed,
         std::function<void(std::string_view)> log);

  void start();
  void stop();

  bool synced();
  // Everything written before `when` is visible in every cache. Ask for it with refresh().
  bool fresh_since(kube::Instant when);
  void refresh();
  std::string trouble();  // one line per kind that cannot be listed or watched; empty when all is well

  // Lists as they are now; in `held` the jobs of which an own write (status, a pod made or deleted) is not visible yet.
  // `now` and configuration are the caller's to fill in.
  core::ClusterSnapshot snapshot();

  kube::Reflector<api::VerlJob>& jobs() { return jobs_; }
  kube::Reflector<api::Pod>& pods() { return pods_; }
  kube::Reflector<api::NodeReadiness>& reports() { return reports_; }
  kube::Reflector<api::Heartbeat>& heartbeats() { return heartbeats_; }

 private:
  template <class Visit>
  void each(Visit visit);

  kube::Reflector<api::Node> nodes_;
  kube::Reflector<api::Pod> pods_;
  kube::Reflector<api::NodeReadiness> reports_;
  kube::Reflector<api::ReadinessPolicy> policies_;
  kube::Reflector<api::VerlJob> jobs_;
  kube::Reflector<api::PriorityClass> priority_classes_;
  kube::Reflector<api::ResourceQuota> quotas_;
  kube::Reflector<api::Heartbeat> heartbeats_;
  std::vector<std::unique_ptr<kube::ReflectorThread>> threads_{};
};

}  // namespace verl::controller
