// JSON text from the apiserver or from files → slim structs. Decides what of an object is kept and what counts as
// unreadable; leaves judging values to core. Nothing here throws; text is limited in depth (64), size limits are the caller's.
// Absent and null fields keep their defaults, unknown fields are skipped, the last of two equal keys counts. A field of the
// wrong type or a quantity that is none is named in the object's `unreadable`, the rest of the object is still read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/node.h"
#include "api/node_readiness.h"
#include "api/readiness_policy.h"
#include "api/verl_job.h"
#include "base/result.h"

namespace verl::codec {

// One page of a LIST.
template <class T>
struct ListPage {
  std::vector<T> items{};
  std::string resource_version{};
  std::string continue_token{};  // empty on the last page
  bool operator==(const ListPage&) const = default;
};

// One event of a watch whose object is of the wanted kind. ERROR is no such event: it is an Error of decode_event.
enum class EventType { Added, Modified, Deleted, Bookmark };

template <class T>
struct Event {
  EventType type{EventType::Added};
  T object{};  // of a bookmark only the resourceVersion is set
  bool operator==(const Event&) const = default;
};

// T is one of api::Node, Pod, PriorityClass, ResourceQuota, Heartbeat (a Lease), VerlJob, NodeReadiness, ReadinessPolicy.
// Invalid: no JSON, no object, an object of another kind (a Status is quoted), nested too deep.
template <class T>
Result<T> decode_object(std::string_view json);

// Also takes a v1 List as kubectl writes it; its items must then all be of kind T.
template <class T>
Result<ListPage<T>> decode_list(std::string_view json);

template <class T>
Result<Event<T>> decode_event(std::string_view json);

}  // namespace verl::codec
