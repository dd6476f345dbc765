// VerlJob: spec here, status in verl_job_status.cpp. The pod template stays text: core merges it as a document.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "codec/kinds.h"
#include "codec/verl_job_status.h"

namespace verl::codec {
namespace {

void read_topology(Element value, std::optional<api::Topology>& out, const Place& at, Faults& faults) {
  static constexpr std::pair<std::string_view, api::TopologyMode> kModes[] = {{"Required", api::TopologyMode::Required},
                                                                              {"Preferred", api::TopologyMode::Preferred}};
  out.emplace();
  each_field(value, at, faults, [&](std::string_view key, Element field, const Place& place) {
    if (key == "level") {
      read(field, out->level, place, faults);
    } else if (key == "mode") {
      read_word(field, out->mode, kModes, place, faults);
    }
  });
}

// The value as a person would write it after "name=". A null is data here: verl knows it.
void read_override(Element value, std::string& out, const Place& at, Faults& faults) {
  std::string_view text;
  double number = 0;
  if (value.get(text) == simdjson::SUCCESS) {
    out.assign(text);
  } else if (value.is_null() || value.is_bool() || value.is_int64() || value.is_uint64()) {
    out = simdjson::minify(value);
  } else if (value.get(number) == simdjson::SUCCESS) {
    out = fmt::format("{}", number);  // the shortest text that reads back as the same number
  } else {
    faults.add(at, "must be a string, number, true, false or null; write lists and mappings as one quoted string");
  }
}

void read_trainer(Element value, api::Trainer& out, const Place& at, Faults& faults) {
  each_field(value, at, faults, [&](std::string_view key, Element field, const Place& place) {
    if (key == "module") {
      read(field, out.module, place, faults);
    } else if (key == "command") {
      read(field, out.command, place, faults);
    } else if (key == "overrides") {
      out.overrides.clear();
      simdjson::dom::object overrides;
      if (field.get(overrides) != simdjson::SUCCESS) return faults.add_unlike(place, "a map", field);
      for (const auto entry : overrides) {
        read_override(entry.value, out.overrides[std::string(entry.key)], Place::entry(place, entry.key), faults);
      }
    }
  });
}

// Sorted keys, no spaces: equal templates are equal text whoever wrote them.
std::string canonical(Element value) {
  return nlohmann::json::parse(std::string(simdjson::minify(value)), nullptr, false)
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void read_pool(Element value, api::Pool& out, const Place& at, Faults& faults) {
  each_field(value, at, faults, [&](std::string_view key, Element field, const Place& place) {
    if (key == "name") {
      read(field, out.name, place, faults);
    } else if (key == "nodes") {
      read(field, out.nodes, place, faults);
    } else if (key == "gpusPerNode") {
      read(field, out.gpus_per_node, place, faults);
    } else if (key == "topology") {
      read_topology(field, out.topology, place, faults);
    } else if (key == "template") {
      if (!field.is_object()) return faults.add_unlike(place, "an object", field);
      out.template_json = canonical(field);
    }
  });
}

void read_network(Element value, api::Network& out, const Place& at, Faults& faults) {
  static constexpr std::pair<std::string_view, api::Transport> kTransports[] = {{"Any", api::Transport::Any},
                                                                                {"RoCE", api::Transport::RoCE},
                                                                                {"InfiniBand", api::Transport::InfiniBand},
                                                                                {"TCP", api::Transport::TCP}};
  each_field(value, at, faults, [&](std::string_view key, Element field, const Place& place) {
    if (key == "transport") {
      read_word(field, out.transport, kTransports, place, faults);
    } else if (key == "mtu") {
      read(field, out.mtu, place, faults);
    }
  });
}

void read_deadlines(Element value, api::Deadlines& out, const Place& at, Faults& faults) {
  each_field(value, at, faults, [&](std::string_view key, Element field, const Place& place) {
    if (key == "queuedSeconds") {
      read(field, out.queued, place, faults);
    } else if (key == "bindSeconds") {
      read(field, out.bind, place, faults);
    } else if (key == "imagePullSeconds") {
      read(field, out.image_pull, place, faults);
    } else if (key == "startingSeconds") {
      read(field, out.starting, place, faults);
    } else if (key == "runningSeconds") {
      read(field, out.running, place, faults);
    }
  });
}

void read_recovery(Element value, api::Recovery& out, const Place& at, Faults& faults) {
  each_field(value, at, faults, [&](std::string_view key, Element field, const Place& place) {
    if (key == "infrastructureRestarts") {
      read(field, out.infrastructure_restarts, place, faults);
    } else if (key == "userRestarts") {
      read(field, out.user_restarts, place, faults);
    }
  });
}

// The groups of spec that hold one field each.
void read_small_group(std::string_view group, Element value, api::VerlJobSpec& out, const Place& at, Faults& faults) {
  static constexpr std::pair<std::string_view, api::RayAuthentication> kAuthentications[] = {
      {"Token", api::RayAuthentication::Token}, {"Disabled", api::RayAuthentication::Disabled}};
  each_field(value, at, faults, [&](std::string_view key, Element field, const Place& place) {
    if (group == "nccl" && key == "env") {
      read(field, out.nccl_env, place, faults);
    } else if (group == "ray" && key == "authentication") {
      read_word(field, out.ray_authentication, kAuthentications, place, faults);
    } else if (group == "diagnostics" && key == "ncclDebug") {
      read(field, out.nccl_debug, place, faults);
    }
  });
}

void read_spec(Element value, api::VerlJobSpec& out, const Place& at, Faults& faults) {
  static constexpr std::pair<std::string_view, api::NumaMode> kNumaModes[] = {
      {"Required", api::NumaMode::Required}, {"Preferred", api::NumaMode::Preferred}, {"None", api::NumaMode::None}};
  each_field(value, at, faults, [&](std::string_view key, Element field, const Place& place) {
    if (key == "suspend") {
      read(field, out.suspend, place, faults);
    } else if (key == "managedBy") {
      read(field, out.managed_by, place, faults);
    } else if (key == "image") {
      read(field, out.image, place, faults);
    } else if (key == "trainer") {
      read_trainer(field, out.trainer, place, faults);
    } else if (key == "pools") {
      read_list(field, out.pools, place, faults, [&](Element item, api::Pool& pool, const Place& where) { read_pool(item, pool, where, faults); });
    } else if (key == "topology") {
      read_topology(field, out.topology, place, faults);
    } else if (key == "network") {
      read_network(field, out.network, place, faults);
    } else if (key == "numa") {
      read_word(field, out.numa, kNumaModes, place, faults);
    } else if (key == "priorityClassName") {
      read(field, out.priority_class, place, faults);
    } else if (key == "deadlines") {
      read_deadlines(field, out.deadlines, place, faults);
    } else if (key == "recovery") {
      read_recovery(field, out.recovery, place, faults);
    } else if (key == "nccl" || key == "ray" || key == "diagnostics") {
      read_small_group(key, field, out, place, faults);
    } else if (key == "ttlSecondsAfterFinished") {
      read(field, out.ttl_after_finished, place, faults);
    }
  });
}

}  // namespace

void read_object(Element value, api::VerlJob& out) {
  const Place root;
  Faults faults(out.unreadable);
  bool has_spec = false;
  each_field(value, root, faults, [&](std::string_view key, Element field, const Place& place) {
    if (key == "metadata") {
      read(field, out.meta, place, faults);
    } else if (key == "spec") {
      has_spec = true;
      read_spec(field, out.spec, place, faults);
    } else if (key == "status") {
      read(field, out.status, place, faults);
    }
  });
  if (!has_spec) faults.add(Place::field(root, "spec"), "is missing");
}

}  // namespace verl::codec
