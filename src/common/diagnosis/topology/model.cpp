#include "diagnosis/topology/model.h"

#include <algorithm>
#include <functional>

#include "base/broken_invariant.h"

namespace verl::topology {
namespace {

bool is_direct(Link link) { return link == Link::NvLink || link == Link::Xgmi; }

std::string label(std::int32_t index) { return "GPU" + std::to_string(index); }

// Looks for the split with the most links; bounded by the number of steps, not by the number of splits.
class Split {
 public:
  Split(const std::vector<std::int32_t>& gpus, const Relations& relations, std::size_t size) : gpus_(gpus), relations_(relations), size_(size) {}

  std::optional<std::vector<std::vector<std::int32_t>>> best() {
    used_.assign(gpus_.size(), false);
    open_group(0);
    return best_;
  }

 private:
  static constexpr int kSteps = 200'000;

  void open_group(std::int64_t links) {
    const auto free = std::find(used_.begin(), used_.end(), false);
    if (free == used_.end()) {
      if (!best_ || links > most_) {
        best_ = groups_;
        most_ = links;
      }
      return;
    }
    const auto first = static_cast<std::size_t>(free - used_.begin());
    groups_.push_back({gpus_[first]});
    used_[first] = true;
    fill(first + 1, links);
    used_[first] = false;
    groups_.pop_back();
  }

  void fill(std::size_t from, std::int64_t links) {
    if (++steps_ > kSteps) return;
    if (groups_.back().size() == size_) {
      open_group(links);
      return;
    }
    for (std::size_t i = from; i < gpus_.size(); ++i) {
      if (used_[i]) continue;
      std::int64_t more = 0;
      const bool all = std::all_of(groups_.back().begin(), groups_.back().end(), [&](std::int32_t other) {
        const Relation* one = relations_.between(label(other), label(gpus_[i]));
        if (one == nullptr || !is_direct(one->link)) return false;
        more += std::max(1, one->links);
        return true;
      });
      if (!all) continue;
      used_[i] = true;
      groups_.back().push_back(gpus_[i]);
      fill(i + 1, links + more);
      groups_.back().pop_back();
      used_[i] = false;
    }
  }

  const std::vector<std::int32_t>& gpus_;
  const Relations& relations_;
  std::size_t size_;
  std::vector<bool> used_{};
  std::vector<std::vector<std::int32_t>> groups_{};
  std::optional<std::vector<std::vector<std::int32_t>>> best_{};
  std::int64_t most_{0};
  int steps_{0};
};

}  // namespace

Relations::Relations(const Facts& facts) {
  for (const Relation& one : facts.relations) {
    by_names_.emplace(std::pair(one.a, one.b), &one);
    by_names_.emplace(std::pair(one.b, one.a), &one);
  }
}

const Relation* Relations::between(const std::string& a, const std::string& b) const {
  const auto found = by_names_.find({a, b});
  return found == by_names_.end() ? nullptr : found->second;
}

Nearest nearest_nics(const Facts& facts, const Relations& relations, const std::string& gpu) {
  Nearest nearest;
  for (const Nic& nic : facts.nics) {
    const Relation* one = relations.between(gpu, nic.label);
    if (one == nullptr || one->link == Link::Unknown) {
      nearest.complete = false;
      continue;
    }
    if (nearest.link != Link::Unknown && one->link > nearest.link) continue;
    if (nearest.link == Link::Unknown || one->link < nearest.link) nearest.nics.clear();
    nearest.link = one->link;
    nearest.nics.push_back(nic.label);
  }
  return nearest;
}

std::vector<Relation> direct_pairs(const Facts& facts) {
  std::vector<Relation> pairs;
  std::copy_if(facts.relations.begin(), facts.relations.end(), std::back_inserter(pairs), [](const Relation& one) { return is_direct(one.link); });
  return pairs;
}

std::vector<std::vector<std::int32_t>> joined_gpus(const Facts& facts) {
  std::map<std::string, std::size_t> group_of;
  std::vector<std::vector<std::int32_t>> groups;
  const Relations relations(facts);
  for (const Gpu& gpu : facts.gpus) {
    if (group_of.count(label_of(gpu)) != 0) continue;
    std::vector<std::int32_t> group{gpu.index};
    group_of[label_of(gpu)] = groups.size();
    for (std::size_t i = 0; i < group.size(); ++i) {
      for (const Gpu& other : facts.gpus) {
        if (group_of.count(label_of(other)) != 0) continue;
        const Relation* one = relations.between(label(group[i]), label_of(other));
        if (one == nullptr || !is_direct(one->link)) continue;
        group_of[label_of(other)] = groups.size();
        group.push_back(other.index);
      }
    }
    std::sort(group.begin(), group.end());
    groups.push_back(std::move(group));
  }
  groups.erase(std::remove_if(groups.begin(), groups.end(), [](const auto& one) { return one.size() < 2; }), groups.end());
  return groups;
}

GroupFit group_fit(const Facts& facts, const Relations& relations, const std::vector<std::int32_t>& gpus) {
  bool direct = true;
  for (const std::int32_t one : gpus) {
    const auto gpu = std::find_if(facts.gpus.begin(), facts.gpus.end(), [&](const Gpu& other) { return other.index == one; });
    if (gpu == facts.gpus.end()) return GroupFit::Unknown;
    if (gpu->mig.value_or(false) && gpus.size() > 1) return GroupFit::Sliced;
  }
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    for (std::size_t j = i + 1; j < gpus.size(); ++j) {
      const Relation* one = relations.between(label(gpus[i]), label(gpus[j]));
      if (one == nullptr || one->link == Link::Unknown) return GroupFit::Unknown;
      direct = direct && is_direct(one->link);
    }
  }
  if (direct) return GroupFit::Direct;
  const bool any_direct = std::any_of(facts.relations.begin(), facts.relations.end(), [](const Relation& one) { return is_direct(one.link); });
  if (any_direct) return GroupFit::Worse;
  return facts.nvlink_shown.value_or(false) ? GroupFit::Equal : GroupFit::Unknown;
}

std::string_view to_string(GroupFit fit) {
  switch (fit) {
    case GroupFit::Direct: return "direct";
    case GroupFit::Equal: return "equal";
    case GroupFit::Worse: return "worse";
    case GroupFit::Sliced: return "sliced";
    case GroupFit::Unknown: return "unknown";
  }
  broken_invariant("a fit outside its enumeration");
}

std::optional<std::vector<std::vector<std::int32_t>>> direct_groups(const Facts& facts, const Relations& relations, std::size_t size) {
  if (size < 2 || facts.gpus.size() > kMostGrouped || facts.gpus.size() % size != 0 || facts.gpus.empty()) return std::nullopt;
  std::vector<std::int32_t> gpus;
  for (const Gpu& one : facts.gpus) gpus.push_back(one.index);
  return Split(gpus, relations, size).best();
}

std::vector<std::int32_t> whole_gpus(const Facts& facts) {
  std::vector<std::int32_t> whole;
  for (const Gpu& one : facts.gpus) {
    if (!one.mig.value_or(false)) whole.push_back(one.index);
  }
  return whole;
}

std::string labels_of(const std::vector<std::int32_t>& gpus) {
  std::string text;
  for (const std::int32_t one : gpus) text += (text.empty() ? "" : ",") + label(one);
  return text;
}

}  // namespace verl::topology
