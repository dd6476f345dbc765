#include "operator/core/fit/fit.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "base/quantity.h"
#include "operator/core/fit/host_ports.h"

namespace verl::core::fit {

std::int64_t amount(const api::Resources& resources, const std::string& name) {
  const auto found = resources.find(name);
  return found == resources.end() ? 0 : found->second;
}

namespace {

constexpr std::int64_t kMilli = 1000;

// The scheduler counts cpu in thousandths and everything else in whole units, rounded up pod by pod.
std::int64_t counted(std::string_view resource, std::int64_t milli) {
  if (resource == "cpu" || milli <= 0) {
    return milli;
  }
  return milli > std::numeric_limits<std::int64_t>::max() - kMilli ? milli : (milli + kMilli - 1) / kMilli * kMilli;
}

std::int64_t plus(std::int64_t a, std::int64_t b) {  // stays at the largest: too much is too much
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::int64_t>::max() : sum;
}

std::int64_t free_of(const api::Node& node, const NodeUse& use, const std::string& resource) {
  return counted(resource, amount(node.allocatable, resource)) - amount(use.requests, resource);
}

std::int64_t pods_allowed(const api::Node& node) { return amount(node.allocatable, "pods") / kMilli; }

bool is_bytes(std::string_view resource) {
  return resource == "memory" || resource == "ephemeral-storage" || resource.starts_with("hugepages-");
}

}  // namespace

std::string shown(std::string_view resource, std::int64_t milli) {
  if (milli < 0) {
    return "-" + shown(resource, -milli);
  }
  if (is_bytes(resource)) {
    return format_bytes_quantity(milli / kMilli);
  }
  if (milli % kMilli == 0) {
    return fmt::format("{}", milli / kMilli);
  }
  return fmt::format("{}m", milli);
}

namespace {

bool tolerates(const api::Toleration& toleration, const api::Taint& taint) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) {
    return false;
  }
  if (!toleration.key.empty() && toleration.key != taint.key) {
    return false;
  }
  if (toleration.op.empty() || toleration.op == "Equal") {
    return !toleration.key.empty() && toleration.value == taint.value;
  }
  return toleration.op == "Exists";
}

bool tolerated(const PodNeeds& needs, const api::Taint& taint) {
  return std::any_of(needs.tolerations.begin(), needs.tolerations.end(),
                     [&](const api::Toleration& toleration) { return tolerates(toleration, taint); });
}

bool keeps_away(const api::Taint& taint) { return taint.effect == "NoSchedule" || taint.effect == "NoExecute"; }

constexpr std::string_view kCordonTaint = "node.kubernetes.io/unschedulable";

api::Taint cordon() { return {.key = std::string(kCordonTaint), .value = "", .effect = "NoSchedule"}; }

class Judge {
 public:
  Judge(const api::Node& node, const NodeUse& use, const PodNeeds& needs, bool first_only)
      : node_(node), use_(use), needs_(needs), first_only_(first_only) {}

  std::vector<Misfit> run() {
    for (const auto step : {&Judge::reading, &Judge::selector, &Judge::state, &Judge::taints, &Judge::resources, &Judge::ports}) {
      if (!(first_only_ && !found_.empty())) {
        (this->*step)();
      }
    }
    return std::move(found_);
  }

 private:
  void say(std::string_view reason, std::string subject, std::string message, std::int64_t seen = 0, std::int64_t wanted = 0) {
    found_.push_back({.reason = std::string(reason),
                      .subject = std::move(subject),
                      .message = std::move(message),
                      .seen = seen,
                      .wanted = wanted});
  }

  void reading() {
    for (const std::string& field : node_.unreadable) {
      say(kNodeUnreadable, field, fmt::format("the Node object cannot be read in full: {}", field));
    }
    for (const std::string& pod : use_.unreadable) {
      say(kUseUnknown, pod, fmt::format("what is free is not known: pod {} cannot be read in full", pod));
    }
  }

  void selector() {
    for (const auto& [key, value] : needs_.node_selector) {
      const auto label = node_.meta.labels.find(key);
      if (label == node_.meta.labels.end()) {
        say(kSelectorMismatch, key, fmt::format("has no label {}, wants {}", key, value));
      } else if (label->second != value) {
        say(kSelectorMismatch, key, fmt::format("label {} is {}, wants {}", key, label->second, value));
      }
    }
  }

  void state() {
    if (node_.unschedulable && !tolerated(needs_, cordon())) {
      say(kCordoned, "", "is cordoned (spec.unschedulable)");
    }
    if (node_.ready != api::ConditionStatus::True) {
      say(kNotReady, "", fmt::format("condition Ready is {}, wants True", api::to_string(node_.ready)));
    }
  }

  void taints() {
    for (const api::Taint& taint : node_.taints) {
      // The cordon and the kubelet's silence are told above, in plainer words than their taints.
      const bool told = (node_.unschedulable && taint.key == kCordonTaint) ||
                        (node_.ready != api::ConditionStatus::True &&
                         (taint.key == "node.kubernetes.io/not-ready" || taint.key == "node.kubernetes.io/unreachable"));
      if (keeps_away(taint) && !told && !tolerated(needs_, taint)) {
        say(kUntolerated, taint.key,
            fmt::format("taint {}{}{}:{} is not tolerated", taint.key, taint.value.empty() ? "" : "=", taint.value, taint.effect));
      }
    }
  }

  void resources() {
    const std::int64_t places = pods_allowed(node_) - use_.pods;
    if (places < 1) {
      say(kTooManyPods, "pods", fmt::format("holds {} of {} pods", use_.pods, pods_allowed(node_)), places * kMilli, kMilli);
    }
    for (const auto& [resource, milli] : needs_.requests) {
      const std::int64_t wanted = counted(resource, milli);
      const std::int64_t free = free_of(node_, use_, resource);
      if (resource != "pods" && wanted > 0 && wanted > free) {
        say(kInsufficient, resource,
            fmt::format("{} free: {} of {}, wants {}", resource, shown(resource, free),
                        shown(resource, counted(resource, amount(node_.allocatable, resource))), shown(resource, wanted)),
            free, wanted);
      }
    }
  }

  void ports() {
    for (const api::HostPort& port : needs_.host_ports) {
      if (const api::HostPort* other = conflicting(use_.ports, port)) {
        say(kPortTaken, fmt::format("{}", port.port), fmt::format("host port {} is taken by {}", shown_port(port), shown_port(*other)));
      }
    }
  }

  const api::Node& node_;
  const NodeUse& use_;
  const PodNeeds& needs_;
  bool first_only_;
  std::vector<Misfit> found_{};
};

}  // namespace

std::vector<Misfit> misfits(const api::Node& node, const NodeUse& use, const PodNeeds& needs) {
  return Judge(node, use, needs, false).run();
}

bool fits(const api::Node& node, const NodeUse& use, const PodNeeds& needs) {
  return Judge(node, use, needs, true).run().empty();
}

bool holds_node(const api::Pod& pod) { return !held_node(pod).empty(); }

std::string_view held_node(const api::Pod& pod) {
  if (pod.phase == "Succeeded" || pod.phase == "Failed") {
    return {};
  }
  return pod.node_name.empty() ? pod.nominated_node : pod.node_name;
}

void add(NodeUse& use, const api::Resources& requests, const std::vector<api::HostPort>& ports) {
  ++use.pods;
  for (const auto& [resource, milli] : requests) {
    std::int64_t& sum = use.requests[resource];
    sum = plus(sum, counted(resource, milli));
  }
  for (const api::HostPort& port : ports) {
    const auto place = std::lower_bound(use.ports.begin(), use.ports.end(), port);
    if (place == use.ports.end() || *place != port) {
      use.ports.insert(place, port);
    }
  }
}

void add(NodeUse& use, const api::Pod& pod) {
  add(use, pod.requests, pod.host_ports);
  for (const std::string& field : pod.unreadable) {
    use.unreadable.push_back(fmt::format("{}/{}: {}", pod.meta.name_space, pod.meta.name, field));
  }
}

UseByNode use_by_node(const std::vector<std::shared_ptr<const api::Pod>>& pods) {
  UseByNode uses;
  for (const auto& pod : pods) {
    const std::string_view node = held_node(*pod);
    if (node.empty()) {
      continue;
    }
    auto use = uses.find(node);
    if (use == uses.end()) {
      use = uses.emplace(std::string(node), NodeUse{}).first;
    }
    add(use->second, *pod);
  }
  return uses;
}

}  // namespace verl::core::fit
