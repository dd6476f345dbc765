// Finds which of a fixed set of phrases stand in a text, all in one pass (Aho and Corasick 1975). A log of gigabytes is
// searched for some two hundred phrases: one search each would be the whole cost.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace verl::log {

class Words {
 public:
  explicit Words(std::span<const std::string_view> words);  // none empty

  // Calls found(index of the word) at the end of every occurrence.
  template <class F>
  void each(std::string_view text, F&& found) const {
    std::uint32_t state = 0;
    for (const char c : text) {
      state = next_[state * classes_ + class_[static_cast<unsigned char>(c)]];
      for (std::int32_t word = first_[state]; word >= 0; word = more_[static_cast<std::size_t>(word)]) found(static_cast<std::size_t>(word));
      if (!chained_[state]) continue;
      for (std::uint32_t shorter = shorter_[state]; shorter != 0; shorter = shorter_[shorter]) {
        for (std::int32_t word = first_[shorter]; word >= 0; word = more_[static_cast<std::size_t>(word)]) found(static_cast<std::size_t>(word));
      }
    }
  }

 private:
  std::uint32_t classes_{1};                  // bytes that no word uses share class 0
  std::array<std::uint16_t, 256> class_{};
  std::vector<std::uint32_t> next_{};         // state * classes_ + class -> state
  std::vector<std::int32_t> first_{};         // of the words that end in the state; -1: none
  std::vector<std::int32_t> more_{};          // of the word: another that ends in the same state
  std::vector<std::uint32_t> shorter_{};      // longest proper suffix that is a state where a word ends; 0: none
  std::vector<std::uint8_t> chained_{};       // has a shorter one
};

}  // namespace verl::log
