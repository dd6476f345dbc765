#include "operator/core/placement/fabric.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <string_view>
#include <tuple>
#include <unordered_map>

namespace verl::core::placement {
namespace {

struct Key {
  int parent{-1};
  char kind{'v'};  // v: a value, i: unknown but shared by an inner value, n: unknown, this node alone
  std::string_view value{};
  bool operator==(const Key&) const = default;
};

struct KeyHash {
  std::size_t operator()(const Key& key) const {
    return std::hash<std::string_view>{}(key.value) * 31 + static_cast<std::size_t>(key.parent + 1) * 7919 +
           static_cast<std::size_t>(key.kind);
  }
};

Key key_of(const Candidate& candidate, std::size_t level, std::size_t depth, int parent) {
  const auto at = [&](std::size_t i) {
    return i < candidate.domains.size() ? std::string_view(candidate.domains[i]) : std::string_view{};
  };
  if (!at(level).empty()) {
    return {.parent = parent, .kind = 'v', .value = at(level)};
  }
  for (std::size_t inner = level + 1; inner < depth; ++inner) {
    if (!at(inner).empty()) {
      return {.parent = parent, .kind = 'i', .value = at(inner)};
    }
  }
  return {.parent = parent, .kind = 'n', .value = candidate.node};
}

// Numbers the domains of one level by (parent, name) and fills `domain_of` per candidate.
std::vector<Domain> number_level(const Problem& problem, std::size_t level, const std::vector<int>& parents,
                                 std::vector<int>& domain_of) {
  std::unordered_map<Key, int, KeyHash> seen;
  std::vector<Key> keys;
  std::vector<int> first(problem.candidates.size());
  for (std::size_t i = 0; i < problem.candidates.size(); ++i) {
    const Key key = key_of(problem.candidates[i], level, problem.levels.size(), parents[i]);
    const auto [at, added] = seen.try_emplace(key, static_cast<int>(keys.size()));
    if (added) {
      keys.push_back(key);
    }
    first[i] = at->second;
  }
  std::vector<int> order(keys.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int left, int right) {
    const Key& a = keys[static_cast<std::size_t>(left)];
    const Key& b = keys[static_cast<std::size_t>(right)];
    return std::tie(a.parent, b.kind, a.value) < std::tie(b.parent, a.kind, b.value);  // known values first
  });
  std::vector<int> number(keys.size());
  std::vector<Domain> domains;
  for (const int old : order) {
    const Key& key = keys[static_cast<std::size_t>(old)];
    number[static_cast<std::size_t>(old)] = static_cast<int>(domains.size());
    const std::string value(key.value);
    domains.push_back({.name = key.kind == 'v' ? value : "unknown(" + value + ")",
                       .parent = key.parent,
                       .total = 0,
                       .known = key.kind == 'v'});
  }
  for (std::size_t i = 0; i < first.size(); ++i) {
    domain_of[i] = number[static_cast<std::size_t>(first[i])];
    ++domains[static_cast<std::size_t>(domain_of[i])].total;
  }
  return domains;
}

// The first 16 bytes of an address as two big-endian words, so that most comparisons never touch the text.
struct SortKey {
  std::array<std::uint64_t, 2> word{};
  std::uint32_t candidate{0};
};

SortKey sort_key(const std::string& address, std::uint32_t candidate) {
  std::array<unsigned char, 16> bytes{};
  std::memcpy(bytes.data(), address.data(), std::min<std::size_t>(address.size(), bytes.size()));
  SortKey key{.word = {}, .candidate = candidate};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    key.word[i / 8] = key.word[i / 8] << 8U | bytes[i];
  }
  return key;
}

void order_by_address(const Problem& problem, const std::vector<std::uint32_t>& mask, Fabric& fabric) {
  std::vector<SortKey> keys;
  for (std::uint32_t i = 0; i < mask.size(); ++i) {
    if (mask[i] != 0) {
      keys.push_back(sort_key(problem.candidates[i].address, i));
    }
  }
  std::sort(keys.begin(), keys.end(), [&](const SortKey& left, const SortKey& right) {
    if (left.word != right.word) {
      return left.word < right.word;
    }
    const Candidate& a = problem.candidates[left.candidate];
    const Candidate& b = problem.candidates[right.candidate];
    return std::tie(a.address, a.node) < std::tie(b.address, b.node);
  });
  fabric.candidate.reserve(keys.size());
  fabric.mask.reserve(keys.size());
  for (const SortKey& key : keys) {
    fabric.candidate.push_back(key.candidate);
    fabric.mask.push_back(mask[key.candidate]);
  }
}

}  // namespace

Fabric make_fabric(const Problem& problem) {
  Fabric fabric;
  std::vector<int> domain_of(problem.candidates.size(), -1);
  if (problem.levels.empty()) {
    fabric.levels.push_back({Domain{.name = "", .parent = -1, .total = static_cast<int>(domain_of.size())}});
    std::fill(domain_of.begin(), domain_of.end(), 0);
  }
  for (std::size_t level = 0; level < problem.levels.size(); ++level) {
    const std::vector<int> parents = domain_of;
    fabric.levels.push_back(number_level(problem, level, parents, domain_of));
  }
  std::vector<std::uint32_t> mask(problem.candidates.size(), 0);
  for (std::size_t pool = 0; pool < problem.pools.size(); ++pool) {
    if (problem.pools[pool].nodes == 0) {
      continue;
    }
    for (const std::uint32_t i : problem.pools[pool].eligible) {
      mask[i] |= 1U << pool;
    }
  }
  order_by_address(problem, mask, fabric);
  fabric.leaf.reserve(fabric.candidate.size());
  for (const std::uint32_t i : fabric.candidate) {
    fabric.leaf.push_back(domain_of[i]);
  }
  fabric.above.resize(fabric.levels.size());
  std::vector<int>& innermost = fabric.above.back();
  innermost.resize(fabric.levels.back().size());
  std::iota(innermost.begin(), innermost.end(), 0);
  for (std::size_t level = fabric.levels.size() - 1; level > 0; --level) {
    for (const int domain : fabric.above[level]) {
      fabric.above[level - 1].push_back(fabric.levels[level][static_cast<std::size_t>(domain)].parent);
    }
  }
  return fabric;
}

std::string shown_name(const Fabric& fabric, int level, int domain) {
  const auto& domains = fabric.levels[static_cast<std::size_t>(level)];
  const Domain& own = domains[static_cast<std::size_t>(domain)];
  const auto same = std::count_if(domains.begin(), domains.end(), [&](const Domain& d) { return d.name == own.name; });
  if (same > 1 && own.parent >= 0) {
    return shown_name(fabric, level - 1, own.parent) + "/" + own.name;
  }
  return own.name;
}

}  // namespace verl::core::placement
