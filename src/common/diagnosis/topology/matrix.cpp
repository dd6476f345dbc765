// Reads what nvidia-smi topo -m and -mp print, in all layouts since 2016, whole or cut. Rows are taken apart in matrix_row.cpp;
// here they become one model: both halves of the matrix must agree, what is missing is named, what was damaged is restored only
// from the other half.
#include <algorithm>
#include <array>
#include <map>

#include "base/text.h"
#include "diagnosis/rule.h"
#include "diagnosis/topology/cpu_set.h"
#include "diagnosis/topology/lines.h"
#include "diagnosis/topology/matrix_row.h"
#include "diagnosis/topology/model.h"
#include "diagnosis/topology/readers.h"
#include "diagnosis/topology/values.h"

namespace verl::topology {
namespace {

using diagnosis::Evidence;
using diagnosis::Finding;
using diagnosis::finding_of;

std::string_view first_word(std::string_view line) {
  line = trim(line);
  return line.substr(0, line.find_first_of(" \t"));
}

bool is_indexed(std::string_view text, std::string_view prefix) {
  return text.starts_with(prefix) && parse_int(text.substr(prefix.size())).has_value();
}

struct RowAt {
  Row row{};
  Evidence shown{};
};

// The document as lines: what is a row, what the legend says, what nobody took.
struct Table {
  std::optional<Columns> columns{};
  std::vector<RowAt> rows{};
  std::map<std::string, std::string> devices{};  // NIC0 -> mlx5_0
  bool legend{false};
  bool legend_nvlink{false};
  bool legend_whole{false};  // has the entries that both views have
  std::string refusal{};     // not empty: the table cannot be trusted at all
};

// What a legend line explains: "NV#", "SYS"; empty when it is none.
std::string_view explained(std::string_view line) {
  const size_t equals = line.find('=');
  return equals == std::string_view::npos ? std::string_view{} : trim(line.substr(0, equals));
}

std::vector<std::string> row_names(std::string_view text, const ReadOptions& options) {
  std::vector<std::string> names;
  Lines lines(text, options);
  constexpr std::int64_t kLines = 20'000;  // a table stands near the start of its document
  while (lines.next() && lines.number() <= kLines && names.size() < 4 * kMostDevices) {
    if (trim(lines.line()).starts_with("Legend")) break;
    const std::string name(first_word(lines.line()));
    // The header's own first word may be several names without a gap.
    if (lines.line().find("CPU Affinity") != std::string_view::npos || name.find("GPU", 1) != std::string::npos) continue;
    if (!name.empty() && name.size() <= 64 && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

class TableReader {
 public:
  TableReader(std::string_view text, const ReadOptions& options, Reading& reading) : lines_(text, options), reading_(reading) {
    names_ = row_names(text, options);
  }

  Table read() {
    while (table_.refusal.empty() && lines_.next()) take(lines_.line());
    return std::move(table_);
  }

 private:
  void unread(std::string why) { diagnosis::add_unread(reading_, {.line = lines_.number(), .text = std::string(lines_.line()), .why = std::move(why)}); }

  void take(std::string_view line) {
    const std::string_view text = trim(line);
    if (text.empty()) return;
    if (!table_.columns) {
      constexpr std::int64_t kLines = 20'000;  // a table stands near the start of its document
      if (lines_.number() <= kLines) table_.columns = parse_header(line, names_);
      if (!table_.columns) return unread("before the table");
      if (table_.columns->labels.size() > kMostDevices) table_.refusal = "more than " + std::to_string(kMostDevices) + " columns";
      return;
    }
    if (in_nic_legend_ || table_.legend) return take_legend(text);
    if (text.starts_with("Legend")) {
      table_.legend = true;
      return;
    }
    take_row(line);
  }

  void take_legend(std::string_view text) {
    if (text.starts_with("NIC Legend")) {
      in_nic_legend_ = true;
      return;
    }
    const size_t colon = text.find(':');
    if (in_nic_legend_ && colon != std::string_view::npos && is_indexed(text.substr(0, colon), "NIC")) {
      const std::string device(trim(text.substr(colon + 1)));
      if (!device.empty() && device.size() <= 64 && device.find_first_of(" \t") == std::string::npos) {
        table_.devices.emplace(text.substr(0, colon), device);
        return;
      }
    }
    if (in_nic_legend_) return unread("behind the legend");
    const std::string_view what = explained(text);
    constexpr std::array<std::string_view, 8> kKnown{"X", "SYS", "SOC", "NODE", "PHB", "PXB", "PIX", "NV#"};
    const bool known = std::find(kKnown.begin(), kKnown.end(), what) != kKnown.end();
    // A legend that somebody wrapped goes on with indented lines.
    if (!known && (explained_.empty() || lines_.line().find_first_not_of(" \t") == 0)) return unread("behind the table");
    if (!known) return;
    explained_.push_back(std::string(what));
    table_.legend_nvlink = table_.legend_nvlink || what == "NV#";
    const auto has = [&](std::string_view one) { return std::find(explained_.begin(), explained_.end(), one) != explained_.end(); };
    table_.legend_whole = has("X") && (has("SYS") || has("SOC")) && has("PHB") && has("PXB") && has("PIX");
  }

  void take_row(std::string_view line) {
    const std::vector<std::string>& labels = table_.columns->labels;
    const std::string label(first_word(line));
    const bool column = std::find(labels.begin(), labels.end(), label) != labels.end();
    if (!column) {
      // A device without its column means that columns were lost: then nothing says which cell is whose.
      if (is_indexed(label, "GPU") || is_indexed(label, "NIC")) {
        table_.refusal = "line " + std::to_string(lines_.number()) + ": row " + label + " has no column";
        return;
      }
      return unread("no row of the table");
    }
    if (parse_header(line, names_)) return unread("a second table: give it as a document of its own");
    const bool again = std::any_of(table_.rows.begin(), table_.rows.end(), [&](const RowAt& one) { return one.row.label == label; });
    if (again) return unread("a second row of " + label);
    RowAt one{.row = parse_row(line, *table_.columns), .shown = lines_.evidence()};
    const auto own = static_cast<size_t>(std::find(labels.begin(), labels.end(), label) - labels.begin());
    for (size_t i = 0; i < one.row.cells.size(); ++i) {
      const auto& cell = one.row.cells[i];
      if (cell && (cell->link == Link::Self) != (i == own)) {
        table_.refusal = "line " + std::to_string(lines_.number()) + ": row " + label + " is shifted: the cell of column " + labels[i] +
                         (i == own ? " is not X" : " is X");
        return;
      }
    }
    table_.rows.push_back(std::move(one));
  }

  Lines lines_;
  Reading& reading_;
  Table table_{};
  std::vector<std::string> names_{};
  std::vector<std::string> explained_{};
  bool in_nic_legend_{false};
};

std::set<std::int32_t> numa_of(const std::optional<std::string>& text) {
  std::set<std::int32_t> nodes;
  const auto set = text ? parse_cpu_list(*text) : std::nullopt;
  if (!set || count(*set) > 4096) return nodes;
  for (const auto& [first, last] : set->ranges) {
    for (std::int32_t one = first; one <= last; ++one) nodes.insert(one);
  }
  return nodes;
}

Gpu gpu_of(const std::string& label, const RowAt* at) {
  Gpu gpu;
  gpu.index = parse_int<std::int32_t>(std::string_view(label).substr(3)).value_or(0);
  if (at == nullptr) return gpu;
  const Row& row = at->row;
  gpu.shown = at->shown;
  gpu.numa = numa_of(row.numa);
  if (row.cpus && *row.cpus != "N/A") gpu.cpus = row.cpus;
  gpu.cpus_truncated = gpu.cpus && looks_truncated(*gpu.cpus);
  gpu.cpus_repaired = row.cpus_repaired;
  if (row.memory_node) gpu.memory_node = parse_int<std::int32_t>(*row.memory_node);
  return gpu;
}

// Cells of the upper half, completed and checked against the lower one.
struct Joined {
  std::vector<Relation> relations{};
  std::vector<std::string> repaired{};  // "GPU0-NIC5"
  std::vector<std::string> lost{};      // both halves unreadable
  std::vector<std::string> contrary{};  // "GPU0-GPU1: NV2 and NV1"
};

Joined join_halves(const Table& table, const std::map<std::string, const RowAt*>& rows) {
  Joined joined;
  const std::vector<std::string>& labels = table.columns->labels;
  for (size_t i = 0; i < labels.size(); ++i) {
    const auto upper = rows.find(labels[i]);
    for (size_t j = i + 1; j < labels.size(); ++j) {
      const auto lower = rows.find(labels[j]);
      if (upper == rows.end() && lower == rows.end()) continue;
      const auto there = upper != rows.end() ? upper->second->row.cells[j] : std::nullopt;
      const auto back = lower != rows.end() ? lower->second->row.cells[i] : std::nullopt;
      const std::string pair = labels[i] + "-" + labels[j];
      Relation one{.a = labels[i], .b = labels[j], .link = Link::Unknown, .links = 0, .weight = {}, .hops = {}};
      if (there && back && !(*there == *back)) {
        joined.contrary.push_back(pair);
      } else if (const auto cell = there ? there : back) {
        one.link = cell->link;
        one.links = cell->links;
        if (upper != rows.end() && lower != rows.end() && (!there || !back)) joined.repaired.push_back(pair);
      } else {
        joined.lost.push_back(pair);
      }
      joined.relations.push_back(std::move(one));
    }
  }
  return joined;
}

std::optional<bool> nvlink_shown(const Table& table, const std::vector<Relation>& relations) {
  const bool seen = std::any_of(relations.begin(), relations.end(), [](const Relation& one) { return one.link == Link::NvLink; });
  if (seen || table.legend_nvlink) return true;
  return table.legend_whole ? std::optional(false) : std::nullopt;
}

std::optional<bool> nvswitch(const Facts& facts) {
  constexpr size_t kAllToAll = 8;  // up to four GPUs reach all others without a switch
  const std::vector<Relation> pairs = direct_pairs(facts);
  const size_t gpus = facts.gpus.size();
  if (gpus < kAllToAll || pairs.size() != gpus * (gpus - 1) / 2) return std::nullopt;
  return std::all_of(pairs.begin(), pairs.end(), [&](const Relation& one) { return one.links == pairs.front().links && one.links > 2; })
             ? std::optional(true)
             : std::nullopt;
}

void report(const Table& table, const Joined& joined, Reading& reading, const ReadOptions& options) {
  Facts& facts = own_node(reading).topology;
  std::vector<std::string> missing_gpus;
  std::vector<std::string> missing_nics;
  for (const std::string& label : table.columns->labels) {
    if (std::any_of(table.rows.begin(), table.rows.end(), [&](const RowAt& one) { return one.row.label == label; })) continue;
    (label.starts_with("GPU") ? missing_gpus : missing_nics).push_back(label);
  }
  const auto nameless = std::count_if(facts.nics.begin(), facts.nics.end(), [](const Nic& one) { return one.device.empty(); });
  if (!missing_gpus.empty() || !missing_nics.empty()) {
    std::string missing = "rows are missing: " + join_some(missing_gpus, 32);
    if (!missing_gpus.empty() && !missing_nics.empty()) missing += " and ";
    missing += join_some(missing_nics, 64);
    if (nameless > 0) missing += "; device names are unknown";
    mark_incomplete(reading, options, "rows", missing);
  } else if (nameless > 0) {
    Finding finding = finding_of("nic-names-unknown", "");
    finding.message = std::to_string(nameless) + " NICs stand without their device names: no legend of NICs is there";
    reading.findings.push_back(std::move(finding));
  }
  if (!joined.contrary.empty()) mark_incomplete(reading, options, "relations", "the two halves of the matrix disagree on " + join_some(joined.contrary, 8));
  if (!joined.lost.empty()) mark_incomplete(reading, options, "relations", "unreadable in both halves: " + join_some(joined.lost, 8));
  std::vector<std::string> damaged;
  std::vector<Evidence> lines;
  bool tail = false;
  for (const RowAt& one : table.rows) {
    if (one.row.damage.empty()) continue;
    damaged.push_back("row " + one.row.label + ": " + join_some(one.row.damage, 3));
    if (lines.size() < 16) lines.push_back(one.shown);
    tail = tail || (one.row.label.starts_with("GPU") && table.columns->cpus && !one.row.cpus);
  }
  if (damaged.empty()) return;
  Finding finding = finding_of(tail ? "document-incomplete" : "topology-row-damaged", "damaged rows");
  finding.seen = join_some(damaged, 4);
  finding.message = "rows were damaged (" + finding.seen + "); " +
                    (joined.repaired.empty() ? "nothing could be restored" : "restored from the other half of the matrix: " + join_some(joined.repaired, 16));
  finding.evidence = std::move(lines);
  if (tail) facts.incomplete = true;
  reading.findings.push_back(std::move(finding));
}

}  // namespace

void mark_incomplete(Reading& reading, const ReadOptions& options, std::string subject, std::string missing) {
  constexpr std::size_t kEnough = 200;
  if (reading.findings.size() >= kEnough) return;  // the document is known to be broken, and so are its facts
  Finding finding = finding_of("document-incomplete", std::move(subject));
  finding.seen = missing;
  finding.message = "the topology is incomplete: " + std::move(missing);
  finding.evidence.push_back({.source = options.name, .line = 0, .text = {}});
  own_node(reading).topology.incomplete = true;
  reading.findings.push_back(std::move(finding));
}

int matrix_likeness(std::string_view head) {
  ReadOptions plain;
  Lines lines(head, plain);
  int likeness = 0;
  for (int i = 0; i < 4000 && lines.next(); ++i) {
    std::string_view line = trim(lines.line());
    const bool comment = line.starts_with('#');
    while (line.starts_with('#') || line.starts_with(' ') || line.starts_with('\t')) line.remove_prefix(1);
    if (!line.starts_with("GPU")) continue;
    if (parse_header(line, {}) && line.find("CPU Affinity") != std::string_view::npos) return comment ? 70 : 95;
    const std::vector<std::string_view> words = split_whitespace(line.substr(0, 4096));
    const bool row = is_indexed(words.front(), "GPU") && words.size() > 2 && std::find(words.begin(), words.end(), "X") != words.end();
    if (row) likeness = 50;
  }
  return likeness;
}

Result<Reading> read_matrix(std::string_view text, const ReadOptions& options) {
  Reading reading;
  const Table table = TableReader(text, options, reading).read();
  if (!table.columns) return failure(ErrorCode::Invalid, "no header line found (a line that starts with GPU0 and names the columns)");
  if (!table.refusal.empty()) return failure(ErrorCode::Invalid, table.refusal);
  if (table.rows.empty()) return failure(ErrorCode::Invalid, "a header line and no row below it");

  std::map<std::string, const RowAt*> rows;
  size_t cells = 0;
  size_t readable = 0;
  for (const RowAt& one : table.rows) {
    rows.emplace(one.row.label, &one);
    for (const auto& cell : one.row.cells) {
      ++cells;
      readable += cell ? 1 : 0;
    }
  }
  if (readable * 2 < cells) {
    return failure(ErrorCode::Invalid, "most cells are no relations of topo -m (X, SYS, NODE, PHB, PXB, PIX, NV#): it is another table, as topo -p2p prints");
  }
  const Joined joined = join_halves(table, rows);
  Facts& facts = own_node(reading).topology;
  for (const std::string& label : table.columns->labels) {
    const auto row = rows.find(label);
    if (is_indexed(label, "GPU")) {
      facts.gpus.push_back(gpu_of(label, row == rows.end() ? nullptr : row->second));
      continue;
    }
    Nic nic;
    nic.label = label;
    const auto device = table.devices.find(label);
    if (device != table.devices.end()) nic.device = device->second;
    if (!is_indexed(label, "NIC")) nic.device = label;
    facts.nics.push_back(std::move(nic));
  }
  facts.relations = joined.relations;
  facts.nvlink_shown = nvlink_shown(table, facts.relations);
  facts.nvswitch = nvswitch(facts);
  report(table, joined, reading, options);
  add_values(own_node(reading).topology, reading);
  return reading;
}

}  // namespace verl::topology
