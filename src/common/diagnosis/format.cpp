#include "diagnosis/format.h"

#include <algorithm>

namespace verl::diagnosis {

std::vector<Format> all_formats() {
  std::vector<Format> all;
  for (const std::span<const Format> family : {nccl_formats(), log_formats(), topology_formats(), time_formats(), fabric_formats(),
                                               benchmark_formats(), kubernetes_formats()}) {
    all.insert(all.end(), family.begin(), family.end());
  }
  return all;
}

const Format* format_named(std::span<const Format> formats, std::string_view name) {
  const auto found = std::find_if(formats.begin(), formats.end(), [&](const Format& one) { return one.name == name; });
  return found == formats.end() ? nullptr : &*found;
}

const Format* recognise(std::span<const Format> formats, std::string_view head, std::string_view name) {
  constexpr int kLikely = 20;
  constexpr int kSure = 90;
  const Format* best = nullptr;
  int most = kLikely - 1;
  for (const Format& one : formats) {
    const int likeness = one.likeness(head.substr(0, kLikenessBytes));
    if (likeness <= most) continue;
    most = likeness;
    best = &one;
  }
  if (most >= kSure) return best;
  const std::string_view file = name.substr(name.rfind('/') + 1);
  const auto named = std::find_if(formats.begin(), formats.end(), [&](const Format& one) { return !one.usual_name.empty() && file.ends_with(one.usual_name); });
  return named == formats.end() ? best : &*named;
}

}  // namespace verl::diagnosis
