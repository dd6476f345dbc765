// Pod: what it holds of its node, and, for pods of our jobs only, how its containers fare.
#include <algorithm>

#include "codec/kinds.h"

namespace verl::codec {
namespace {

void read_owner(Element value, std::string& owner_uid, const Place& at, Faults& faults) {
  owner_uid.clear();
  each_item(value, at, faults, [&](Element item, const Place& where) {
    bool controller = false;
    std::string uid;
    each_field(item, where, faults, [&](std::string_view key, Element field, const Place& place) {
      if (key == "controller") read(field, controller, place, faults);
      if (key == "uid") read(field, uid, place, faults);
    });
    if (controller) owner_uid = uid;
  });
}

// A container's ports on the node. With the host's network a containerPort is a host port, whether declared so or not.
void read_ports(Element container, bool host_network, std::vector<api::HostPort>& out, const Place& at, Faults& faults) {
  const auto ports = field_of(container, "ports");
  if (!ports) return;
  each_item(*ports, Place::field(at, "ports"), faults, [&](Element item, const Place& where) {
    api::HostPort port{.ip = "", .protocol = "TCP", .port = 0};
    std::int32_t container_port = 0;
    each_field(item, where, faults, [&](std::string_view key, Element field, const Place& place) {
      if (key == "hostPort") {
        read(field, port.port, place, faults);
      } else if (key == "containerPort") {
        read(field, container_port, place, faults);
      } else if (key == "protocol") {
        read(field, port.protocol, place, faults);
      } else if (key == "hostIP") {
        read(field, port.ip, place, faults);
      }
    });
    if (port.port == 0 && host_network) port.port = container_port;
    if (port.ip == "0.0.0.0") port.ip.clear();
    if (port.protocol.empty()) port.protocol = "TCP";
    if (port.port != 0) out.push_back(std::move(port));
  });
}

bool is_sidecar(Element container) {
  const auto policy = field_of(container, "restartPolicy");
  std::string_view text;
  return policy && policy->get(text) == simdjson::SUCCESS && text == "Always";
}

void read_host_ports(Element spec, std::vector<api::HostPort>& out, const Place& at, Faults& faults) {
  bool host_network = false;
  out.clear();
  if (const auto flag = field_of(spec, "hostNetwork")) read(*flag, host_network, Place::field(at, "hostNetwork"), faults);
  for (const std::string_view list : {"initContainers", "containers"}) {
    const auto value = field_of(spec, list);
    simdjson::dom::array containers;
    if (!value || value->get(containers) != simdjson::SUCCESS) continue;  // a wrong type is named where requests are read
    const Place at_list = Place::field(at, list);
    std::int64_t index = 0;
    for (const Element container : containers) {
      const Place where = Place::item(at_list, index++);
      if (list == "containers" || is_sidecar(container)) read_ports(container, host_network, out, where, faults);
    }
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
}

void read_spec(Element value, api::Pod& out, const Place& at, Faults& faults) {
  each_field(value, at, faults, [&](std::string_view key, Element field, const Place& place) {
    if (key == "nodeName") {
      read(field, out.node_name, place, faults);
    } else if (key == "priority") {
      read(field, out.priority, place, faults);
    }
  });
  if (value.is_object()) read_host_ports(value, out.host_ports, at, faults);
}

void read_terminated(Element value, api::ContainerState& out, const Place& at, Faults& faults) {
  each_field(value, at, faults, [&](std::string_view key, Element field, const Place& place) {
    if (key == "exitCode") {
      read(field, out.exit_code, place, faults);
    } else if (key == "reason") {
      read(field, out.terminated_reason, place, faults);
    } else if (key == "message") {
      read(field, out.termination_message, place, faults);
    } else if (key == "startedAt") {
      read(field, out.started_at, place, faults);
    } else if (key == "finishedAt") {
      read(field, out.finished_at, place, faults);
    }
  });
}

void read_state(Element value, api::ContainerState& out, const Place& at, Faults& faults) {
  each_field(value, at, faults, [&](std::string_view key, Element field, const Place& place) {
    if (key == "running") {
      out.running = true;
      out.started = true;
      each_field(field, place, faults, [&](std::string_view name, Element inner, const Place& where) {
        if (name == "startedAt") read(inner, out.started_at, where, faults);
      });
    } else if (key == "waiting") {
      each_field(field, place, faults, [&](std::string_view name, Element inner, const Place& where) {
        if (name == "reason") read(inner, out.waiting_reason, where, faults);
        if (name == "message") read(inner, out.waiting_message, where, faults);
      });
    } else if (key == "terminated") {
      out.started = true;
      read_terminated(field, out, place, faults);
    }
  });
}

void read_container_status(Element value, api::ContainerState& out, const Place& at, Faults& faults) {
  each_field(value, at, faults, [&](std::string_view key, Element field, const Place& place) {
    if (key == "name") {
      read(field, out.name, place, faults);
    } else if (key == "ready") {
      read(field, out.ready, place, faults);
    } else if (key == "state") {
      read_state(field, out, place, faults);
    } else if (key == "lastState") {
      each_field(field, place, faults, [&](std::string_view name, Element, const Place&) {
        if (name == "terminated") out.started = true;
      });
    }
  });
}

void read_status(Element value, bool ours, api::Pod& out, const Place& at, Faults& faults) {
  std::vector<api::ContainerState> init;
  std::vector<api::ContainerState> main;
  const auto read_states = [&](Element field, std::vector<api::ContainerState>& list, bool is_init, const Place& place) {
    read_list(field, list, place, faults, [&](Element item, api::ContainerState& state, const Place& where) {
      state.init = is_init;
      read_container_status(item, state, where, faults);
    });
  };
  each_field(value, at, faults, [&](std::string_view key, Element field, const Place& place) {
    if (key == "phase") {
      read(field, out.phase, place, faults);
    } else if (key == "nominatedNodeName") {
      read(field, out.nominated_node, place, faults);
    } else if (key == "reason") {
      read(field, out.reason, place, faults);
    } else if (key == "message") {
      read(field, out.message, place, faults);
    } else if (ours && key == "conditions") {
      read(field, out.conditions, place, faults);
    } else if (ours && key == "initContainerStatuses") {
      read_states(field, init, true, place);
    } else if (ours && key == "containerStatuses") {
      read_states(field, main, false, place);
    }
  });
  out.containers = std::move(init);
  out.containers.insert(out.containers.end(), std::make_move_iterator(main.begin()), std::make_move_iterator(main.end()));
}

}  // namespace

void read_object(Element value, api::Pod& out) {
  const Place root;
  Faults faults(out.unreadable);
  std::optional<Element> status;
  each_field(value, root, faults, [&](std::string_view key, Element field, const Place& place) {
    if (key == "metadata") {
      read(field, out.meta, place, faults);
      if (const auto owners = field_of(field, "ownerReferences")) {
        read_owner(*owners, out.owner_uid, Place::field(place, "ownerReferences"), faults);
      }
    } else if (key == "spec") {
      read_spec(field, out, place, faults);
    } else if (key == "status") {
      status = field;  // what is kept of it depends on the labels, which may come later
    }
  });
  const bool ours = out.meta.labels.contains(std::string(api::kJobNameLabel));
  if (status) read_status(*status, ours, out, Place::field(root, "status"), faults);
  read_effective_requests(value, out.requests, faults);
}

}  // namespace verl::codec
