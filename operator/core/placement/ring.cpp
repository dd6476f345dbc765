// For each possible first domain: best[c][r] is the least number of changes having taken c elements, the last of
// domain r. Scanning elements, best[c+1][q] = min(best[c][q], min over r of best[c][r] + 1); the minimum over r is kept
// as it changes. At element i only those c matter from which `count` can still be reached, so the table is a band.
#include "operator/core/placement/ring.h"

#include <algorithm>
#include <cstddef>

namespace verl::core::placement {
namespace {

constexpr int kNever = 1 << 28;
constexpr std::int32_t kNotTaken = -1;

struct Row {
  int least{kNever};
  int least_at{0};  // a domain where `least` is reached
};

class Band {
 public:
  Band(const std::vector<int>& domain, int count, int domains)
      : domain_(domain), count_(count), domains_(domains), slack_(static_cast<int>(domain.size()) - count) {}

  // Fewest edges when the first element taken is of domain `first`. With `trace`, remembers how.
  int run(int first, bool trace) {
    const std::size_t width = static_cast<std::size_t>(domains_);
    best_.assign((static_cast<std::size_t>(count_) + 1) * width, kNever);
    rows_.assign(static_cast<std::size_t>(count_) + 1, Row{});
    if (trace) {
      came_from_.assign(domain_.size() * static_cast<std::size_t>(std::min(slack_ + 1, count_)), kNotTaken);
    }
    for (int i = 0; i < static_cast<int>(domain_.size()); ++i) {
      const int q = domain_[static_cast<std::size_t>(i)];
      for (int c = std::min(i, count_ - 1); c >= std::max(0, i - slack_); --c) {
        int from = q;
        int cost = 0;
        if (c == 0) {
          if (q != first) {
            continue;
          }
        } else {
          const Row& row = rows_[static_cast<std::size_t>(c)];
          cost = best_[static_cast<std::size_t>(c) * width + static_cast<std::size_t>(q)];
          if (row.least + 1 < cost) {
            cost = row.least + 1;
            from = row.least_at;
          }
          if (cost >= kNever) {
            continue;
          }
        }
        int& reached = best_[(static_cast<std::size_t>(c) + 1) * width + static_cast<std::size_t>(q)];
        if (cost < reached) {
          reached = cost;
          Row& row = rows_[static_cast<std::size_t>(c) + 1];
          if (cost < row.least) {
            row = {.least = cost, .least_at = q};
          }
          if (trace) {
            came_from_[slot(i, c)] = from;
          }
        }
      }
    }
    int least = kNever;
    for (int r = 0; r < domains_; ++r) {
      const int closed = best_[static_cast<std::size_t>(count_) * width + static_cast<std::size_t>(r)] + (r != first);
      if (closed < least) {
        least = closed;
        last_ = r;
      }
    }
    return least;
  }

  // The elements behind the latest run with trace: going back, the first entry met is the last that was written.
  std::vector<std::uint32_t> elements() const {
    std::vector<std::uint32_t> taken;
    int c = count_;
    int r = last_;
    for (int i = static_cast<int>(domain_.size()) - 1; i >= 0 && c > 0; --i) {
      if (domain_[static_cast<std::size_t>(i)] != r || c - 1 > i || c - 1 < i - slack_) {
        continue;
      }
      const std::int32_t from = came_from_[slot(i, c - 1)];
      if (from != kNotTaken) {
        taken.push_back(static_cast<std::uint32_t>(i));
        r = from;
        --c;
      }
    }
    std::reverse(taken.begin(), taken.end());
    return taken;
  }

 private:
  std::size_t slot(int i, int c) const {
    const bool by_count = count_ <= slack_ + 1;  // whichever index needs the smaller table
    const int width = by_count ? count_ : slack_ + 1;
    return static_cast<std::size_t>(i) * static_cast<std::size_t>(width) +
           static_cast<std::size_t>(by_count ? c : c - (i - slack_));
  }

  const std::vector<int>& domain_;
  int count_;
  int domains_;
  int slack_;
  int last_{0};
  std::vector<int> best_{};
  std::vector<Row> rows_{};
  std::vector<std::int32_t> came_from_{};
};

}  // namespace

int ring_edges(const std::vector<int>& domain) {
  int edges = 0;
  for (std::size_t i = 0; i < domain.size(); ++i) {
    edges += domain[i] != domain[i + 1 == domain.size() ? 0 : i + 1];
  }
  return edges;
}

std::int64_t ring_cost(std::int64_t length, std::int64_t count, std::int64_t domains) {
  return length * (std::min(count, length - count) + 1) * domains;
}

int least_ring_edges(const std::vector<int>& domain, int count, int domains, int good_enough) {
  Band band(domain, count, domains);
  int least = kNever;
  for (int first = 0; first < domains && least > good_enough; ++first) {
    least = std::min(least, band.run(first, false));
  }
  return least;
}

RingChoice fewest_ring_edges(const std::vector<int>& domain, int count, int domains, int good_enough) {
  RingChoice choice{.edges = kNever, .taken = {}};
  if (count == static_cast<int>(domain.size())) {
    choice.edges = ring_edges(domain);
    for (std::uint32_t i = 0; i < domain.size(); ++i) {
      choice.taken.push_back(i);
    }
    return choice;
  }
  Band band(domain, count, domains);
  int best_first = 0;
  for (int first = 0; first < domains && choice.edges > good_enough; ++first) {
    const int edges = band.run(first, false);
    if (edges < choice.edges) {
      choice.edges = edges;
      best_first = first;
    }
  }
  band.run(best_first, true);
  choice.taken = band.elements();
  return choice;
}

}  // namespace verl::core::placement
