// Refusals of a spec whose parts are each within the CRD's bounds.
#include "operator/core/admission.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "builders.h"
#include "operator/core/reports.h"
#include "operator/core/trainer.h"

namespace verl::core {
namespace {

using namespace core::testing;

// 16 settings of at most 8192 bytes each: what the CRD allows, and about 128 KiB together.
api::VerlJob with_trainer_of(std::size_t bytes) {
  World world = cluster(1, 1);
  api::VerlJob job = add_job(world, "a", 1);
  job.spec.trainer = {.module = "verl.trainer.main_ppo"};
  const auto length = [&] { return nlohmann::json(trainer_argv(job.spec)).dump().size(); };
  for (int i = 0; i < 15; ++i) job.spec.trainer.overrides["+x" + std::to_string(10 + i)] = std::string(8000, 'v');
  job.spec.trainer.overrides["+y"] = "";
  job.spec.trainer.overrides["+y"] = std::string(bytes - length(), 'v');
  EXPECT_EQ(length(), bytes);
  EXPECT_LE(job.spec.trainer.overrides["+y"].size(), 16384U);
  return job;
}

TEST(Admission, ACommandLineThatNoContainerCouldBeStartedWithIsRefused) {
  const std::size_t most = 131072 - std::string("VERL_RUN_TRAINER=").size() - 1;
  EXPECT_EQ(spec_problem(cluster(1, 1).config, with_trainer_of(most), {}), std::nullopt);
  const auto problem = spec_problem(cluster(1, 1).config, with_trainer_of(most + 1), {});
  ASSERT_TRUE(problem);
  EXPECT_EQ(problem->reason, "InvalidSpec");
  EXPECT_TRUE(problem->terminal);
  EXPECT_EQ(problem->message,
            "spec.trainer: command line and overrides take 131073 bytes in all, wanted at most 131072, which is what Linux passes to a program in one piece; "
            "put large settings into a file of the image or of a volume");
}

TEST(Admission, ANodeWithItsGpusInManySlicesStillHasAReport) {
  const World world = cluster(1, 1);
  api::Node node = world.nodes.begin()->second;
  for (const auto& [offered, shown] : std::vector<std::pair<std::int64_t, std::int32_t>>{{8, 8}, {64, 64}, {128, 64}, {std::int64_t{1} << 40, 64}}) {
    node.allocatable[world.config.gpu_resource] = offered * 1000;
    EXPECT_EQ(report_spec(snapshot(world), node).gpus, shown) << offered;
  }
}

}  // namespace
}  // namespace verl::core
