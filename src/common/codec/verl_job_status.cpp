#include "codec/verl_job_status.h"

#include "codec/kinds.h"

namespace verl::codec {
namespace {

void read_rank(Element value, api::RankPlacement& out, const Place& at, Faults& faults) {
  each_field(value, at, faults, [&](std::string_view key, Element field, const Place& place) {
    if (key == "rank") {
      read(field, out.rank, place, faults);
    } else if (key == "pool") {
      read(field, out.pool, place, faults);
    } else if (key == "node") {
      read(field, out.node, place, faults);
    } else if (key == "nodeUID") {
      read(field, out.node_uid, place, faults);
    } else if (key == "bootID") {
      read(field, out.boot_id, place, faults);
    } else if (key == "address") {
      read(field, out.address, place, faults);
    }
  });
}

void read_placement(Element value, api::Placement& out, const Place& at, Faults& faults) {
  each_field(value, at, faults, [&](std::string_view key, Element field, const Place& place) {
    if (key == "attempt") {
      read(field, out.attempt, place, faults);
    } else if (key == "portBase") {
      read(field, out.port_base, place, faults);
    } else if (key == "jobGeneration") {
      read(field, out.job_generation, place, faults);
    } else if (key == "ranks") {
      read_list(field, out.ranks, place, faults,
                [&](Element item, api::RankPlacement& rank, const Place& where) { read_rank(item, rank, where, faults); });
    } else if (key == "racks") {
      read(field, out.racks, place, faults);
    } else if (key == "racksProven") {
      read(field, out.racks_proven, place, faults);
    } else if (key == "crossRackEdges") {
      read(field, out.cross_rack_edges, place, faults);
    } else if (key == "edgesProven") {
      read(field, out.edges_proven, place, faults);
    } else if (key == "domains") {
      read(field, out.domains, place, faults);
    } else if (key == "decided") {
      read(field, out.decided, place, faults);
    }
  });
}

void read_rejected(Element value, api::RejectedNode& out, const Place& at, Faults& faults) {
  each_field(value, at, faults, [&](std::string_view key, Element field, const Place& place) {
    if (key == "node") {
      read(field, out.node, place, faults);
    } else if (key == "reason") {
      read(field, out.reason, place, faults);
    } else if (key == "times") {
      read(field, out.times, place, faults);
    } else if (key == "until") {
      read(field, out.until, place, faults);
    }
  });
}

void read_attempts(Element value, api::Attempts& out, const Place& at, Faults& faults) {
  each_field(value, at, faults, [&](std::string_view key, Element field, const Place& place) {
    if (key == "started") {
      read(field, out.started, place, faults);
    } else if (key == "infrastructureRestarts") {
      read(field, out.infrastructure_restarts, place, faults);
    } else if (key == "userRestarts") {
      read(field, out.user_restarts, place, faults);
    } else if (key == "lastReason") {
      read(field, out.last_reason, place, faults);
    } else if (key == "lastMessage") {
      read(field, out.last_message, place, faults);
    }
  });
}

}  // namespace

void read(Element value, api::VerlJobStatus& out, const Place& at, Faults& faults) {
  each_field(value, at, faults, [&](std::string_view key, Element field, const Place& place) {
    if (key == "observedGeneration") {
      read(field, out.observed_generation, place, faults);
    } else if (key == "phase") {
      read(field, out.phase, place, faults);
    } else if (key == "ready") {
      read(field, out.ready, place, faults);
    } else if (key == "nodes") {
      read(field, out.nodes, place, faults);
    } else if (key == "gpus") {
      read(field, out.gpus, place, faults);
    } else if (key == "reason") {
      read(field, out.reason, place, faults);
    } else if (key == "conditions") {
      read(field, out.conditions, place, faults);
    } else if (key == "placement") {
      read_placement(field, out.placement.emplace(), place, faults);
    } else if (key == "rejectedNodes") {
      read_list(field, out.rejected_nodes, place, faults,
                [&](Element item, api::RejectedNode& node, const Place& where) { read_rejected(item, node, where, faults); });
    } else if (key == "attempts") {
      read_attempts(field, out.attempts, place, faults);
    } else if (key == "headAddress") {
      read(field, out.head_address, place, faults);
    } else if (key == "queuedAt") {
      read(field, out.queued_at, place, faults);
    } else if (key == "startedAt") {
      read(field, out.started_at, place, faults);
    } else if (key == "finishedAt") {
      read(field, out.finished_at, place, faults);
    } else if (key == "exitCode") {
      read(field, out.exit_code, place, faults);
    }
  });
}

}  // namespace verl::codec
