#include "operator/core/conditions.h"

#include "base/broken_invariant.h"
#include "base/text.h"

namespace verl::core {
namespace {

using api::ConditionStatus;

ConditionStatus truth(bool value) { return value ? ConditionStatus::True : ConditionStatus::False; }

ConditionStatus succeeded(Stage stage) {
  switch (stage) {
    case Stage::Succeeded: return ConditionStatus::True;
    case Stage::Failed: return ConditionStatus::False;
    case Stage::Waiting:
    case Stage::Running:
    case Stage::Recovering:
    case Stage::Suspended: return ConditionStatus::Unknown;
  }
  broken_invariant("a Stage outside its enumeration");
}

}  // namespace

bool is_true(const api::VerlJobStatus& status, std::string_view type) {
  const api::Condition* found = api::find_condition(status.conditions, type);
  return found != nullptr && found->status == ConditionStatus::True;
}

void describe(api::VerlJobStatus& status, const Situation& situation, std::int64_t generation, Timestamp now) {
  const Stage stage = situation.stage;
  const bool done = stage == Stage::Succeeded || stage == Stage::Failed;
  const bool moving = stage == Stage::Waiting || stage == Stage::Recovering;
  const auto set = [&](const char* type, ConditionStatus value, std::string reason, std::string message) {
    api::set_condition(status.conditions, {.type = type,
                                           .status = value,
                                           .reason = std::move(reason),
                                           .message = shorten(message, api::kMaxConditionMessage),
                                           .last_transition = now,
                                           .observed_generation = generation});
  };
  set("Ready", truth(stage == Stage::Running || stage == Stage::Succeeded), situation.reason, situation.message);
  set("Reconciling", truth(moving), moving ? situation.phase : done ? "Finished" : situation.phase, "");
  set("Stalled", truth(stage == Stage::Failed), stage == Stage::Failed ? situation.reason : "NotStalled", stage == Stage::Failed ? situation.message : "");
  set("Succeeded", succeeded(stage), done ? situation.reason : "NotFinished", done ? situation.message : "");
  set("Suspended", truth(stage == Stage::Suspended), stage == Stage::Suspended ? "Suspended" : "NotSuspended", "");
  // After the end these keep what was true of the last attempt. A job that ends before it began has them all the same.
  if (!done || api::find_condition(status.conditions, "PlacementFound") == nullptr) {
    set("PlacementFound", truth(situation.placed), situation.placed ? "Placed" : situation.reason, "");
    set("PodsCreated", truth(situation.pods_created), situation.pods_created ? "Created" : "NotCreated", "");
    set("RayClusterReady", truth(situation.ray_ready), situation.ray_ready ? "Whole" : "NotWhole", "");
  }
  status.phase = situation.phase;
  status.reason = situation.reason;
  status.observed_generation = generation;
}

}  // namespace verl::core
