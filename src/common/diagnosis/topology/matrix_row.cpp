#include "diagnosis/topology/matrix_row.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "diagnosis/topology/cpu_set.h"

namespace verl::topology {
namespace {

struct Name {
  std::string_view text{};
  Link link{Link::Unknown};
};

constexpr std::array kNames{Name{"X", Link::Self}, Name{"PIX", Link::Pix}, Name{"PXB", Link::Pxb}, Name{"PHB", Link::Phb},
                            Name{"NODE", Link::Node}, Name{"SYS", Link::Sys}, Name{"SOC", Link::Sys}};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// "NV12NV12", "SYSPHB": cells that lost the tab between them, all of them known; empty when it is not that.
std::vector<std::string_view> unglued(std::string_view text) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    size_t length = 0;
    if (text.starts_with("NV") && text.size() > 2 && is_digit(text[2])) {
      length = 3;
      while (length < text.size() && is_digit(text[length])) ++length;
    }
    for (const Name& name : kNames) {
      if (length == 0 && text.starts_with(name.text)) length = name.text.size();
    }
    if (length == 0) return {};
    parts.push_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return parts;
}

// "PH0-95", "SYS0-31": what is left of a relation with the CPU list written over its end. The relation is whole only when it is
// one of those without a number; where NV12 ends and the CPUs begin cannot be told.
struct Overwritten {
  std::optional<Cell> cell{};
  std::string cpus{};
};

std::optional<Overwritten> overwritten(std::string_view text) {
  const size_t letters = std::min(text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ"), text.size());
  const std::string_view word = text.substr(0, letters);
  const std::string_view rest = text.substr(letters);
  if (word.empty() || word == "N" || word == "NV" || !parse_cpu_list(rest) || rest.find('-') == std::string_view::npos) return std::nullopt;
  const bool begins = std::any_of(kNames.begin(), kNames.end(), [&](const Name& name) { return name.text.starts_with(word); });
  if (!begins) return std::nullopt;
  return Overwritten{.cell = parse_cell(word), .cpus = std::string(rest)};
}

// Words and where they start.
struct Word {
  std::string_view text{};
  size_t at{0};
};

std::vector<Word> words_of(std::string_view line) {
  std::vector<Word> words;
  for (const std::string_view one : split_whitespace(line)) words.push_back({.text = one, .at = static_cast<size_t>(one.data() - line.data())});
  return words;
}

bool is_list_or_empty(std::string_view text) { return text.empty() || text == "N/A" || parse_cpu_list(text).has_value(); }

// Everything that stands behind the relations, in one form for both kinds of table.
struct Tail {
  std::vector<Word> cells{};
  bool tabs{false};
};

void take_tail(const Tail& tail, const Columns& columns, Row& row) {
  const size_t wanted = size_t{columns.cpus} + size_t{columns.numa} + size_t{columns.memory_node};
  if (wanted == 0) return;
  const auto text_of = [](std::string_view text) { return std::string(trim(text)); };
  std::vector<std::optional<std::string>> found(3);
  if (tail.cells.size() >= wanted) {
    found[0] = text_of(tail.cells[0].text);
    if (columns.numa) found[1] = text_of(tail.cells[1].text);
    // One tab more stands before the last column than the header has.
    for (size_t i = 2; columns.memory_node && i < tail.cells.size(); ++i) {
      if (!trim(tail.cells[i].text).empty()) found[2] = text_of(tail.cells[i].text);
    }
  } else if (!tail.tabs) {
    // Fewer words than columns: only one that starts just where its column's name does can be told.
    for (const Word& one : tail.cells) {
      const std::array<std::pair<bool, size_t>, 3> starts{std::pair{columns.cpus, columns.cpus_at}, std::pair{columns.numa, columns.numa_at},
                                                          std::pair{columns.memory_node, columns.memory_node_at}};
      for (size_t i = 0; i < starts.size(); ++i) {
        if (starts[i].first && starts[i].second == one.at) found[i] = text_of(one.text);
      }
    }
    const auto told = std::count_if(found.begin(), found.end(), [](const auto& one) { return one.has_value(); });
    if (static_cast<size_t>(told) == tail.cells.size() && told > 0) {
      for (size_t i = 0; i < wanted; ++i) found[i] = found[i].value_or("");
    } else {
      found.assign(3, std::nullopt);
    }
  }
  const auto unsure = [&](std::string what) {
    row.damage.push_back(std::move(what));
    found.assign(3, std::nullopt);
  };
  if (!found[0] && row.label.starts_with("GPU")) {
    unsure("its last cells (CPUs, NUMA) cannot be told apart or are missing");
  } else if (found[0] && !is_list_or_empty(*found[0]) && !looks_truncated(*found[0])) {
    unsure("\"" + shorten(*found[0], 40) + "\" is no CPU list");
  } else if (found[1] && !is_list_or_empty(*found[1])) {
    unsure("\"" + shorten(*found[1], 40) + "\" is no NUMA node");
  }
  row.cpus = found[0];
  row.numa = found[1];
  row.memory_node = found[2];
}

// Takes labels out of a word: "GPU0GPU1mlx5_1" with the help of the names that rows start with.
void unglue_labels(std::string_view word, const std::vector<std::string>& rows, std::vector<std::string>& labels) {
  const auto known = [&](std::string_view text) { return std::find(rows.begin(), rows.end(), text) != rows.end(); };
  while (!word.empty()) {
    size_t length = 0;
    if (known(word)) length = word.size();
    if (length == 0 && (word.starts_with("GPU") || word.starts_with("NIC"))) {
      length = 3;
      while (length < word.size() && is_digit(word[length])) ++length;
      if (length == 3) length = 0;
    }
    for (const std::string& row : rows) {
      if (length == word.size()) break;
      if (word.starts_with(row) && row.size() > length && row.size() < word.size() && !is_digit(word[row.size()])) length = row.size();
    }
    if (length == 0) length = word.size();
    labels.emplace_back(word.substr(0, length));
    word.remove_prefix(length);
  }
}

bool is_gpu_label(std::string_view text) { return text.starts_with("GPU") && text.size() > 3 && is_digit(text[3]); }

}  // namespace

std::optional<Cell> parse_cell(std::string_view text) {
  text = trim(text);
  for (const Name& name : kNames) {
    if (text == name.text) return Cell{.link = name.link, .links = 0};
  }
  if (!text.starts_with("NV") || text.size() < 3 || !is_digit(text[2])) return std::nullopt;
  const auto links = parse_int<std::int32_t>(text.substr(2));
  if (!links || *links < 1 || *links > 1024) return std::nullopt;
  return Cell{.link = Link::NvLink, .links = *links};
}

std::optional<Columns> parse_header(std::string_view line, const std::vector<std::string>& rows) {
  constexpr std::string_view kCpu = "CPU Affinity";
  constexpr std::string_view kNuma = "NUMA Affinity";
  constexpr std::string_view kMemoryNode = "GPU NUMA ID";
  if (!is_gpu_label(trim(line))) return std::nullopt;
  Columns columns;
  const size_t cpu = line.find(kCpu);
  columns.cpus = cpu != std::string_view::npos;
  if (columns.cpus) {
    columns.cpus_at = cpu;
    const std::string_view tail = line.substr(cpu);
    const size_t numa = tail.find(kNuma);
    const size_t memory = tail.find(kMemoryNode);
    columns.numa = numa != std::string_view::npos;
    columns.numa_at = columns.numa ? cpu + numa : 0;
    columns.memory_node = columns.numa && memory != std::string_view::npos;
    columns.memory_node_at = columns.memory_node ? cpu + memory : 0;
  }
  const std::vector<std::string_view> words = split_whitespace(line.substr(0, cpu));
  // A row starts with a label too, but a cell follows.
  if (words.size() > 1 && parse_cell(words[1])) return std::nullopt;
  for (const std::string_view word : words) unglue_labels(word, rows, columns.labels);
  if (!columns.cpus && columns.labels.size() < 2) return std::nullopt;
  return columns;
}

Row parse_row(std::string_view line, const Columns& columns) {
  Row row;
  const size_t wanted = columns.labels.size();
  Tail tail;
  tail.tabs = line.find('\t') != std::string_view::npos;
  std::vector<Word> cells;  // relations first, the tail behind
  if (tail.tabs) {
    const std::vector<std::string_view> fields = split(line, '\t');
    size_t field = 0;
    while (field < fields.size() && trim(fields[field]).empty()) ++field;
    std::vector<Word> first = field < fields.size() ? words_of(fields[field]) : std::vector<Word>{};
    if (!first.empty()) {
      row.label = std::string(first.front().text);
      cells.assign(first.begin() + 1, first.end());
    }
    for (++field; field < fields.size(); ++field) {
      const std::vector<std::string_view> inside = split_whitespace(fields[field]);
      // Relations that a blank separates are still apart; an empty relation and the tail keep their place.
      if (cells.size() < wanted && inside.size() > 1) {
        for (const std::string_view one : inside) cells.push_back({.text = one, .at = 0});
      } else {
        cells.push_back({.text = trim(fields[field]), .at = 0});
      }
    }
  } else {
    cells = words_of(line);
    if (!cells.empty()) {
      row.label = std::string(cells.front().text);
      cells.erase(cells.begin());
    }
  }
  size_t taken = 0;
  while (row.cells.size() < wanted && taken < cells.size()) {
    const std::string_view text = cells[taken].text;
    const std::string place = "cell " + std::to_string(row.cells.size() + 1) + " \"" + shorten(text, 40) + "\"";
    ++taken;
    if (const auto cell = parse_cell(text)) {
      row.cells.push_back(cell);
      continue;
    }
    const std::vector<std::string_view> parts = unglued(text);
    if (parts.size() > 1 && row.cells.size() + parts.size() <= wanted) {
      for (const std::string_view part : parts) row.cells.push_back(parse_cell(part));
      continue;
    }
    if (row.cells.size() + 1 == wanted) {
      if (const auto both = overwritten(text)) {
        row.cells.push_back(both->cell);
        row.damage.push_back(place + " is two cells written over each other");
        row.cpus_repaired = true;
        tail.cells.push_back({.text = text.substr(text.size() - both->cpus.size()), .at = 0});
        continue;
      }
    }
    row.cells.push_back(std::nullopt);
    row.damage.push_back(place + " is no relation");
  }
  if (row.cells.size() < wanted) {
    // Where the output ends, NV12 may have become NV1.
    if (!row.cells.empty() && row.cells.back() && row.cells.back()->link == Link::NvLink) row.cells.back().reset();
    row.damage.push_back(std::to_string(row.cells.size()) + " of " + std::to_string(wanted) + " relations are there");
    row.cells.resize(wanted);
  }
  tail.cells.insert(tail.cells.end(), cells.begin() + static_cast<std::ptrdiff_t>(taken), cells.end());
  take_tail(tail, columns, row);
  return row;
}

}  // namespace verl::topology
