// A fleet's settings linted and compared: what the operator does each time a node's report changes, with a fifth deviating.
// Asked: 1,000 nodes with 40 settings each in at most 100 ms.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "diagnosis/judge.h"
#include "diagnosis/nccl/catalogue.h"
#include "diagnosis/nccl/lint.h"

namespace {

namespace diagnosis = verl::diagnosis;  // not all of verl: it has a namespace benchmark too
namespace nccl = verl::nccl;

// Names that are read, with values nobody complains about.
std::vector<nccl::Setting> settings_of(int node) {
  std::vector<nccl::Setting> settings{{"NCCL_DEBUG", "WARN"}, {"NCCL_SOCKET_IFNAME", fmt::format("=ens{}f0", node % 4)}, {"NCCL_IB_HCA", "=mlx5_0,mlx5_1"},
                                      {"NCCL_HOSTID", fmt::format("host-{}", node)}, {"NCCL_IB_TC", node % 5 == 0 ? "104" : "106"}};
  for (const nccl::Variable* one : nccl::all_variables()) {
    if (settings.size() == 40) break;
    const bool plain = nccl::of_libnccl(*one) && one->since <= nccl::version(2, 27, 3) && one->status == nccl::Status::Current && !one->standard.empty() && one->type == nccl::Type::Int;
    const bool listed = std::any_of(settings.begin(), settings.end(), [&](const nccl::Setting& other) { return other.name == one->name; });
    if (plain && !listed) settings.push_back({std::string(one->name), std::string(one->standard)});
  }
  return settings;
}

diagnosis::Fleet fleet_of(int nodes) {
  diagnosis::Fleet fleet;
  for (int i = 0; i < nodes; ++i) {
    nccl::Environment environment;
    for (nccl::Setting& setting : settings_of(i)) {
      nccl::SettingAt at;
      at.setting = std::move(setting);
      at.source = fmt::format("node-{}/nccl.env", i);
      at.line = static_cast<std::int64_t>(environment.settings.size()) + 1;
      environment.settings.push_back(std::move(at));
    }
    auto& facts = fleet[fmt::format("node-{}", i)].nccl;
    facts.loaded_version = "2.27.3";
    facts.environments.push_back(std::move(environment));
  }
  return fleet;
}

void lint_and_compare(benchmark::State& state) {
  const diagnosis::Fleet fleet = fleet_of(static_cast<int>(state.range(0)));
  const diagnosis::Policy policy;
  size_t findings = 0;
  for ([[maybe_unused]] auto _ : state) {
    diagnosis::Findings found;
    for (const auto& [name, facts] : fleet) diagnosis::judge_nccl(facts, policy, found);
    diagnosis::compare_nccl(fleet, policy, found);
    findings = found.size();
    benchmark::DoNotOptimize(found);
  }
  state.counters["findings"] = static_cast<double>(findings);
}

void lint(benchmark::State& state) {
  const diagnosis::Fleet fleet = fleet_of(static_cast<int>(state.range(0)));
  const diagnosis::Policy policy;
  for ([[maybe_unused]] auto _ : state) {
    diagnosis::Findings found;
    for (const auto& [name, facts] : fleet) nccl::lint_settings(facts, policy, found);
    benchmark::DoNotOptimize(found);
  }
}

BENCHMARK(lint)->Arg(1000)->Unit(benchmark::kMillisecond);
BENCHMARK(lint_and_compare)->Arg(100)->Arg(1000)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
