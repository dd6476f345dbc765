// Which Event to write when something is told about an object: a new one, or the count of one that is already there.
// Rules as in client-go's tools/events, with one difference: different notes are different events, up to ten of a kind.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "kube/protocol/kinds.h"

namespace verl::kube {

using kinds::kEvents;

struct ObjectReference {
  std::string api_version{};
  std::string kind{};
  std::string name_space{};  // empty for a cluster-scoped object
  std::string name{};
  std::string uid{};
  auto operator<=>(const ObjectReference&) const = default;
  bool operator==(const ObjectReference&) const = default;
};

enum class EventType { Normal, Warning };

struct EventNote {
  ObjectReference regarding{};
  std::optional<ObjectReference> related{};
  EventType type{EventType::Normal};
  std::string reason{};    // CamelCase, at most 128 bytes; the same word as the condition's
  std::string action{};    // CamelCase, what was done: "Placed", "Restarted"; at most 128 bytes
  std::string note{};      // for people; cut to 1,024 bytes
  std::string occasion{};  // e.g. attempt or generation: the same occasion told again, by another leader too, is one Event
  bool operator==(const EventNote&) const = default;
};

// Who reports, e.g. {"verl.run/operator", "<pod name>"}.
struct EventSource {
  std::string controller{};
  std::string instance{};
};

// One call to make: PATCH when `patch` is set (and POST `create` if the Event is gone), else POST.
struct EventWrite {
  std::string name_space{};
  std::string name{};
  std::string create{};
  std::string patch{};
  bool operator==(const EventWrite&) const = default;
};

class EventSeries final {
 public:
  explicit EventSeries(EventSource source) : source_(std::move(source)) {}

  // nullopt when the note only raises a count that sweep() will write.
  std::optional<EventWrite> record(const EventNote& note, Timestamp now);

  // Every minute or so: counts to write (every 30 minutes, and when a series ended), and forgets what ended 6 minutes ago.
  std::vector<EventWrite> sweep(Timestamp now);

  std::size_t size() const { return series_.size(); }

 private:
  struct Key {
    ObjectReference regarding{};
    std::optional<ObjectReference> related{};
    EventType type{EventType::Normal};
    std::string reason{};
    std::string action{};
    std::string note{};
    std::string occasion{};
    auto operator<=>(const Key&) const = default;
  };
  struct Series {
    EventWrite event{};
    int count{1};
    Timestamp first{};
    Timestamp last{};
    Timestamp written{};
    int written_count{1};
  };

  std::optional<EventWrite> repeat(Series& series, Timestamp now);
  EventWrite update_of(Series& series, Timestamp now) const;
  Series* fold_into(const Key& key);
  void make_room();

  EventSource source_;
  std::map<Key, Series> series_{};
};

}  // namespace verl::kube
