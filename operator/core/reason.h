// Words that may stand as the reason of a condition. The apiserver refuses a status with any other, and with it everything
// else that the status says.
#pragma once

#include <string>
#include <string_view>

namespace verl::core {

// `text` with all but letters and digits left out and a capital first ("OutOfnvidia.com/gpu" → "OutOfnvidiacomgpu"), at most
// 128 characters; `otherwise` when nothing is left.
inline std::string as_reason(std::string_view text, std::string_view otherwise) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  std::string word;
  for (const char c : text) {
    if (word.size() < 128 && (letter(c) || (!word.empty() && c >= '0' && c <= '9'))) word += c;
  }
  if (word.empty()) return std::string(otherwise);
  if (word[0] >= 'a' && word[0] <= 'z') word[0] = static_cast<char>(word[0] - 'a' + 'A');
  return word;
}

}  // namespace verl::core
