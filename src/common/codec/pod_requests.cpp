// What a pod asks for, as kube-scheduler 1.36 counts it (k8s.io/component-helpers/resource, PodRequests with
// UseStatusResources): the sum of the containers and sidecars or the largest init phase, what a resize in place has
// already been given, requests of the pod as a whole, and overhead.
#include <limits>

#include "codec/kinds.h"

namespace verl::codec {
namespace {

struct ContainerStatus {
  std::string_view name{};
  std::optional<api::Resources> actuated{};  // status.…resources.requests
  api::Resources allocated{};
};

struct Container {
  std::string_view name{};
  api::Resources requests{};
  bool sidecar{false};
};

void add(api::Resources& sum, const api::Resources& more, Faults& faults) {
  for (const auto& [name, amount] : more) {
    std::int64_t& total = sum[name];
    if (__builtin_add_overflow(total, amount, &total)) {
      total = std::numeric_limits<std::int64_t>::max();
      faults.add(Place::entry(Place{}, name), "the requests of the containers add up to more than can be counted");
    }
  }
}

void raise_to(api::Resources& least, const api::Resources& other) {
  for (const auto& [name, amount] : other) {
    const auto [found, inserted] = least.emplace(name, amount);
    if (!inserted && found->second < amount) found->second = amount;
  }
}

void read_resources(Element value, api::Resources& requests, const Place& at, Faults& faults) {
  requests.clear();
  each_field(value, at, faults, [&](std::string_view key, Element field, const Place& place) {
    if (key == "requests") read(field, requests, place, faults);
  });
}

std::vector<Container> containers_of(Element spec, std::string_view list, const Place& at, Faults& faults) {
  std::vector<Container> containers;
  const auto value = field_of(spec, list);
  if (!value) return containers;
  read_list(*value, containers, Place::field(at, list), faults, [&](Element item, Container& container, const Place& where) {
    each_field(item, where, faults, [&](std::string_view key, Element field, const Place& place) {
      if (key == "name") {
        if (field.get(container.name) != simdjson::SUCCESS) faults.add_unlike(place, "a string", field);
      } else if (key == "resources") {
        read_resources(field, container.requests, place, faults);
      } else if (key == "restartPolicy") {
        std::string policy;
        read(field, policy, place, faults);
        container.sidecar = policy == "Always";
      }
    });
  });
  return containers;
}

std::vector<ContainerStatus> statuses_of(Element status, std::string_view list, const Place& at, Faults& faults) {
  std::vector<ContainerStatus> statuses;
  const auto value = field_of(status, list);
  if (!value) return statuses;
  read_list(*value, statuses, Place::field(at, list), faults, [&](Element item, ContainerStatus& one, const Place& where) {
    each_field(item, where, faults, [&](std::string_view key, Element field, const Place& place) {
      if (key == "name") {
        if (field.get(one.name) != simdjson::SUCCESS) faults.add_unlike(place, "a string", field);
      } else if (key == "resources") {
        one.actuated.emplace();
        read_resources(field, *one.actuated, place, faults);
      } else if (key == "allocatedResources") {
        read(field, one.allocated, place, faults);
      }
    });
  });
  return statuses;
}

bool resize_is_infeasible(Element status) {
  const auto value = field_of(status, "conditions");
  simdjson::dom::array conditions;
  if (!value || value->get(conditions) != simdjson::SUCCESS) return false;
  const auto is = [](Element condition, std::string_view name, std::string_view wanted) {
    const auto found = field_of(condition, name);
    std::string_view text;
    return found && found->get(text) == simdjson::SUCCESS && text == wanted;
  };
  for (const Element condition : conditions) {
    if (is(condition, "type", "PodResizePending")) return is(condition, "reason", "Infeasible");
  }
  return false;
}

api::Resources effective(const api::Resources& wanted, const api::Resources& actuated, const api::Resources& allocated, bool infeasible) {
  api::Resources largest = infeasible ? api::Resources{} : wanted;
  raise_to(largest, actuated);
  raise_to(largest, allocated);
  return largest;
}

void apply_statuses(std::vector<Container>& containers, const std::vector<ContainerStatus>& statuses, bool infeasible, bool only_sidecars) {
  for (const ContainerStatus& status : statuses) {
    if (!status.actuated) continue;
    for (Container& container : containers) {
      if (container.name != status.name || (only_sidecars && !container.sidecar)) continue;
      container.requests = effective(container.requests, *status.actuated, status.allocated, infeasible);
    }
  }
}

api::Resources sum_of_containers(const std::vector<Container>& containers, const std::vector<Container>& init, Faults& faults) {
  api::Resources sum;
  for (const Container& container : containers) add(sum, container.requests, faults);
  api::Resources sidecars;       // those started so far
  api::Resources largest_phase;  // while init containers run
  for (const Container& container : init) {
    if (container.sidecar) {
      add(sum, container.requests, faults);
      add(sidecars, container.requests, faults);
      raise_to(largest_phase, sidecars);
    } else {
      api::Resources phase = sidecars;
      add(phase, container.requests, faults);
      raise_to(largest_phase, phase);
    }
  }
  raise_to(sum, largest_phase);
  return sum;
}

bool counts_for_the_pod(std::string_view resource) {
  return resource == "cpu" || resource == "memory" || resource.starts_with("hugepages-");
}

// Requests of the pod as a whole, which replace the sum over its containers.
void apply_pod_level(Element spec, const std::optional<Element>& status, bool infeasible, api::Resources& out, Faults& faults) {
  const Place root;
  const auto whole = field_of(spec, "resources");
  if (!whole) return;
  api::Resources requests;
  read_resources(*whole, requests, Place::field(Place::field(root, "spec"), "resources"), faults);
  const auto given = status ? field_of(*status, "resources") : std::nullopt;
  if (given) {
    const Place at_status = Place::field(root, "status");
    api::Resources actuated;
    api::Resources allocated;
    read_resources(*given, actuated, Place::field(at_status, "resources"), faults);
    if (const auto value = field_of(*status, "allocatedResources")) {
      read(*value, allocated, Place::field(at_status, "allocatedResources"), faults);
    }
    const api::Resources largest = effective(requests, actuated, allocated, infeasible);
    for (auto& [name, amount] : requests) {
      const auto found = largest.find(name);
      amount = found == largest.end() ? 0 : found->second;
    }
  }
  for (const auto& [name, amount] : requests) {
    if (counts_for_the_pod(name)) out.insert_or_assign(name, amount);
  }
}

}  // namespace

void read_effective_requests(Element pod, api::Resources& out, Faults& faults) {
  const Place root;
  const Place at_spec = Place::field(root, "spec");
  out.clear();
  const auto spec = field_of(pod, "spec");
  if (!spec || !spec->is_object()) return;
  std::vector<Container> containers = containers_of(*spec, "containers", at_spec, faults);
  std::vector<Container> init = containers_of(*spec, "initContainers", at_spec, faults);
  const auto status = field_of(pod, "status");
  const bool infeasible = status && resize_is_infeasible(*status);
  if (status) {
    const Place at_status = Place::field(root, "status");
    apply_statuses(containers, statuses_of(*status, "containerStatuses", at_status, faults), infeasible, false);
    apply_statuses(init, statuses_of(*status, "initContainerStatuses", at_status, faults), infeasible, true);
  }
  out = sum_of_containers(containers, init, faults);
  apply_pod_level(*spec, status, infeasible, out, faults);
  if (const auto overhead = field_of(*spec, "overhead")) {
    api::Resources more;
    read(*overhead, more, Place::field(at_spec, "overhead"), faults);
    add(out, more, faults);
  }
}

}  // namespace verl::codec
