#include "diagnosis/log/words.h"

#include <cstddef>

namespace verl::log {
namespace {

constexpr std::uint32_t kNone = UINT32_MAX;  // no edge yet

}  // namespace

Words::Words(std::span<const std::string_view> words) {
  for (const std::string_view word : words) {
    for (const char c : word) {
      std::uint16_t& known = class_[static_cast<unsigned char>(c)];
      if (known == 0) known = static_cast<std::uint16_t>(classes_++);
    }
  }
  const auto add_state = [this] {
    next_.insert(next_.end(), classes_, kNone);
    first_.push_back(-1);
    return static_cast<std::uint32_t>(first_.size() - 1);
  };
  add_state();
  more_.assign(words.size(), -1);
  for (std::size_t index = 0; index < words.size(); ++index) {
    std::uint32_t state = 0;
    for (const char c : words[index]) {
      const std::size_t edge = std::size_t{state} * classes_ + class_[static_cast<unsigned char>(c)];
      if (next_[edge] == kNone) {
        const std::uint32_t made = add_state();
        next_[edge] = made;
      }
      state = next_[edge];
    }
    more_[index] = first_[state];
    first_[state] = static_cast<std::int32_t>(index);
  }

  // Breadth first: what a state falls back to is nearer to the root, hence ready.
  std::vector<std::uint32_t> fallback(first_.size(), 0);
  shorter_.assign(first_.size(), 0);
  std::vector<std::uint32_t> queue{0};
  for (std::size_t at = 0; at < queue.size(); ++at) {
    const std::uint32_t state = queue[at];
    if (state != 0) shorter_[state] = first_[fallback[state]] >= 0 ? fallback[state] : shorter_[fallback[state]];
    for (std::uint32_t letter = 0; letter < classes_; ++letter) {
      std::uint32_t& to = next_[std::size_t{state} * classes_ + letter];
      const std::uint32_t other = state == 0 ? 0 : next_[std::size_t{fallback[state]} * classes_ + letter];
      if (to == kNone) {
        to = other;
      } else {
        fallback[to] = other;
        queue.push_back(to);
      }
    }
  }
  for (const std::uint32_t one : shorter_) chained_.push_back(one == 0 ? 0 : 1);
}

}  // namespace verl::log
