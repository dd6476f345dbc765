#include "operator/controller/caches.h"

#include "codec/decode.h"
#include "kube/protocol/kinds.h"
#include "operator/core/kept.h"

namespace verl::controller {
namespace {

using namespace kube::kinds;

template <class T>
auto decoder() {
  return [](std::string_view json) { return codec::decode_object<T>(json); };
}

template <class T>
auto keeping_decoder() {
  return [](std::string_view json) {
    auto value = codec::decode_object<T>(json);
    if (value) *value = core::kept(std::move(*value));
    return value;
  };
}

// Whether a new version of an object could change a decision. Thousands of kubelets and agents write every few seconds that
// all is as it was; a round for each would keep a core busy. The next round sees their writes all the same.
template <class T>
bool decides_anew(const T& before, T after) {
  after.meta.resource_version = before.meta.resource_version;
  return after != before;
}

// A renewal in good time is no news. One that ends a silence may make a node fit again.
bool decides_anew(const api::Heartbeat& before, api::Heartbeat after) {
  if (!before.renewed || !after.renewed || *after.renewed - *before.renewed >= before.duration) return true;
  after.renewed = before.renewed;
  return decides_anew<api::Heartbeat>(before, std::move(after));
}

template <class T>
bool is_news(const typename kube::Reflector<T>::Change& change) {
  const bool modified = change.before != nullptr && change.after != nullptr && change.before_head->uid == change.after_head->uid;
  return !modified || decides_anew(*change.before, *change.after);
}

template <class T>
typename kube::Reflector<T>::Hooks hooks(const std::function<void()>& changed, const std::function<void(std::string_view)>& log) {
  return {.on_change = [changed](const typename kube::Reflector<T>::Change& change) {
            if (is_news<T>(change)) changed();
          },
          .on_caught_up = [changed](const kube::ObjectKey&) { changed(); },
          .on_listed = changed,
          .log = log};
}

std::string job_of(const std::string& pod) {
  const size_t rank = pod.rfind('-');
  const size_t attempt = rank == std::string::npos || rank == 0 ? std::string::npos : pod.rfind('-', rank - 1);
  return attempt == std::string::npos ? "" : pod.substr(0, attempt);
}

// An object that could not be decoded at all stays in view by its name and what was wrong with it.
template <class T>
void copy(const kube::Snapshot<T>& view, std::vector<core::Shared<T>>& into) {
  into.reserve(view.size());
  for (std::size_t i = 0; i < view.size(); ++i) {
    if (auto value = view.value(i)) {
      into.push_back(std::move(value));
      continue;
    }
    T stub{};
    stub.meta.name_space = view.head(i).key.name_space;
    stub.meta.name = view.head(i).key.name;
    stub.meta.uid = view.head(i).uid;
    stub.meta.resource_version = view.head(i).resource_version;
    stub.unreadable = {view.problem(i)};
    into.push_back(std::make_shared<const T>(std::move(stub)));
  }
}

}  // namespace

Caches::Caches(kube::Api& api, const Clock& clock, const std::string& name_space, std::function<void()> changed,
               std::function<void(std::string_view)> log)
    : nodes_(api, clock, {.resource = kNodes}, decoder<api::Node>(), hooks<api::Node>(changed, log)),
      pods_(api, clock, {.resource = kPods}, keeping_decoder<api::Pod>(), hooks<api::Pod>(changed, log)),
      reports_(api, clock, {.resource = kReports}, keeping_decoder<api::NodeReadiness>(), hooks<api::NodeReadiness>(changed, log)),
      policies_(api, clock, {.resource = kPolicies}, decoder<api::ReadinessPolicy>(), hooks<api::ReadinessPolicy>(changed, log)),
      jobs_(api, clock, {.resource = kVerlJobs}, decoder<api::VerlJob>(), hooks<api::VerlJob>(changed, log)),
      priority_classes_(api, clock, {.resource = kPriorityClasses}, decoder<api::PriorityClass>(), hooks<api::PriorityClass>(changed, log)),
      quotas_(api, clock, {.resource = kQuotas}, decoder<api::ResourceQuota>(), hooks<api::ResourceQuota>(changed, log)),
      heartbeats_(api, clock, {.resource = kLeases, .name_space = name_space, .label_selector = "app.kubernetes.io/component=heartbeat"},
                  keeping_decoder<api::Heartbeat>(), hooks<api::Heartbeat>(changed, log)) {}

template <class Visit>
void Caches::each(Visit visit) {
  visit("nodes", nodes_);
  visit("pods", pods_);
  visit("nodereadinesses", reports_);
  visit("readinesspolicies", policies_);
  visit("verljobs", jobs_);
  visit("priorityclasses", priority_classes_);
  visit("resourcequotas", quotas_);
  visit("leases", heartbeats_);
}

void Caches::start() {
  each([&](const char*, auto& reflector) { threads_.push_back(std::make_unique<kube::ReflectorThread>(reflector)); });
}

void Caches::stop() {
  for (auto& thread : threads_) thread->request_stop();
  threads_.clear();
}

bool Caches::synced() {
  bool all = true;
  each([&](const char*, auto& reflector) { all = all && reflector.synced(); });
  return all;
}

bool Caches::fresh_since(kube::Instant when) {
  bool all = true;
  each([&](const char*, auto& reflector) { all = all && reflector.fresh_since(when); });
  return all;
}

void Caches::refresh() {
  each([&](const char*, auto& reflector) { reflector.force_relist(); });
}

std::string Caches::trouble() {
  std::string lines;
  each([&](const char* name, auto& reflector) {
    const std::string trouble = reflector.trouble();
    if (!trouble.empty()) lines += std::string(name) + ": " + trouble + "\n";
  });
  return lines;
}

core::ClusterSnapshot Caches::snapshot() {
  core::ClusterSnapshot snapshot{};
  copy(nodes_.snapshot(), snapshot.nodes);
  copy(reports_.snapshot(), snapshot.reports);
  copy(policies_.snapshot(), snapshot.policies);
  copy(priority_classes_.snapshot(), snapshot.priority_classes);
  copy(quotas_.snapshot(), snapshot.quotas);
  copy(heartbeats_.snapshot(), snapshot.heartbeats);
  // Jobs before pods: a pod created for a placement must never be missing beside a job that no longer shows the placement.
  const auto jobs = jobs_.snapshot();
  copy(jobs, snapshot.jobs);
  for (const kube::ObjectKey& key : jobs.behind()) {
    const std::size_t at = jobs.index_of(key);
    if (at != jobs.size()) snapshot.held.insert(jobs.head(at).uid);
  }
  const auto pods = pods_.snapshot();
  copy(pods, snapshot.pods);
  for (const kube::ObjectKey& pod : pods.behind()) {
    // Names are <job>-<attempt>-<rank>; the pod itself may not be in the cache yet.
    const std::size_t at = jobs.index_of({pod.name_space, job_of(pod.name)});
    if (at != jobs.size()) snapshot.held.insert(jobs.head(at).uid);
  }
  // What a pod that nobody can read takes, and where, is not known: nothing is given away while it is there.
  for (std::size_t i = 0; i < pods.size(); ++i) {
    if (pods.value(i) == nullptr) snapshot.unreadable_pods.push_back(kube::to_string(pods.head(i).key));
  }
  return snapshot;
}

}  // namespace verl::controller
