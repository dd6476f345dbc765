// What Ray, vLLM and verl say on one line. What takes several lines to know (versions, addresses) stands in ray_run.h.
#include <fmt/format.h>

#include "base/text.h"
#include "diagnosis/log/cause.h"
#include "diagnosis/log/scan.h"

namespace verl::log {
namespace {

using diagnosis::Severity;
using namespace std::string_view_literals;

bool gpus_missing(const Line& line, Sighting& out) {
  const std::string_view have = word_at(after(line.message, "Total available GPUs ").value_or(""));
  const std::string_view want = word_at(after(line.message, "total desired GPUs ").value_or(""));
  const auto has = number_at(have);
  const auto wants = number_at(want);
  if (!has || !wants) return false;
  add_value(out, "available", *has);
  add_value(out, "desired", *wants);
  out.seen = std::to_string(*has);
  out.wanted = std::to_string(*wants);
  out.message = fmt::format("verl wants {} GPUs and Ray has {} free: nodes are missing or occupied", *wants, *has);
  return true;
}

bool memory(const Line& line, Sighting& out) {
  std::string_view ip = between(line.message, "(IP: ", ")");
  if (ip.empty()) ip = between(line.message, "(IP: ", ",");
  ip = ip.substr(0, ip.find(','));
  out.subject = std::string(ip);
  if (!ip.empty()) add_value(out, "node", out.subject);
  out.message = fmt::format("Ray killed workers because the node ran low on memory{}", ip.empty() ? on_host(line) : fmt::format(" ({})", ip));
  return true;
}

bool node_dead(const Line& line, Sighting& out) {
  std::string_view ip = word_at(after(line.message, "address: ").value_or(""));
  if (ip.empty()) ip = word_at(after(line.message, "node IP: ").value_or(""));
  out.subject = std::string(ip);
  if (!ip.empty()) add_value(out, "node", out.subject);
  out.message = fmt::format("Ray marked a node dead{}: its raylet stopped answering", ip.empty() ? "" : fmt::format(" ({})", ip));
  return true;
}

bool actor(const Line& line, Sighting& out) {
  out.subject = "actor";
  out.message = fmt::format("an actor died{}: {}", on_host(line), quoted(line.message));
  return true;
}

bool port(const Line& line, Sighting& out) {
  if (const auto number = number_after(line.message, "port number ")) {
    add_value(out, "port", *number);
    out.subject = std::to_string(*number);
  }
  out.message = fmt::format("two parts of Ray were given the same port{}", out.subject.empty() ? "" : " " + out.subject);
  return true;
}

bool gcs(const Line& line, Sighting& out) {
  std::string address(word_at(after(line.message, "GCS at ").value_or("")));
  while (address.ends_with('.')) address.pop_back();
  out.subject = address;
  if (!address.empty()) add_value(out, "address", address);
  out.message = fmt::format("Ray's head could not be reached{}{}", address.empty() ? "" : " at " + address, on_host(line));
  return true;
}

constexpr std::array kCauses{
    Cause{"verl-gpus-missing", Blame::Setting, "Total available GPUs ", "total desired GPUs", gpus_missing},
    Cause{"verl-gpus-missing", Blame::Setting, "cannot be satisfied in this ray cluster", {}, nullptr},
    Cause{"verl-resume", Blame::Setting, "load from hdfs is not implemented yet", {}, nullptr},
    Cause{"verl-resume", Blame::Setting, "No such file or directory", "world_size_", nullptr},
    Cause{"verl-runtime-env", Blame::Setting, "Failed to merge the Job's runtime env", {}, nullptr},
    Cause{"verl-numa", Blame::Follows, "Failed to set NUMA affinity", {}, nullptr},
    Cause{"ray-memory", Blame::First, "node running low on memory", {}, memory},
    Cause{"ray-memory", Blame::First, "exceeds the memory usage threshold", {}, memory},
    Cause{"ray-node-dead", Blame::First, "has been marked dead because", {}, node_dead},
    Cause{"ray-node-dead", Blame::First, "missed too many heartbeats", {}, node_dead},
    Cause{"ray-object-store", Blame::First, "object store is using /tmp instead of /dev/shm", {}, nullptr},
    Cause{"ray-disk", Blame::First, "file_system_monitor", "is over", nullptr},
    Cause{"ray-port", Blame::Setting, "is trying to use a port number", {}, port},
    Cause{"ray-socket-path", Blame::Setting, "AF_UNIX path length cannot exceed", {}, nullptr},
    Cause{"ray-gcs-unreachable", Blame::Connection, "Failed to connect to GCS", {}, gcs},
    Cause{"ray-gcs-unreachable", Blame::Connection, "Unable to connect to GCS at ", {}, gcs},
    Cause{"ray-gcs-unreachable", Blame::Connection, "Failed to get cluster ID from GCS", {}, gcs},
    Cause{"ray-worker-register", Blame::First, "Unable to register worker with raylet", {}, nullptr},
    Cause{"ray-worker-register", Blame::First, "Failed to register worker", {}, nullptr},
    Cause{"ray-actor-died", Blame::Symptom, "ActorDiedError", {}, actor},
    Cause{"ray-actor-died", Blame::Symptom, "ActorUnavailableError", {}, actor},
    Cause{"ray-actor-died", Blame::Symptom, "ActorHandleNotFoundError", {}, actor},
    Cause{"ray-actor-died", Blame::Symptom, "RayActorError", {}, actor},
    Cause{"ray-actor-died", Blame::Symptom, "WorkerCrashedError", {}, actor},
    Cause{"ray-actor-died", Blame::Symptom, "OwnerDiedError", {}, actor},
    Cause{"ray-actor-died", Blame::Symptom, "NodeDiedError", {}, actor},
    Cause{"ray-actor-died", Blame::Symptom, "The actor died unexpectedly", {}, actor},
    Cause{"ray-actor-died", Blame::Symptom, "The actor is dead because", {}, actor},
    Cause{"ray-actor-died", Blame::Symptom, "Worker unexpectedly exits with a connection error", {}, actor},
    Cause{"ray-actor-died", Blame::Symptom, "A worker died or was killed while executing a task", {}, actor},
};

}  // namespace

std::span<const Cause> ray_causes() { return kCauses; }

}  // namespace verl::log
