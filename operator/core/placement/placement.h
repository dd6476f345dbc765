// Chooses the nodes of a gang and proves how good the choice is. A function of values: no clock, no input order, no
// random number enters, so the same problem gives the same answer. It leaves to others which nodes are fit (the caller
// lists them per pool) and what becomes of the answer.
//
// Terms. Levels are nested, outermost first ("block", "rack"); the innermost is called a rack here. A node without a
// label is alone in an unknown domain of that level; where only an outer label is missing, the nodes that share the
// inner value share the unknown outer one, for one rack cannot lie in two blocks. Equal names under different parents
// are different domains. Ranks are the string order of addresses over the whole job, as verl sorts. Each pool is a ring
// of its own in that order (verl connects nodes within a pool); cross-domain edges are summed over the pools' rings.
//
// Wishes, in this order: every Required topology holds; fewest domains, outermost level first; fewest cross-rack
// edges; fewest fit nodes left over in the racks touched; fewest wholly free racks touched; names. Domain counts are
// taken over the whole job. Preferred therefore asks for nothing beyond the standing wishes: it names the level that is
// reported. Edges are minimised at the innermost level and counted at every one.
//
// Proofs. A `proven` flag is true only when the value equals a lower bound that holds for every answer with the wishes
// before it granted. Exact in all cases: one pool, up to two levels, fewest domains. Edges are exact when racks are
// contiguous in address order (one subnet a rack), or when the rack sets can be searched within `budget`; otherwise a
// few good rack sets are tried and the flag is false unless the bound is met. A middle level of three and several
// pools with different fit nodes are exact when small. A count that involves unknown domains is never proven.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "api/verl_job.h"
#include "base/result.h"

namespace verl::core::placement {

struct Topology {
  std::size_t level{0};  // index into Problem::levels
  api::TopologyMode mode{api::TopologyMode::Preferred};
  bool operator==(const Topology&) const = default;
};

// Every node of the cluster that could matter, fit or not: the unfit ones tell a wholly free rack from a used one.
struct Candidate {
  std::string node{};
  std::string address{};
  std::vector<std::string> domains{};  // one per level; empty: unknown
  bool operator==(const Candidate&) const = default;
};

struct Pool {
  std::string name{};
  std::int32_t nodes{0};
  std::vector<std::uint32_t> eligible{};  // indices of candidates fit for this pool, any order
  std::optional<Topology> topology{};     // own; else the job's binds it together with the other pools that have none
  bool operator==(const Pool&) const = default;
};

struct Problem {
  std::vector<std::string> levels{};
  std::vector<Candidate> candidates{};
  std::vector<Pool> pools{};  // at most 16
  std::optional<Topology> topology{};
  std::int64_t budget{100'000'000};  // elementary steps that searching and proving edges may take
  bool operator==(const Problem&) const = default;
};

struct Rank {  // its place in Solution::ranks is its number
  std::uint32_t candidate{0};
  std::uint32_t pool{0};
  bool operator==(const Rank&) const = default;
};

struct Span {  // what the answer means at one level
  std::int32_t domains{0};
  std::int32_t domains_bound{0};  // no answer spans fewer
  bool domains_proven{false};     // domains == domains_bound and no unknown domain is counted
  std::int32_t edges{0};          // neighbours in different domains, summed over the rings of the pools
  std::int32_t edges_bound{0};
  bool edges_proven{false};
  std::int32_t unknown{0};           // chosen nodes whose domain is not known
  std::vector<std::string> names{};  // of the domains spanned, sorted; "unknown(n7)" for a node without label
  bool operator==(const Span&) const = default;
};

struct Solution {
  std::vector<Rank> ranks{};
  std::vector<Span> spans{};           // one per level; empty when no level is configured: nothing is then known
  std::size_t reported_level{0};       // the level that the topology names, else the innermost
  std::int32_t left_over{0};           // fit nodes not taken in the racks touched
  std::int32_t free_racks_touched{0};  // racks that were wholly free before
  bool operator==(const Solution&) const = default;
};

struct PoolCount {
  std::string pool{};
  std::int32_t wanted{0};
  std::int32_t eligible{0};
  bool operator==(const PoolCount&) const = default;
};

struct DomainCount {
  std::string name{};
  std::int32_t eligible{0};  // nodes of the group that it could take at once
  std::int32_t total{0};     // candidates in it
  std::int32_t short_of{0};  // wanted - eligible
  bool operator==(const DomainCount&) const = default;
};

struct Relaxation {  // what the same job with Preferred for every Required would get now
  std::int32_t domains{0};
  bool domains_proven{false};
  std::int32_t edges{0};
  std::vector<std::string> names{};
  bool operator==(const Relaxation&) const = default;
};

enum class Cause {
  TooFewNodes,     // a pool has fewer fit nodes than it wants
  PoolsCompete,    // each pool alone has enough, together they have not
  NoDomainFits,    // no single domain of the Required level holds the group
  DomainsCompete,  // each Required group alone fits a domain, together they do not
  NotFound,        // the search ended at its limit without an answer: infeasible is not proven
};

struct Shortage {
  Cause cause{Cause::TooFewNodes};
  std::vector<PoolCount> pools{};         // every pool of the job
  std::vector<std::string> binding{};     // names of the pools that the cause is about
  std::int32_t wanted{0};                 // nodes that these want together
  std::int32_t available{0};              // TooFewNodes, PoolsCompete: nodes there are for them together
  std::optional<std::size_t> level{};     // NoDomainFits, DomainsCompete
  std::vector<DomainCount> best{};        // at most 3, most first, then by name
  std::optional<Relaxation> relaxation{};  // nothing when Preferred would not help either
  bool operator==(const Shortage&) const = default;
};

using Outcome = std::variant<Solution, Shortage>;

// An error only for a problem that contradicts itself: an index out of range, a negative number, an address missing on
// a fit node (its rank could not be known), one address or node name given twice among fit nodes.
Result<Outcome> solve(const Problem& problem);

}  // namespace verl::core::placement
