#include "diagnosis/nccl/nearest.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.h"
#include "diagnosis/nccl/catalogue.h"

namespace verl::nccl {
namespace {

constexpr size_t kLongestName = 80;  // longer ones are no misspelling
constexpr int kMostEdits = 2;

bool proposable(const Variable& variable) {
  return variable.layer != Layer::Nonexistent && variable.layer != Layer::Image && variable.layer != Layer::Build && variable.status != Status::Removed &&
         variable.name.find('_') != std::string_view::npos;
}

// Say nothing about the subject.
bool is_generic(std::string_view word) {
  constexpr std::array<std::string_view, 12> kWords{"NCCL", "ENABLE", "DISABLE", "USE", "LEVEL", "FILE", "SIZE", "MAX", "MIN", "NUM", "SET", "TIMEOUT"};
  return word.size() < 3 || std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

std::string without_underscores(std::string_view text) {
  std::string joined(text);
  joined.erase(std::remove(joined.begin(), joined.end(), '_'), joined.end());
  return joined;
}

}  // namespace

int edit_distance(std::string_view a, std::string_view b, int most) {
  if (a.size() > b.size()) std::swap(a, b);
  if (b.size() - a.size() > static_cast<size_t>(most) || b.size() > 4 * kLongestName) return most + 1;
  std::array<std::vector<int>, 3> rows;  // of the last two prefixes of b and this one
  for (std::vector<int>& row : rows) row.assign(a.size() + 1, 0);
  for (size_t i = 0; i <= a.size(); ++i) rows[1][i] = static_cast<int>(i);
  for (size_t j = 1; j <= b.size(); ++j) {
    std::vector<int>& row = rows[2];
    row[0] = static_cast<int>(j);
    int least = row[0];
    for (size_t i = 1; i <= a.size(); ++i) {
      row[i] = std::min({row[i - 1] + 1, rows[1][i] + 1, rows[1][i - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[i] = std::min(row[i], rows[0][i - 2] + 1);
      least = std::min(least, row[i]);
    }
    if (least > most + 1) return most + 1;  // one more: a swap looks back two rows
    std::rotate(rows.begin(), rows.begin() + 1, rows.end());
  }
  return std::min(rows[1][a.size()], most + 1);
}

std::string_view nearest_name(std::string_view name) {
  if (name.size() > kLongestName) return {};
  int most = name.size() < 10 ? 1 : kMostEdits;
  std::string_view best;
  for (const Variable* one : all_variables()) {
    if (!proposable(*one)) continue;
    const int distance = edit_distance(name, one->name, most);
    if (distance > most) continue;
    best = one->name;
    most = distance - 1;
  }
  return best;
}

std::string_view related_name(std::string_view name) {
  if (name.size() > kLongestName) return {};
  const std::string wanted = without_underscores(name);
  std::string_view best;
  size_t longest = 4;  // fewer letters in common say nothing
  for (const Variable* one : all_variables()) {
    if (!proposable(*one) || !of_libnccl(*one)) continue;
    size_t letters = 0;
    bool all = true;
    for (const std::string_view word : split(one->name, '_')) {
      if (is_generic(word)) continue;
      all = all && wanted.find(word) != std::string::npos;
      letters += word.size();
    }
    if (!all || letters <= longest) continue;
    longest = letters;
    best = one->name;
  }
  return best;
}

}  // namespace verl::nccl
