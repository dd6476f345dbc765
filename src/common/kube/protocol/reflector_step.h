// The list-and-watch machine of one resource as a pure function: given what just happened, what to ask the apiserver
// next and what to do with the cache. It knows nothing of objects, sockets or threads; time and chance are arguments.
// Rules follow client-go's tools/cache/reflector.go; where they differ the reason stands beside the code.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "base/units.h"
#include "kube/protocol/backoff.h"
#include "kube/protocol/watch_stream.h"

namespace verl::kube {

// Paged: lists of `page_size` without a version, read through the quorum: consistent, bounded in memory.
// FromCache: resourceVersion=0 first; the server's watch cache answers and ignores the limit.
enum class FirstList { Paged, FromCache };

struct ReflectorOptions {
  FirstList first_list{FirstList::Paged};
  int page_size{500};
  Bytes max_list_body{512 * kMiB.count};  // of one page
  Bytes max_line{4 * kMiB.count};         // of one watch event
  Seconds list_timeout{60};
  Seconds watch_timeout_min{300};
  Seconds watch_timeout_max{600};
  Seconds watch_grace{30};                // silence or age beyond the watch's own timeout
  Seconds internal_error_limit{0};        // how long watches that report 500 are opened again before a new list
  Seconds own_write_deadline{10};         // an own write not seen for this long asks for a new list
  BackoffPolicy backoff{};
};

// ---- what to do next
struct ListRequest {
  std::optional<int> limit{};
  std::string continue_token{};
  std::optional<std::string> resource_version{};  // absent: as new as the quorum knows
  bool operator==(const ListRequest&) const = default;
};
struct WatchRequest {
  std::string resource_version{};
  Seconds timeout{0};
  bool operator==(const WatchRequest&) const = default;
};
struct Wait {
  Microseconds delay{0};
  bool operator==(const Wait&) const = default;
};
struct KeepReading {  // the open watch goes on
  bool operator==(const KeepReading&) const = default;
};
using ReflectorNext = std::variant<ListRequest, WatchRequest, Wait, KeepReading>;

enum class CacheAction {
  None,
  KeepPage,         // put the page just received aside
  ReplaceByPages,   // the pages put aside, this one included, become the cache
  DropPages,        // forget the pages put aside; the cache stays as it is
  ApplyEvent,
};

// ---- what happened
struct Woken {};  // a Wait is over
struct PageArrived {
  std::string resource_version{};
  std::string continue_token{};
};
enum class ListFailure { Expired, VersionTooLarge, BodyTooLarge, Other };
struct ListFailed {
  ListFailure failure{ListFailure::Other};
  std::string message{};
  std::optional<Seconds> retry_after{};
};
struct EventArrived {
  WatchType type{WatchType::Other};
  std::string resource_version{};
  bool usable{true};  // false: wrong kind, no name; counted and left out
};
enum class WatchEnd {
  Closed,         // the server ended the answer properly
  Lost,           // the connection broke after it was open
  Silent,         // nothing came for longer than timeout and grace
  NotOpened,      // refused, unreachable, no answer
  Throttled,      // 429, as answer or as event
  Expired,        // 410, as answer or as event
  InternalError,  // an ERROR event with 500
  LineTooLong,
  Malformed,      // a line that is not JSON: what it said is lost
  Refused,        // any other status
};
struct WatchEnded {
  WatchEnd how{WatchEnd::Closed};
  std::string message{};
  std::optional<Seconds> retry_after{};
};
struct RelistAsked {};  // somebody needs a cache that is newer than now
using ReflectorInput = std::variant<Woken, PageArrived, ListFailed, EventArrived, WatchEnded, RelistAsked>;

// ---- what is remembered
struct ReflectorState {
  enum class Stage { WaitingToList, Listing, WaitingToWatch, Watching };
  Stage stage{Stage::WaitingToList};
  std::string resource_version{};   // last seen; empty before the first list
  bool paginated{false};            // a list from the watch cache came in pages: go on asking for pages
  bool version_unavailable{false};  // the server cannot list at our version: ask without until a list succeeds
  bool wants_quorum{false};         // the next list must be read through the quorum
  bool relist_after{false};         // asked for while a list was under way, which had begun too early
  int page_size{0};                 // 0: as configured; smaller after a body that was too large
  Backoff backoff{};

  ListRequest first_request{};      // of the list under way
  ListRequest request{};            // the one in flight
  std::string list_version{};       // from its first page
  int pages{0};

  WatchRequest watch{};
  Instant watch_sent{};             // the age counts from here, whenever headers come
  int watch_events{0};
  bool watch_progressed{false};     // a version was adopted
  bool watch_unordered{false};      // opened at "" or "0": synthetic ADDED carry versions in no order
  bool expired_again{false};        // two expiries without progress between: wait before the list
  std::optional<Instant> internal_errors_since{};

  std::string trouble{};            // what is wrong at present; empty when nothing is
  bool operator==(const ReflectorState&) const = default;
};

struct ReflectorStep {
  ReflectorState state{};
  CacheAction cache{CacheAction::None};
  ReflectorNext next{KeepReading{}};
  bool quorum_list{false};          // with ReplaceByPages: that list was read through the quorum
  std::string notice{};             // one log line when trouble begins, changes or ends; else empty
};

struct StepContext {
  Instant now{};
  double random{0};  // in [0, 1)
};

// The first request of a process.
ReflectorStep begin(const ReflectorOptions& options, StepContext context);

ReflectorStep step(ReflectorState state, const ReflectorInput& input, const ReflectorOptions& options, StepContext context);

}  // namespace verl::kube
