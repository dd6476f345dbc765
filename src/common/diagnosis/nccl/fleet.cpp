#include "diagnosis/nccl/fleet.h"

#include <algorithm>
#include <set>

namespace verl::nccl {
namespace {

struct Known {
  const diagnosis::NodeFacts* facts{nullptr};
  std::optional<Version> version{};
  std::vector<Effective> environments{};
};

const Effective* environment_of(const Known& known, const std::string& group) {
  const auto found = std::find_if(known.environments.begin(), known.environments.end(), [&](const Effective& one) { return group_of(one.origin) == group; });
  return found == known.environments.end() ? nullptr : &*found;
}

}  // namespace

void compare_fleet(const diagnosis::Fleet& fleet, const diagnosis::Policy& policy, diagnosis::Findings& out) {
  static const Effective kNothingSet{};
  std::map<std::string, Known> known;
  std::set<std::string> groups;
  for (const auto& [name, facts] : fleet) {
    Known& one = known[name];
    one.facts = &facts;
    one.version = known_version(facts.nccl, policy);
    one.environments = effective_environments(facts.nccl, one.version);
    for (const Effective& environment : one.environments) groups.insert(group_of(environment.origin));
  }
  if (groups.empty()) groups.insert("");
  compare_software(fleet, out);
  for (const std::string& name : groups) {
    FleetGroup group;
    group.name = name;
    for (const auto& [node, one] : known) {
      const Effective* environment = environment_of(one, name);
      if (!environment && !one.environments.empty()) continue;
      const Situation situation{.node = one.facts, .policy = &policy, .settings = environment ? environment : &kNothingSet, .version = one.version};
      group.nodes.push_back({.name = node, .situation = situation, .lives_in_environment = environment != nullptr});
    }
    if (group.nodes.size() < 2) continue;
    compare_settings(group, out);
    compare_rails(group, out);
    compare_bootstrap(group, out);
  }
}

}  // namespace verl::nccl
