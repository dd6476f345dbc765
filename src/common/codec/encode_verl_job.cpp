#include "codec/encode.h"
#include "codec/writer.h"

namespace verl::codec {
namespace {

Json topology(const api::Topology& topology) { return {{"level", topology.level}, {"mode", to_string(topology.mode)}}; }

Json trainer(const api::Trainer& trainer) {
  Json out = Json::object();
  put(out, "module", trainer.module);
  put(out, "command", trainer.command);
  put(out, "overrides", trainer.overrides);
  return out;
}

Json pool(const api::Pool& pool) {
  Json out{{"name", pool.name}, {"nodes", pool.nodes}, {"gpusPerNode", pool.gpus_per_node}};
  if (pool.topology) out["topology"] = topology(*pool.topology);
  Json pod = Json::parse(pool.template_json, nullptr, false);
  if (pod.is_object() && !pod.empty()) out["template"] = std::move(pod);
  return out;
}

Json deadlines(const api::Deadlines& deadlines) {
  Json out{{"bindSeconds", deadlines.bind.count()},
           {"imagePullSeconds", deadlines.image_pull.count()},
           {"startingSeconds", deadlines.starting.count()}};
  put_number(out, "queuedSeconds", deadlines.queued);
  put_number(out, "runningSeconds", deadlines.running);
  return out;
}

Json spec(const api::VerlJobSpec& spec) {
  Json out{{"suspend", spec.suspend},
           {"managedBy", spec.managed_by},
           {"image", spec.image},
           {"trainer", trainer(spec.trainer)},
           {"pools", list_of(spec.pools, pool)},
           {"network", {{"transport", to_string(spec.network.transport)}}},
           {"numa", to_string(spec.numa)},
           {"priorityClassName", spec.priority_class},
           {"ray", {{"authentication", to_string(spec.ray_authentication)}}},
           {"deadlines", deadlines(spec.deadlines)},
           {"recovery",
            {{"infrastructureRestarts", spec.recovery.infrastructure_restarts}, {"userRestarts", spec.recovery.user_restarts}}},
           {"diagnostics", {{"ncclDebug", spec.nccl_debug}}}};
  if (spec.topology) out["topology"] = topology(*spec.topology);
  put_number(out["network"], "mtu", spec.network.mtu);
  if (!spec.nccl_env.empty()) out["nccl"]["env"] = spec.nccl_env;
  put_number(out, "ttlSecondsAfterFinished", spec.ttl_after_finished);
  return out;
}

Json rank(const api::RankPlacement& rank) {
  return {{"rank", rank.rank},        {"pool", rank.pool},      {"node", rank.node},
          {"nodeUID", rank.node_uid}, {"bootID", rank.boot_id}, {"address", rank.address}};
}

Json placement(const api::Placement& placement) {
  Json out{{"attempt", placement.attempt},
           {"portBase", placement.port_base},
           {"jobGeneration", placement.job_generation},
           {"ranks", list_of(placement.ranks, rank)},
           {"racks", placement.racks},
           {"racksProven", placement.racks_proven},
           {"crossRackEdges", placement.cross_rack_edges},
           {"edgesProven", placement.edges_proven},
           {"decided", to_json(placement.decided)}};
  put(out, "domains", placement.domains);
  return out;
}

Json attempts(const api::Attempts& attempts) {
  Json out{{"started", attempts.started},
           {"infrastructureRestarts", attempts.infrastructure_restarts},
           {"userRestarts", attempts.user_restarts}};
  put(out, "lastReason", attempts.last_reason);
  put(out, "lastMessage", attempts.last_message);
  return out;
}

Json status(const api::VerlJobStatus& status) {
  Json out{{"observedGeneration", status.observed_generation},
           {"nodes", status.nodes},
           {"gpus", status.gpus},
           {"attempts", attempts(status.attempts)}};
  put(out, "phase", status.phase);
  put(out, "ready", status.ready);
  put(out, "reason", status.reason);
  put_json(out, "conditions", to_json(status.conditions));
  if (status.placement) out["placement"] = placement(*status.placement);
  put_json(out, "rejectedNodes", list_of(status.rejected_nodes, [](const api::RejectedNode& node) {
        return Json{{"node", node.node}, {"reason", node.reason}, {"times", node.times}, {"until", to_json(node.until)}};
      }));
  put(out, "headAddress", status.head_address);
  put(out, "queuedAt", status.queued_at);
  put(out, "startedAt", status.started_at);
  put(out, "finishedAt", status.finished_at);
  put_number(out, "exitCode", status.exit_code);
  return out;
}

}  // namespace

std::string encode_status(const api::Meta& meta, const api::VerlJobStatus& wanted) {
  Json body = target_of("VerlJob", meta);
  body["status"] = status(wanted);
  return text_of(body);
}

std::string encode(const api::VerlJob& job) {
  Json out = object_of("VerlJob", job.meta);
  out["spec"] = spec(job.spec);
  if (job.status != api::VerlJobStatus{}) out["status"] = status(job.status);
  return text_of(out);
}

}  // namespace verl::codec
