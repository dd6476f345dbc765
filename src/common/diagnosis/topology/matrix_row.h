// One row of the matrix that nvidia-smi topo prints, taken apart: cells may be separated by tabs or blanks, be empty, stick
// together or have been written over. What cannot be told is left empty and named, never guessed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnosis/topology/facts.h"

namespace verl::topology {

struct Cell {
  Link link{Link::Unknown};
  std::int32_t links{0};
  bool operator==(const Cell&) const = default;
};

// "NV12", " X ", "SOC" (older name of SYS). Nothing for anything else.
std::optional<Cell> parse_cell(std::string_view text);

// The header taken apart.
struct Columns {
  std::vector<std::string> labels{};  // devices, in order
  bool cpus{false};                   // a column "CPU Affinity", and so on
  bool numa{false};
  bool memory_node{false};            // "GPU NUMA ID"
  std::size_t cpus_at{0};             // where the column's name starts, for tables without tabs
  std::size_t numa_at{0};
  std::size_t memory_node_at{0};
};

// A line that starts with a device label and names columns. `rows` are the first words of the lines that may be rows: they help to
// take glued names apart. Nothing when it is no header.
std::optional<Columns> parse_header(std::string_view line, const std::vector<std::string>& rows);

struct Row {
  std::string label{};
  std::vector<std::optional<Cell>> cells{};  // one for each column of a device
  std::optional<std::string> cpus{};         // "": the cell is empty; nothing: no such column, or not to be told
  std::optional<std::string> numa{};
  std::optional<std::string> memory_node{};
  bool cpus_repaired{false};                 // taken out of a cell that was written over
  std::vector<std::string> damage{};         // "cell 14 \"PH0-95\" is no relation"
};

Row parse_row(std::string_view line, const Columns& columns);

}  // namespace verl::topology
