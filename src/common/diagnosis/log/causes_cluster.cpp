// What kubelet and scheduler say in events, describe output and journals: why a pod does not run. Messages of Kubernetes 1.28 to 1.36.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "diagnosis/log/cause.h"
#include "diagnosis/log/scan.h"

namespace verl::log {
namespace {

using namespace std::string_view_literals;

// "0/12 nodes are available: 3 Insufficient nvidia.com/gpu, 9 node(s) had untolerated taint {x: y}. preemption: …"
bool unschedulable(const Line& line, Sighting& out) {
  const std::string_view message = line.message;
  const std::size_t at = message.find(" nodes are available");
  std::size_t begin = at;
  while (begin > 0 && message[begin - 1] != ' ' && message[begin - 1] != '"') --begin;
  const std::string_view counts = message.substr(begin, at - begin);
  const auto free = number_at(counts);
  const auto all = number_after(counts, "/");
  if (!free || !all) return false;
  add_value(out, "available", *free);
  add_value(out, "nodes", *all);
  std::string_view reasons = after(message, "nodes are available").value_or("");
  if (reasons.starts_with(':')) reasons.remove_prefix(1);
  reasons = trim(reasons.substr(0, std::min(reasons.find(" preemption:"), reasons.find("\""))));
  while (reasons.ends_with('.')) reasons.remove_suffix(1);
  int index = 0;
  for (const std::string_view piece : split(reasons, ',')) {
    const std::string_view reason = trim(piece);
    const auto count = number_at(reason);
    if (!count || index >= 16) continue;
    const std::size_t blank = reason.find(' ');
    const std::string name = fmt::format("reason[{}]", index++);
    add_value(out, name, shorten(trim(reason.substr(std::min(blank, reason.size()))), 160));
    add_value(out, name + ".nodes", *count);
  }
  out.subject = shorten(reasons, 120);
  out.seen = std::string(counts);
  out.message = fmt::format("the scheduler finds no node for a pod ({} of {} fit): {}", *free, *all, reasons.empty() ? "no reason given" : reasons);
  return *free == 0;
}

bool text(const Line& line, Sighting& out) {
  out.subject = shorten(line.host, 80);
  return true;
}

bool image(const Line& line, Sighting& out) {
  const std::string_view name = between(line.message, "image \"", "\"");
  out.subject = shorten(name, 200);
  if (!name.empty()) add_value(out, "image", out.subject);
  return true;
}

constexpr std::array kCauses{
    Cause{"event-unschedulable", Blame::Setting, " nodes are available", {}, unschedulable},
    Cause{"event-smt-alignment", Blame::Setting, "SMTAlignmentError", {}, text},
    Cause{"event-topology-affinity", Blame::Setting, "TopologyAffinityError", {}, text},
    Cause{"event-topology-affinity", Blame::Setting, "Resources cannot be allocated with Topology locality", {}, text},
    Cause{"event-admission", Blame::Setting, "UnexpectedAdmissionError", {}, text},
    Cause{"event-evicted", Blame::First, "The node was low on resource: ", {}, text},
    Cause{"event-evicted", Blame::First, "Pod ephemeral local storage usage exceeds", {}, text},
    Cause{"event-evicted", Blame::First, "The node had condition: ", {}, text},
    Cause{"event-out-of-memory", Blame::First, "OOMKilled", {}, text},
    Cause{"event-out-of-memory", Blame::First, "OOMKilling", {}, text},
    Cause{"event-mount", Blame::Setting, "FailedMount", {}, text},
    Cause{"event-mount", Blame::Setting, "MountVolume.SetUp failed", {}, text},
    Cause{"event-mount", Blame::Setting, "Unable to attach or mount volumes", {}, text},
    Cause{"event-mount", Blame::Setting, "FailedAttachVolume", {}, text},
    Cause{"event-image", Blame::Setting, "Failed to pull image ", {}, image},
    Cause{"event-image", Blame::Setting, "ErrImagePull", {}, image},
    Cause{"event-image", Blame::Setting, "ImagePullBackOff", {}, image},
    Cause{"event-image", Blame::Setting, "InvalidImageName", {}, image},
    Cause{"event-sandbox", Blame::Setting, "FailedCreatePodSandBox", {}, text},
    Cause{"event-quota", Blame::Setting, "exceeded quota: ", {}, text},
    Cause{"event-node-not-ready", Blame::First, "NodeNotReady", {}, text},
    Cause{"event-crash-loop", Blame::Symptom, "CrashLoopBackOff", {}, text},
    Cause{"event-crash-loop", Blame::Symptom, "Back-off restarting failed container", {}, text},
    Cause{"event-preempted", Blame::First, "Preempted by ", {}, text},
};

}  // namespace

std::span<const Cause> cluster_causes() { return kCauses; }

}  // namespace verl::log
