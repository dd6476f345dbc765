// Reads rocm-smi --showtopo and amd-smi topology: square tables between GPUs (weight, hops, link type), then NUMA lines. XGMI and
// weights are words of these tools alone and never meet those of nvidia-smi.
#include <algorithm>
#include <array>
#include <map>

#include "base/text.h"
#include "diagnosis/topology/bus_id.h"
#include "diagnosis/topology/lines.h"
#include "diagnosis/topology/readers.h"
#include "diagnosis/topology/values.h"

namespace verl::topology {
namespace {

enum class Part { None, Weight, Hops, Type, Numa, Other };

struct Heading {
  std::string_view text{};
  Part part{Part::None};
};

constexpr std::array kHeadings{Heading{"Weight between two GPUs", Part::Weight}, Heading{"Hops between two GPUs", Part::Hops},
                               Heading{"Link Type between two GPUs", Part::Type}, Heading{"Numa Nodes", Part::Numa},
                               Heading{"Access between two GPUs", Part::Other}, Heading{"Link accessibility between two GPUs", Part::Other},
                               Heading{"LINK TYPE TABLE:", Part::Type}, Heading{"WEIGHT TABLE:", Part::Weight}, Heading{"HOPS TABLE:", Part::Hops}};

std::optional<Part> heading(std::string_view line) {
  if (!line.starts_with("=") && !line.ends_with(":") && line.find(" between two GPUs") == std::string_view::npos) return std::nullopt;
  for (const Heading& one : kHeadings) {
    if (line.find(one.text) != std::string_view::npos) return one.part;
  }
  if (line.ends_with(" TABLE:")) return Part::Other;  // access, NUMA bandwidth, coherency, atomics, DMA
  return line.starts_with("=") || line.starts_with("Legend") ? std::optional(Part::None) : std::nullopt;
}

class RocmReader {
 public:
  RocmReader(std::string_view text, const ReadOptions& options) : lines_(text, options), options_(options) {}

  Result<Reading> read() {
    while (lines_.next()) take(trim(lines_.line()));
    if (labels_.empty()) return failure(ErrorCode::Invalid, "no table between GPUs as rocm-smi --showtopo or amd-smi topology print");
    Facts& facts = own_node(reading_).topology;
    for (size_t i = 0; i < labels_.size(); ++i) {
      Gpu gpu;
      gpu.index = static_cast<std::int32_t>(i);
      if (labels_[i].starts_with("GPU")) gpu.index = parse_int<std::int32_t>(std::string_view(labels_[i]).substr(3)).value_or(gpu.index);
      gpu.bus_id = parse_bus_id(labels_[i]).value_or("");
      const auto node = numa_.find(gpu.index);
      if (node != numa_.end() && node->second >= 0) gpu.numa = {node->second};
      facts.gpus.push_back(std::move(gpu));
    }
    for (size_t i = 0; i < labels_.size(); ++i) {
      for (size_t j = i + 1; j < labels_.size(); ++j) add_relation(facts, i, j);
    }
    if (types_seen_) facts.nvlink_shown = true;  // the direct links of this vendor
    report();
    Facts copy = facts;
    add_values(copy, reading_);
    return std::move(reading_);
  }

 private:
  using Cells = std::map<std::pair<size_t, size_t>, std::string>;

  void unread(std::string why) { diagnosis::add_unread(reading_, {.line = lines_.number(), .text = std::string(lines_.line()), .why = std::move(why)}); }

  std::optional<size_t> column(std::string_view label) const {
    const auto found = std::find(labels_.begin(), labels_.end(), label);
    return found == labels_.end() ? std::nullopt : std::optional(static_cast<size_t>(found - labels_.begin()));
  }

  static bool is_label(std::string_view word) {
    return (word.starts_with("GPU") && parse_int(word.substr(3))) || (word.find(':') != std::string_view::npos && parse_bus_id(word));
  }

  void take(std::string_view line) {
    if (line.empty()) return;
    if (const auto part = heading(line)) {
      part_ = *part;
      header_seen_ = false;
      if (part_ == Part::Type) types_seen_ = true;
      return;
    }
    if (part_ == Part::Numa) return take_numa(line);
    if (part_ == Part::None) {
      // Below amd-smi's legend.
      if (line.find(" = ") == std::string_view::npos) unread("outside the tables");
      return;
    }
    const std::vector<std::string_view> words = split_whitespace(line);
    const bool labels_only = std::all_of(words.begin(), words.end(), is_label);
    if (labels_only && !header_seen_) {
      header_seen_ = true;
      if (labels_.empty()) {
        if (words.size() > kMostDevices) return unread("more than " + std::to_string(kMostDevices) + " GPUs");
        for (const std::string_view one : words) labels_.emplace_back(one);
      } else {
        const bool same = words.size() == labels_.size() && std::equal(words.begin(), words.end(), labels_.begin());
        if (!same && contradictions_.size() < kMostDevices) contradictions_.emplace_back("the tables name different GPUs");
      }
      return;
    }
    const auto row = column(words[0]);
    if (!row) return unread("no row of the table");
    if (part_ == Part::Other) return;
    if (words.size() != labels_.size() + 1) {
      if (contradictions_.size() < kMostDevices) contradictions_.push_back("row " + std::string(words[0]) + " has " + std::to_string(words.size() - 1) + " of " + std::to_string(labels_.size()) + " cells");
      return unread("a row that is cut");
    }
    Cells& cells = part_ == Part::Weight ? weights_ : part_ == Part::Hops ? hops_ : types_;
    for (size_t i = 1; i < words.size(); ++i) cells.emplace(std::pair(*row, i - 1), std::string(words[i]));
  }

  // "GPU[0]\t\t: (Topology) Numa Node: 0", older ones "GPU 0".
  void take_numa(std::string_view line) {
    const size_t end = line.find_first_of("]:");
    const size_t value = line.rfind(':');
    if (!line.starts_with("GPU") || end == std::string_view::npos || value == std::string_view::npos) return unread("no NUMA line");
    std::string_view index = trim(line.substr(3, end - 3));
    if (index.starts_with('[')) index.remove_prefix(1);
    const auto gpu = parse_int<std::int32_t>(index);
    const auto node = parse_int<std::int32_t>(trim(line.substr(value + 1)));
    if (!gpu || !node) return unread("no NUMA line");
    // The node comes first, then the affinity: -1 where the firmware says nothing.
    if (line.find("Numa Node:") != std::string_view::npos) numa_[*gpu] = *node;
    if (line.find("Numa Affinity:") != std::string_view::npos && numa_.count(*gpu) == 0) numa_[*gpu] = *node;
  }

  // The cell of a pair, when both halves say the same or only one says anything.
  std::optional<std::string> cell(const Cells& cells, size_t i, size_t j) {
    const auto there = cells.find({i, j});
    const auto back = cells.find({j, i});
    if (there != cells.end() && back != cells.end() && there->second != back->second) {
      contradictions_.push_back(labels_[i] + "-" + labels_[j] + ": " + there->second + " and " + back->second);
      return std::nullopt;
    }
    if (there != cells.end()) return there->second;
    return back != cells.end() ? std::optional(back->second) : std::nullopt;
  }

  void add_relation(Facts& facts, size_t i, size_t j) {
    Relation one{.a = label_of(facts.gpus[i]), .b = label_of(facts.gpus[j]), .link = Link::Unknown, .links = 0, .weight = {}, .hops = {}};
    const auto type = cell(types_, i, j);
    if (type == "XGMI") one.link = Link::Xgmi;
    if (type == "PCIE" || type == "PCIe") one.link = Link::Pcie;
    if (const auto weight = cell(weights_, i, j)) one.weight = parse_int<std::int32_t>(*weight);
    if (const auto hops = cell(hops_, i, j)) one.hops = parse_int<std::int32_t>(*hops);
    if (types_seen_ && one.link == Link::Unknown) unknown_.push_back(one.a + "-" + one.b);
    facts.relations.push_back(std::move(one));
  }

  void report() {
    if (!contradictions_.empty()) mark_incomplete(reading_, options_, "tables", join_some(contradictions_, 4));
    if (!unknown_.empty()) mark_incomplete(reading_, options_, "relations", "the link of " + join_some(unknown_, 8) + " is not said");
  }

  Lines lines_;
  const ReadOptions& options_;
  Reading reading_{};
  Part part_{Part::None};
  bool header_seen_{false};
  bool types_seen_{false};
  std::vector<std::string> labels_{};
  Cells weights_{};
  Cells hops_{};
  Cells types_{};
  std::map<std::int32_t, std::int32_t> numa_{};
  std::vector<std::string> contradictions_{};
  std::vector<std::string> unknown_{};
};

}  // namespace

int rocm_likeness(std::string_view head) {
  if (head.find(" between two GPUs") != std::string_view::npos && head.find("==") != std::string_view::npos) return 95;
  if (head.find("LINK TYPE TABLE:") != std::string_view::npos) return 95;
  if (head.find("(Topology) Numa") != std::string_view::npos && head.find("GPU[") != std::string_view::npos) return 70;
  return 0;
}

Result<Reading> read_rocm(std::string_view text, const ReadOptions& options) { return RocmReader(text, options).read(); }

}  // namespace verl::topology
