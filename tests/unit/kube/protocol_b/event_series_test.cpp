#include "kube/protocol/event_series.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace verl::kube {
namespace {

using nlohmann::json;
using std::chrono::minutes;

const Timestamp kNow = Timestamp{std::chrono::sys_days{std::chrono::year{2026} / 11 / 30}} + std::chrono::hours{12};
const EventSource kSource{"verl.run/operator", "verl-operator-0"};

EventNote note_of(std::string note = "3 of 4 pods are bound") {
  return {.regarding = {.api_version = "verl.run/v1alpha1", .kind = "VerlJob", .name_space = "rl", .name = "qwen", .uid = "u-1"},
          .type = EventType::Warning, .reason = "GangIncomplete", .action = "Waiting", .note = std::move(note)};
}

TEST(Events, ANewEventHasAllThatTheApiserverAsksFor) {
  EventSeries series(kSource);
  const auto write = series.record(note_of(), kNow);
  ASSERT_TRUE(write);
  EXPECT_EQ(write->name_space, "rl");
  EXPECT_EQ(write->patch, "");
  EXPECT_EQ(json::parse(write->create), json({{"apiVersion", "events.k8s.io/v1"}, {"kind", "Event"},
    {"metadata", {{"name", write->name}, {"namespace", "rl"}}}, {"eventTime", "2026-11-30T12:00:00.000000Z"},
    {"reportingController", "verl.run/operator"}, {"reportingInstance", "verl-operator-0"}, {"action", "Waiting"}, {"reason", "GangIncomplete"},
    {"type", "Warning"}, {"note", "3 of 4 pods are bound"},
    {"regarding", {{"apiVersion", "verl.run/v1alpha1"}, {"kind", "VerlJob"}, {"namespace", "rl"}, {"name", "qwen"}, {"uid", "u-1"}}}}));
}

TEST(Events, AClusterScopedObjectIsToldInDefault) {
  auto note = note_of();
  note.regarding = {.api_version = "v1", .kind = "Node", .name = "gpu-1", .uid = "u-2"};
  const auto write = EventSeries(kSource).record(note, kNow);
  ASSERT_TRUE(write);
  EXPECT_EQ(write->name_space, "default");
  EXPECT_FALSE(json::parse(write->create)["regarding"].contains("namespace"));
}

TEST(Events, NamesAreDeterministicAndValid) {
  const auto name = [](const EventNote& note, Timestamp at) { return EventSeries(kSource).record(note, at)->name; };
  EXPECT_EQ(name(note_of(), kNow), name(note_of(), kNow));
  EXPECT_NE(name(note_of(), kNow), name(note_of(), kNow + Seconds{1}));
  EXPECT_NE(name(note_of(), kNow), name(note_of("else"), kNow));
  auto note = note_of();
  note.occasion = "attempt-2";
  EXPECT_EQ(name(note, kNow), name(note, kNow + Seconds{1})) << "the same occasion told by the next leader is the same Event";
  note.regarding.name = "System:Node" + std::string(300, '.');
  const auto odd = name(note, kNow);
  EXPECT_EQ(odd.find("-ystem--ode"), std::string::npos);
  EXPECT_EQ(odd.substr(0, 11), "ystem--ode.");
  EXPECT_LE(odd.size(), 253U);
}

TEST(Events, LongNotesAreCutAtACharacter) {
  std::string euros;
  while (euros.size() < 2000) euros += "€";
  const auto write = EventSeries(kSource).record(note_of(euros), kNow);
  const auto note = json::parse(write->create)["note"].get<std::string>();
  EXPECT_LE(note.size(), 1024U);
  EXPECT_EQ(note.size() % 3, 0U);
  EXPECT_TRUE(EventSeries(kSource).record(note_of("broken \xFF utf-8"), kNow)) << "no exception";
}

TEST(Events, RepeatsBecomeASeries) {
  EventSeries series(kSource);
  const auto first = series.record(note_of(), kNow);
  const auto second = series.record(note_of(), kNow + Seconds{10});
  ASSERT_TRUE(second);
  EXPECT_EQ(second->name, first->name);
  EXPECT_EQ(json::parse(second->patch), json::parse(R"({"series":{"count":2,"lastObservedTime":"2026-11-30T12:00:10.000000Z"}})"));
  EXPECT_EQ(json::parse(second->create)["series"]["count"], 2) << "if it expired meanwhile it begins again with its count";
  EXPECT_FALSE(series.record(note_of(), kNow + Seconds{20}));
  EXPECT_FALSE(series.record(note_of(), kNow + Seconds{30}));
  EXPECT_TRUE(series.sweep(kNow + minutes{6}).empty());
  const auto last = series.sweep(kNow + minutes{6} + Seconds{30});
  ASSERT_EQ(last.size(), 1U) << "six minutes without a repeat end it";
  EXPECT_EQ(json::parse(last[0].patch)["series"]["count"], 4);
  EXPECT_EQ(series.size(), 0U);
  const auto anew = series.record(note_of(), kNow + minutes{10});
  ASSERT_TRUE(anew);
  EXPECT_EQ(anew->patch, "");
  EXPECT_NE(anew->name, first->name);
}

TEST(Events, ALongSeriesIsRefreshedEveryHalfHour) {
  EventSeries series(kSource);
  std::vector<int> counts;
  for (int minute = 0; minute <= 65; ++minute) {
    series.record(note_of(), kNow + minutes{minute});
    for (const auto& write : series.sweep(kNow + minutes{minute})) counts.push_back(json::parse(write.patch)["series"]["count"].get<int>());
  }
  EXPECT_EQ(counts, (std::vector<int>{32, 62}));
}

TEST(Events, AnEventToldOnceIsForgottenWithoutAWrite) {
  EventSeries series(kSource);
  series.record(note_of(), kNow);
  EXPECT_TRUE(series.sweep(kNow + minutes{7}).empty());
  EXPECT_EQ(series.size(), 0U);
}

TEST(Events, ManyNotesOfAKindAreFoldedIntoTheLast) {
  EventSeries series(kSource);
  int written = 0;
  for (int i = 0; i < 100; ++i) {
    if (series.record(note_of("pod " + std::to_string(i)), kNow + Seconds{i})) ++written;
  }
  EXPECT_EQ(written, 11) << "ten notes, and the first repeat of the tenth";
  EXPECT_EQ(series.size(), 10U);
}

TEST(Events, MemoryIsBounded) {
  EventSeries series(kSource);
  for (int i = 0; i < 5000; ++i) {
    auto note = note_of();
    note.regarding.uid = std::to_string(i);
    series.record(note, kNow + Microseconds{i});
  }
  EXPECT_LE(series.size(), 4096U);
  EXPECT_GE(series.size(), 3000U);
}

}  // namespace
}  // namespace verl::kube
