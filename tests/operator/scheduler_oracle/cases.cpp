#include "cases.h"

#include <random>

namespace verl::oracle {
namespace {

using nlohmann::json;

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed) {}
  int roll(int least, int most) {  // the standard distributions differ between libraries
    return least + static_cast<int>(random_() % static_cast<std::uint64_t>(most - least + 1));
  }
  bool one_in(int n) { return roll(1, n) == 1; }
  template <class T>
  const T& pick(const std::vector<T>& values) {
    return values[static_cast<std::size_t>(roll(0, static_cast<int>(values.size()) - 1))];
  }

 private:
  std::mt19937_64 random_;
};

// Small steps of each resource, written in several ways that mean the same.
std::string cpu(Dice& dice, int halves) {
  return dice.one_in(2) ? std::to_string(halves * 500) + "m" : std::to_string(halves / 2) + (halves % 2 == 0 ? "" : ".5");
}
std::string memory(Dice& dice, int halves) {
  switch (dice.roll(0, 3)) {
    case 0: return std::to_string(halves * 512) + "Mi";
    case 1: return std::to_string(static_cast<std::int64_t>(halves) * 536'870'912);
    case 2: return std::to_string(halves * 524'288) + "Ki";
    default: return std::to_string(halves / 2) + (halves % 2 == 0 ? "Gi" : ".5Gi");
  }
}
std::string pages(int pages_of_2mi) { return std::to_string(pages_of_2mi * 2) + "Mi"; }

json requests(Dice& dice) {
  json wanted = json::object();
  if (dice.one_in(2)) wanted["cpu"] = cpu(dice, dice.roll(0, 4));
  if (dice.one_in(2)) wanted["memory"] = memory(dice, dice.roll(0, 4));
  if (dice.one_in(5)) wanted["ephemeral-storage"] = memory(dice, dice.roll(0, 4));
  if (dice.one_in(3)) wanted["nvidia.com/gpu"] = std::to_string(dice.roll(0, 4));
  if (dice.one_in(6)) wanted["rdma/hca"] = std::to_string(dice.roll(0, 2));
  if (dice.one_in(6)) {
    wanted["hugepages-2Mi"] = pages(dice.roll(1, 4));
    wanted["memory"] = memory(dice, dice.roll(1, 3));  // huge pages are refused without cpu or memory
  }
  return wanted;
}

json container(Dice& dice, const std::string& name, int index, bool host_network, bool ports_matter) {
  json wanted = requests(dice);
  json limits = json::object();
  for (const auto& [resource, amount] : wanted.items()) {
    if (resource.find('/') != std::string::npos || resource.starts_with("hugepages-")) {
      limits[resource] = amount;
    }
  }
  json made{{"name", name}, {"image", "example.com/x"}, {"resources", {{"requests", wanted}, {"limits", limits}}}};
  if (ports_matter || dice.one_in(3)) {
    const int port = 20000 + index * 10 + dice.roll(0, 2);  // containers of one pod never collide with each other
    json entry{{"containerPort", port}, {"protocol", dice.pick<std::string>({"TCP", "TCP", "UDP", "SCTP"})}};
    if (!host_network) {
      entry["hostPort"] = port;
      const std::string ip = dice.pick<std::string>({"", "", "0.0.0.0", "10.0.0.1", "10.0.0.2", "::"});
      if (!ip.empty()) entry["hostIP"] = ip;
    }
    made["ports"] = json::array({entry});
  }
  return made;
}

json pod(Dice& dice, const std::string& name, bool candidate, bool ports_matter) {
  const bool host_network = dice.one_in(3);
  json spec{{"restartPolicy", "Never"}, {"hostNetwork", host_network}, {"terminationGracePeriodSeconds", 1}};
  int index = 0;
  json containers = json::array();
  for (int i = dice.roll(1, 2); i > 0; --i) {
    containers.push_back(container(dice, "c" + std::to_string(index), index, host_network, ports_matter));
    ++index;
  }
  spec["containers"] = containers;
  if (dice.one_in(3)) {
    json init = json::array();
    for (int i = dice.roll(1, 3); i > 0; --i) {
      init.push_back(container(dice, "i" + std::to_string(index), index, host_network, ports_matter));
      if (dice.one_in(2)) init.back()["restartPolicy"] = "Always";
      ++index;
    }
    spec["initContainers"] = init;
  }
  if (dice.one_in(6)) {  // above whatever the containers sum up to, or the apiserver refuses it
    spec["resources"] = {{"requests", {{"cpu", cpu(dice, dice.roll(20, 24))}, {"memory", memory(dice, dice.roll(20, 24))}}}};
  }
  if (dice.one_in(5)) spec["runtimeClassName"] = dice.pick<std::string>({"light", "heavy"});
  json metadata{{"name", name}, {"namespace", kNamespace}};
  if (candidate) metadata["labels"] = {{"verl.run/job-name", "oracle"}};
  return {{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", metadata}, {"spec", spec}};
}

json taint(Dice& dice) {
  json made{{"key", dice.pick<std::string>({"a", "b"})},
            {"effect", dice.pick<std::string>({"NoSchedule", "NoSchedule", "NoExecute", "PreferNoSchedule"})}};
  if (dice.one_in(2)) made["value"] = dice.pick<std::string>({"x", "y"});
  return made;
}

api::Toleration toleration(Dice& dice) {
  api::Toleration made{.key = dice.pick<std::string>({"a", "a", "b", "b", "node.kubernetes.io/unschedulable", ""}),
                       .op = dice.pick<std::string>({"", "Equal", "Exists"}),
                       .value = dice.pick<std::string>({"", "x", "y"}),
                       .effect = dice.pick<std::string>({"", "", "NoSchedule", "NoExecute"})};
  if (made.key.empty()) made.op = "Exists";
  if (made.op == "Exists") made.value.clear();
  return made;
}

json manifest_of(const api::Toleration& toleration) {
  json made = json::object();
  if (!toleration.key.empty()) made["key"] = toleration.key;
  if (!toleration.op.empty()) made["operator"] = toleration.op;
  if (!toleration.value.empty()) made["value"] = toleration.value;
  if (!toleration.effect.empty()) made["effect"] = toleration.effect;
  return made;
}

// `roomy`: of everything enough, and nothing that keeps a pod off, so that ports alone decide.
json node(Dice& dice, std::uint64_t seed, bool roomy) {
  json have{{"cpu", cpu(dice, dice.one_in(2) ? dice.roll(2, 10) : 100)},
            {"memory", memory(dice, dice.one_in(2) ? dice.roll(2, 10) : 100)},
            {"pods", std::to_string(dice.one_in(3) ? dice.roll(0, 4) : 110)}};
  if (!dice.one_in(5)) have["ephemeral-storage"] = memory(dice, dice.one_in(3) ? dice.roll(0, 6) : 200);
  if (!dice.one_in(4)) have["nvidia.com/gpu"] = std::to_string(dice.roll(2, 12));
  if (!dice.one_in(3)) have["rdma/hca"] = std::to_string(dice.roll(0, 6));
  if (!dice.one_in(3)) have["hugepages-2Mi"] = pages(dice.roll(0, 12));
  if (roomy) {
    have = {{"cpu", "100"}, {"memory", "200Gi"}, {"pods", "110"}, {"ephemeral-storage", "200Gi"},
            {"nvidia.com/gpu", "100"}, {"rdma/hca", "100"}, {"hugepages-2Mi", "1Gi"}};
  }
  json labels{{"kwok.x-k8s.io/node", "fake"}};
  if (dice.one_in(2)) labels["disk"] = dice.pick<std::string>({"ssd", "hdd"});
  json spec = json::object();
  if (!roomy && dice.one_in(8)) spec["unschedulable"] = true;
  if (!roomy && dice.one_in(4)) {
    json taints = json::array({taint(dice)});
    if (dice.one_in(3)) {
      json second = taint(dice);
      if (second["key"] != taints[0]["key"]) taints.push_back(second);
    }
    spec["taints"] = taints;
  }
  return {{"apiVersion", "v1"},
          {"kind", "Node"},
          {"metadata", {{"name", node_name(seed)}, {"labels", labels}}},
          {"spec", spec},
          {"status",
           {{"addresses", {{{"type", "InternalIP"}, {"address", "10.1." + std::to_string(seed / 250 % 250) + "." + std::to_string(seed % 250)}}}},
            {"capacity", have},
            {"allocatable", have}}}};
}

}  // namespace

std::string node_name(std::uint64_t seed) { return "n" + std::to_string(seed); }
std::string pod_name(std::uint64_t seed) { return "p" + std::to_string(seed); }

json surroundings() {
  const auto runtime_class = [](const std::string& name, const std::string& cpu_more, const std::string& memory_more) {
    return json{{"apiVersion", "node.k8s.io/v1"},
                {"kind", "RuntimeClass"},
                {"metadata", {{"name", name}}},
                {"handler", name},
                {"overhead", {{"podFixed", {{"cpu", cpu_more}, {"memory", memory_more}}}}}};
  };
  return {{"apiVersion", "v1"},
          {"kind", "List"},
          {"items",
           {{{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", kNamespace}}}},
            runtime_class("light", "100m", "1"),
            runtime_class("heavy", "1", "1Gi")}}};
}

Case make_case(std::uint64_t seed) {
  Dice dice(seed);
  Case made;
  made.seed = seed;
  const bool ports_matter = seed % 4 == 0;
  made.node = node(dice, seed, ports_matter);
  for (int i = dice.roll(0, 3); i > 0; --i) {
    json occupant = pod(dice, "o" + std::to_string(seed) + "-" + std::to_string(i), false, ports_matter);
    occupant["spec"]["nodeName"] = node_name(seed);
    occupant["spec"]["tolerations"] = {{{"operator", "Exists"}}};  // else a NoExecute taint evicts it
    occupant["metadata"]["annotations"] = json::object();
    occupant["metadata"]["labels"] = {{"life", "runs"}};
    if (dice.one_in(4)) {  // ended: counts no more
      occupant["metadata"]["annotations"] = {{"sim.verl.run/exit-code", dice.pick<std::string>({"0", "1"})},
                                             {"sim.verl.run/exit-container", "*"}};
      occupant["metadata"]["labels"] = {{"life", "ends"}};
    } else if (dice.one_in(4)) {  // terminating: counts until it is gone
      occupant["metadata"]["annotations"] = {{"sim.verl.run/hold-delete", "true"}};
      occupant["metadata"]["labels"] = {{"life", "terminates"}};
    }
    made.occupants.push_back(occupant);
  }
  made.pod = pod(dice, pod_name(seed), true, ports_matter);
  json& spec = made.pod["spec"];
  spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"] = {
      {{"matchFields", {{{"key", "metadata.name"}, {"operator", "In"}, {"values", {node_name(seed)}}}}}}};
  for (int i = dice.roll(0, 2); i > 0; --i) {
    made.tolerations.push_back(toleration(dice));
    spec["tolerations"].push_back(manifest_of(made.tolerations.back()));
  }
  if (dice.one_in(5)) {
    made.node_selector = {{"disk", "ssd"}};
    spec["nodeSelector"] = {{"disk", "ssd"}};
  }
  return made;
}

}  // namespace verl::oracle
