#include "diagnosis/nccl/algorithm_list.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/text.h"
#include "diagnosis/nccl/read_value.h"

namespace verl::nccl {
namespace {

constexpr Version kPerFunction = version(2, 24);
constexpr Version kNever = version(99, 0);

struct Word {
  std::string_view word{};
  Version since{0};
  Version gone{kNever};
};

constexpr std::array kAlgorithms{
    Word{"Tree", 0, kNever},  Word{"Ring", 0, kNever},   Word{"Collnet", version(2, 5), version(2, 14)},
    Word{"CollnetDirect", version(2, 14), kNever},       Word{"CollnetChain", version(2, 14), kNever},
    Word{"NVLS", version(2, 17), kNever},                Word{"NVLSTree", version(2, 18), kNever},
    Word{"PAT", version(2, 23), kNever},
};
constexpr std::array kProtocols{Word{"LL", 0, kNever}, Word{"LL128", version(2, 5), kNever}, Word{"Simple", 0, kNever}};
constexpr std::array<std::string_view, 5> kFunctions{"Broadcast", "Reduce", "AllGather", "ReduceScatter", "AllReduce"};

std::span<const Word> words_of(std::string_view name) {
  if (name == "NCCL_PROTO") return kProtocols;
  return kAlgorithms;
}

bool in_release(const Word& word, std::optional<Version> version) { return !version || (*version >= word.since && *version < word.gone); }

const Word* word_named(std::string_view name, std::string_view text) {
  const auto words = words_of(name);
  const auto found = std::find_if(words.begin(), words.end(), [&](const Word& one) { return equal_ignoring_case(one.word, text); });
  return found == words.end() ? nullptr : &*found;
}

bool is_function(std::string_view text) {
  return std::any_of(kFunctions.begin(), kFunctions.end(), [&](std::string_view one) { return equal_ignoring_case(one, text); });
}

// One list of words, "^" in front or not.
void read_list(std::string_view name, std::string_view text, std::optional<Version> version, AlgorithmList& result) {
  const bool exclude = text.starts_with('^');
  if (exclude) text.remove_prefix(1);
  bool named_ll128 = false;
  size_t known = 0;
  for (const std::string_view part : split(text, ',')) {
    if (part.empty()) continue;  // strtok skips it
    const Word* word = word_named(name, part);
    if (!word || !in_release(*word, version)) {
      result.unknown.emplace_back(part);
      continue;
    }
    ++known;
    named_ll128 = named_ll128 || word->word == "LL128";
    if (!version && (word->since > nccl::version(2, 18) || word->gone != kNever)) result.varies = true;
  }
  if (!exclude && known == 0) result.nothing_left = true;
  if (name == "NCCL_PROTO" && named_ll128 != exclude) result.forces_ll128 = true;
}

}  // namespace

AlgorithmList read_algorithms(std::string_view name, std::string_view text, std::optional<Version> version) {
  AlgorithmList result;
  if (version && *version < kPerFunction) {
    read_list(name, text, version, result);
    return result;
  }
  bool first = true;
  for (const std::string_view part : split(text, ';')) {
    if (part.empty()) continue;
    const size_t colon = part.find(':');
    if (colon != std::string_view::npos) {
      if (!is_function(part.substr(0, colon))) result.unknown.emplace_back(part.substr(0, colon));
      if (!version) result.varies = true;
    } else if (!first) {
      result.misplaced = true;
    }
    read_list(name, colon == std::string_view::npos ? part : part.substr(colon + 1), version, result);
    first = false;
  }
  return result;
}

std::string algorithm_words(std::string_view name, std::optional<Version> version) {
  std::vector<std::string> words;
  for (const Word& one : words_of(name)) {
    if (in_release(one, version) && one.word != "Collnet") words.emplace_back(one.word);
  }
  return join(words, ", ");
}

}  // namespace verl::nccl
