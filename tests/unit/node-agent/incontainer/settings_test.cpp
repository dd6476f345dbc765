#include "node-agent/incontainer/settings.h"

#include <gtest/gtest.h>

namespace verl::incontainer {
namespace {

using Environment = std::map<std::string, std::string>;

TEST(Settings, AreWhatTheOperatorSets) {
  const Settings read = read_settings({{"VERL_RUN_SHM_BYTES", "1000"}, {"VERL_RUN_GPUS", "8"}, {"VERL_RUN_RDMA_DEVICES", "4"}, {"VERL_RUN_NUMA", "Required"},
                                       {"VERL_RUN_TERMINATION_LOG", "/log"}, {"PATH", "/bin"}});
  EXPECT_EQ(read, (Settings{.wanted = {.shm_bytes = 1000, .gpus = 8, .rdma_devices = 4, .numa = Numa::Required}, .termination_log = "/log", .faults = {}}));
}

TEST(Settings, AreBestEffortOnNumaAndWithoutRdmaIfNothingIsSaid) {
  EXPECT_EQ(read_settings({{"VERL_RUN_SHM_BYTES", "1"}, {"VERL_RUN_GPUS", "2"}}),
            (Settings{.wanted = {.shm_bytes = 1, .gpus = 2, .rdma_devices = 0, .numa = Numa::Preferred}, .termination_log = "/dev/termination-log", .faults = {}}));
}

TEST(Settings, AreRefusedByNameWhenTheyCannotBeRead) {
  const Environment good{{"VERL_RUN_SHM_BYTES", "1"}, {"VERL_RUN_GPUS", "2"}};
  const std::vector<std::pair<Environment, std::string>> table{
      {{{"VERL_RUN_SHM_BYTES", ""}}, "VERL_RUN_SHM_BYTES is empty; the operator sets it in every pod"},
      {{{"VERL_RUN_GPUS", ""}}, "VERL_RUN_GPUS is empty; the operator sets it in every pod"},
      {{{"VERL_RUN_GPUS", "eight"}}, "VERL_RUN_GPUS is not a number: eight"},
      {{{"VERL_RUN_GPUS", "-8"}}, "VERL_RUN_GPUS is not a number: -8"},
      {{{"VERL_RUN_SHM_BYTES", "10Gi"}}, "VERL_RUN_SHM_BYTES is not a number: 10Gi"},
      {{{"VERL_RUN_SHM_BYTES", "99999999999999999999"}}, "VERL_RUN_SHM_BYTES is not a number: 99999999999999999999"},
      {{{"VERL_RUN_RDMA_DEVICES", "some"}}, "VERL_RUN_RDMA_DEVICES is not a number: some"},
      {{{"VERL_RUN_NUMA", "required"}}, "VERL_RUN_NUMA is required, wants Required, Preferred or None"},
  };
  for (const auto& [change, fault] : table) {
    Environment environment = good;
    for (const auto& [name, value] : change) environment[name] = value;
    EXPECT_EQ(read_settings(environment).faults, std::vector<std::string>{fault});
  }
  EXPECT_EQ(read_settings({}).faults.size(), 2U);
}

}  // namespace
}  // namespace verl::incontainer
