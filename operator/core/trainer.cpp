#include "operator/core/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace verl::core {
namespace {

// Where verl reads the size of a pool from (verl 0.7 and later: verl/trainer/config/ppo_trainer.yaml).
std::string sizes_prefix(const api::VerlJobSpec& spec, size_t pool) {
  if (pool == 0) return "trainer.";
  const std::string& name = spec.pools[pool].name;
  if (name == "rollout") return "actor_rollout_ref.rollout.";
  if (name == "reward") return "reward.reward_model.";
  if (name == "teacher") return "distillation.";
  return "";
}

std::map<std::string, std::string> sizes(const api::VerlJobSpec& spec) {
  std::map<std::string, std::string> wanted;
  for (size_t i = 0; i < spec.pools.size(); ++i) {
    const std::string prefix = sizes_prefix(spec, i);
    if (prefix.empty()) continue;
    wanted[prefix + "nnodes"] = std::to_string(spec.pools[i].nodes);
    wanted[prefix + "n_gpus_per_node"] = std::to_string(spec.pools[i].gpus_per_node);
  }
  return wanted;
}

}  // namespace

std::vector<std::string> trainer_argv(const api::VerlJobSpec& spec) {
  std::vector<std::string> argv = spec.trainer.command;
  if (!spec.trainer.module.empty()) argv = {"python3", "-m", spec.trainer.module};
  if (spec.trainer.module.empty() && spec.trainer.overrides.empty()) return argv;
  std::map<std::string, std::string> arguments = sizes(spec);
  for (const auto& [key, value] : spec.trainer.overrides) arguments[key] = value;
  for (const auto& [key, value] : arguments) argv.push_back(key + "=" + value);
  return argv;
}

std::vector<std::string> trainer_problems(const api::VerlJobSpec& spec) {
  std::vector<std::string> problems;
  if (spec.trainer.module.empty() == spec.trainer.command.empty()) {
    problems.emplace_back("spec.trainer: exactly one of module and command is needed");
  }
  for (size_t i = 0; !spec.trainer.module.empty() && i < spec.pools.size(); ++i) {
    if (!sizes_prefix(spec, i).empty() || spec.pools[i].name == spec.pools[0].name) continue;
    problems.push_back(fmt::format("spec.pools[{}].name: verl knows no pool {}, its GPUs would stay idle; after the first, which is the trainer's, pools are "
                                   "rollout, reward and teacher (a trainer started by command may use any)",
                                   i, spec.pools[i].name));
  }
  const auto wanted = sizes(spec);
  for (const auto& [key, value] : spec.trainer.overrides) {
    if (key.find_first_of("= \t\n") != std::string::npos) {
      problems.push_back(fmt::format("spec.trainer.overrides[{}]: the key has a space or an equals sign in it, so verl would read another key; write the value "
                                     "after the colon",
                                     key));
    }
    // Hydra reads "+key" and "++key" as setting the key all the same, "~key" as taking it away.
    const std::string plain = key.substr(std::min(key.find_first_not_of("+~"), key.size()));
    const auto size = wanted.find(plain);
    if (size != wanted.end() && (size->second != value || key.starts_with('~'))) {
      problems.push_back(fmt::format("spec.trainer.overrides[{}]: {} contradicts spec.pools, which say {}; leave it out, the operator fills it in",
                                     key, value, size->second));
    }
    // Joining a cluster and sizing one exclude each other in ray.init (Ray refuses num_cpus with an address).
    if (plain == "ray_kwargs.ray_init.num_cpus") {
      problems.push_back(fmt::format("spec.trainer.overrides[{}]: the trainer joins a running Ray cluster, which cannot be resized; leave it out", key));
    }
  }
  return problems;
}

}  // namespace verl::core
