// Walks over sets of domains of one level, largest first, so that the nodes still reachable bound the walk.
#include <algorithm>
#include <numeric>

#include "operator/core/placement/racks.h"

namespace verl::core::placement {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

class SetWalk {
 public:
  SetWalk(const Fabric& fabric, const std::vector<Offer>& offers, const std::vector<int>& counts, int level, int n,
          std::int64_t steps, const std::function<bool(const std::vector<int>&)>& visit)
      : fabric_(fabric), offers_(offers), counts_(counts), level_(level), n_(n), steps_(steps), visit_(visit) {
    std::vector<int> all(offers.size());
    std::iota(all.begin(), all.end(), 0);
    groups_ = grouped_by_domain(fabric, offers, all, level);
    for (const auto& group : groups_) {
      fits_.push_back(fit_of(offers, group));
    }
    order_.resize(groups_.size());
    std::iota(order_.begin(), order_.end(), 0);
    std::sort(order_.begin(), order_.end(), [&](int a, int b) {
      return std::make_pair(-fits_[at(a)], a) < std::make_pair(-fits_[at(b)], b);
    });
    uses_.resize(at(level) + 1);
    for (int l = 0; l <= level; ++l) {
      uses_[at(l)].assign(fabric.levels[at(l)].size(), 0);
    }
    distinct_.assign(at(level) + 1, 0);
  }

  bool run() { return walk(0, counts_[at(level_)], 0); }

 private:
  bool walk(std::size_t from, int left, int sum) {
    if (--steps_ < 0) {
      return false;
    }
    if (left == 0) {
      return sum < n_ || !meets() || visit_(collected());
    }
    for (std::size_t i = from; i + at(left) <= order_.size(); ++i) {
      int most = sum;  // the next `left` are the largest that remain
      for (int j = 0; j < left; ++j) {
        most += fits_[at(order_[i + at(j)])];
      }
      if (most < n_) {
        return true;
      }
      if (add(order_[i])) {
        chosen_.push_back(order_[i]);
        const bool go_on = walk(i + 1, left - 1, sum + fits_[at(order_[i])]);
        chosen_.pop_back();
        remove(order_[i]);
        if (!go_on) {
          return false;
        }
      } else {
        remove(order_[i]);
      }
    }
    return true;
  }

  bool add(int group) {
    bool within = true;
    for (int l = 0; l <= level_; ++l) {
      const int domain = domain_of_group(group, l);
      distinct_[at(l)] += uses_[at(l)][at(domain)]++ == 0;
      within = within && distinct_[at(l)] <= counts_[at(l)];
    }
    return within;
  }
  void remove(int group) {
    for (int l = 0; l <= level_; ++l) {
      const int domain = domain_of_group(group, l);
      distinct_[at(l)] -= --uses_[at(l)][at(domain)] == 0;
    }
  }
  int domain_of_group(int group, int level) const {
    return fabric_.above[at(level)][at(offers_[at(groups_[at(group)].front())].leaf)];
  }
  bool meets() const { return std::equal(distinct_.begin(), distinct_.end(), counts_.begin()); }
  std::vector<int> collected() const {
    std::vector<int> racks;
    for (const int group : chosen_) {
      racks.insert(racks.end(), groups_[at(group)].begin(), groups_[at(group)].end());
    }
    return racks;
  }

  const Fabric& fabric_;
  const std::vector<Offer>& offers_;
  const std::vector<int>& counts_;
  int level_;
  int n_;
  std::int64_t steps_;
  const std::function<bool(const std::vector<int>&)>& visit_;
  std::vector<std::vector<int>> groups_{};
  std::vector<int> fits_{};
  std::vector<int> order_{};
  std::vector<std::vector<int>> uses_{};
  std::vector<int> distinct_{};
  std::vector<int> chosen_{};
};

}  // namespace

bool for_each_set(const Fabric& fabric, const std::vector<Offer>& offers, const std::vector<int>& counts, int level,
                  int n, std::int64_t steps, const std::function<bool(const std::vector<int>&)>& visit) {
  return SetWalk(fabric, offers, counts, level, n, steps, visit).run();
}

}  // namespace verl::core::placement
