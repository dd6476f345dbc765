// Reads nvidia-smi -L and nvidia-smi --query-gpu=... --format=csv (with its header; without one nothing says which column is what).
#include <algorithm>
#include <array>
#include <map>

#include "base/text.h"
#include "diagnosis/rule.h"
#include "diagnosis/topology/bus_id.h"
#include "diagnosis/topology/lines.h"
#include "diagnosis/topology/readers.h"
#include "diagnosis/topology/values.h"

namespace verl::topology {
namespace {

using diagnosis::Finding;
using diagnosis::finding_of;

// GT/s per lane of a PCIe generation.
std::optional<double> gigatransfers(std::optional<std::int64_t> generation) {
  constexpr std::array<double, 8> kRates{0, 2.5, 5, 8, 16, 32, 64, 128};
  if (!generation || *generation < 1 || *generation >= static_cast<std::int64_t>(kRates.size())) return std::nullopt;
  return kRates[static_cast<size_t>(*generation)];
}

struct Column {
  std::string name{};  // "memory.total"
  std::string unit{};  // "MiB"
};

std::vector<Column> columns_of(std::string_view header) {
  std::vector<Column> columns;
  for (std::string_view one : split(header, ',')) {
    one = trim(one);
    const size_t bracket = one.find(" [");
    Column column;
    column.name = std::string(one.substr(0, bracket));
    if (bracket != std::string_view::npos && one.ends_with(']')) column.unit = std::string(one.substr(bracket + 2, one.size() - bracket - 3));
    columns.push_back(std::move(column));
  }
  return columns;
}

bool is_field(std::string_view name) {
  constexpr std::array<std::string_view, 20> kExact{"index", "name", "gpu_name", "uuid", "gpu_uuid", "pstate", "serial", "gpu_serial", "timestamp", "count",
                                                    "driver_version", "gpu_bus_id", "persistence_mode", "compute_mode", "compute_cap", "temperature.gpu",
                                                    "display_mode", "vbios_version", "fan.speed", "module_id"};
  constexpr std::array<std::string_view, 16> kStarts{"pci.", "pcie.", "memory.", "utilization.", "mig.mode.", "clocks.", "clocks_", "power.", "ecc.", "retired_pages.",
                                                     "remapped_rows.", "temperature.", "enforced.", "gom.", "encoder.", "fabric."};
  return std::find(kExact.begin(), kExact.end(), name) != kExact.end() ||
         std::any_of(kStarts.begin(), kStarts.end(), [&](std::string_view one) { return name.starts_with(one); });
}

// Fields that only this tool has: a header of "index,name" alone could be anybody's.
int telling_fields(const std::vector<Column>& columns) {
  return static_cast<int>(std::count_if(columns.begin(), columns.end(), [](const Column& one) {
    return is_field(one.name) && (one.name.find('.') != std::string::npos || one.name == "pstate" || one.name == "driver_version" || one.name.starts_with("gpu_"));
  }));
}

bool is_header(const std::vector<Column>& columns) {
  const auto fields = std::count_if(columns.begin(), columns.end(), [](const Column& one) { return is_field(one.name); });
  return telling_fields(columns) > 0 && static_cast<size_t>(fields) == columns.size();
}

// One row by field name, for what the model takes.
class Fields {
 public:
  void set(const std::string& name, std::string text) { texts_.emplace(name, std::move(text)); }
  // The first of these that is there and says something; "" otherwise.
  std::string text(std::initializer_list<const char*> names) const {
    for (const char* name : names) {
      const auto found = texts_.find(name);
      if (found != texts_.end()) return found->second;
    }
    return {};
  }
  std::optional<std::int64_t> number(std::initializer_list<const char*> names) const {
    const std::string found = text(names);
    return parse_int(std::string_view(found).substr(0, found.find(' ')));
  }

 private:
  std::map<std::string, std::string> texts_{};
};

bool says_nothing(std::string_view text) { return text.empty() || text == "N/A" || text == "[N/A]" || text.starts_with("[Not Supported") || text == "[Not Found]"; }

bool is_fault(std::string_view text) {
  return text == "ERR!" || text.starts_with("[Unknown Error") || text.starts_with("[GPU requires reset") || text.starts_with("[GPU is lost");
}

void take_row(const Fields& fields, std::int32_t row, const diagnosis::Evidence& shown, Facts& facts) {
  Gpu gpu;
  gpu.index = static_cast<std::int32_t>(fields.number({"index"}).value_or(row));
  gpu.name = fields.text({"name", "gpu_name"});
  gpu.uuid = fields.text({"uuid", "gpu_uuid"});
  gpu.bus_id = parse_bus_id(fields.text({"pci.bus_id", "gpu_bus_id"})).value_or("");
  const std::string mig = fields.text({"mig.mode.current"});
  if (mig == "Enabled") gpu.mig = true;
  if (mig == "Disabled") gpu.mig = false;
  gpu.shown = shown;
  if (facts.driver_version.empty()) facts.driver_version = fields.text({"driver_version"});
  PcieLink link;
  link.bus_id = gpu.bus_id.empty() ? label_of(gpu) : gpu.bus_id;
  link.kind = DeviceKind::Gpu;
  link.name = label_of(gpu);
  const auto narrow = [](std::optional<std::int64_t> one) { return one && *one > 0 && *one <= 32 ? std::optional(static_cast<std::int32_t>(*one)) : std::nullopt; };
  link.speed = gigatransfers(fields.number({"pcie.link.gen.current", "pcie.link.gen.gpucurrent"}));
  // The card's own limit before that of card and slot together.
  link.speed_max = gigatransfers(fields.number({"pcie.link.gen.gpumax", "pcie.link.gen.max"}));
  link.width = narrow(fields.number({"pcie.link.width.current"}));
  link.width_max = narrow(fields.number({"pcie.link.width.max"}));
  const std::string state = fields.text({"pstate"});
  const auto load = fields.number({"utilization.gpu"});
  if (state == "P0" || load.value_or(0) > 0) {
    link.busy = true;
  } else if (!state.empty() || load) {
    link.busy = false;
  }
  link.shown = shown;
  if (link.speed || link.width) facts.pcie_links.push_back(std::move(link));
  if (!gpu.bus_id.empty()) facts.pci_devices.push_back(gpu.bus_id);
  facts.gpus.push_back(std::move(gpu));
}

}  // namespace

int nvidia_query_likeness(std::string_view head) {
  ReadOptions plain;
  Lines lines(head, plain);
  for (int i = 0; i < 5 && lines.next(); ++i) {
    if (trim(lines.line()).empty()) continue;
    const std::vector<Column> columns = columns_of(lines.line().substr(0, 8192));
    if (is_header(columns)) return columns.size() > 1 ? 90 : 60;
  }
  return 0;
}

Result<Reading> read_nvidia_query(std::string_view text, const ReadOptions& options) {
  Lines lines(text, options);
  Reading reading;
  std::vector<Column> columns;
  Facts facts;
  std::int32_t row = 0;
  while (lines.next()) {
    const std::string_view line = trim(lines.line());
    const auto unread = [&](std::string why) { diagnosis::add_unread(reading, {.line = lines.number(), .text = std::string(line), .why = std::move(why)}); };
    if (line.empty()) continue;
    if (columns.empty()) {
      std::vector<Column> found = columns_of(line.substr(0, 8192));
      if (is_header(found)) {
        columns = std::move(found);
      } else {
        unread("before the header");
      }
      continue;
    }
    const std::vector<std::string_view> cells = split(line, ',');
    if (cells.size() != columns.size()) {
      unread(std::to_string(cells.size()) + " cells, " + std::to_string(columns.size()) + " wanted");
      mark_incomplete(reading, options, "rows", "line " + std::to_string(lines.number()) + " has " + std::to_string(cells.size()) + " cells of " +
                                                    std::to_string(columns.size()));
      continue;
    }
    if (facts.gpus.size() >= kMostDevices) {
      unread("more than " + std::to_string(kMostDevices) + " GPUs");
      continue;
    }
    Fields fields;
    bool fault = false;
    for (size_t i = 0; i < cells.size(); ++i) {
      const std::string_view cell = trim(cells[i]);
      fault = fault || is_fault(cell);
      if (!says_nothing(cell) && !is_fault(cell)) fields.set(columns[i].name, std::string(cell));
    }
    const auto index = fields.number({"index"}).value_or(row);
    const std::string label = "GPU" + std::to_string(index);
    for (size_t i = 0; i < cells.size(); ++i) {
      const std::string known = fields.text({columns[i].name.c_str()});
      if (known.empty()) continue;
      // "81559 MiB" repeats the unit of the header.
      const auto number = parse_int(std::string_view(known).substr(0, known.find(' ')));
      const bool counted = number && (known.find(' ') == std::string::npos || !columns[i].unit.empty());
      if (counted) {
        add_value(reading, label + "." + columns[i].name, *number, columns[i].unit);
      } else {
        add_value(reading, label + "." + columns[i].name, known, {});
      }
    }
    take_row(fields, row, lines.evidence(), facts);
    if (fault) {
      Finding finding = finding_of("gpu-lost", label);
      finding.seen = shorten(line, 120);
      finding.message = "the driver has no answer for " + label + ": " + finding.seen;
      finding.evidence.push_back(lines.evidence());
      reading.findings.push_back(std::move(finding));
    }
    ++row;
  }
  if (columns.empty()) return failure(ErrorCode::Invalid, "no header that names the fields of --query-gpu: run it without noheader");
  if (facts.gpus.empty()) return failure(ErrorCode::Invalid, "a header and no row of a GPU");
  facts.incomplete = own_node(reading).topology.incomplete;
  own_node(reading).topology = facts;
  add_value(reading, "gpus", static_cast<std::int64_t>(facts.gpus.size()));
  return reading;
}

int nvidia_list_likeness(std::string_view head) {
  ReadOptions plain;
  Lines lines(head, plain);
  for (int i = 0; i < 20 && lines.next(); ++i) {
    const std::string_view line = trim(lines.line());
    if (line.starts_with("GPU ") && line.find("(UUID: ") != std::string_view::npos) return 95;
  }
  return 0;
}

Result<Reading> read_nvidia_list(std::string_view text, const ReadOptions& options) {
  Lines lines(text, options);
  Reading reading;
  Facts facts;
  while (lines.next()) {
    const std::string_view line = trim(lines.line());
    if (line.empty()) continue;
    const size_t colon = line.find(':');
    const size_t uuid = line.rfind("(UUID: ");
    const bool ended = uuid != std::string_view::npos && line.ends_with(')');
    if (line.starts_with("GPU ") && colon != std::string_view::npos && ended && facts.gpus.size() < kMostDevices) {
      const auto index = parse_int<std::int32_t>(trim(line.substr(4, colon - 4)));
      if (index && uuid > colon) {
        Gpu gpu;
        gpu.index = *index;
        gpu.name = std::string(trim(line.substr(colon + 1, uuid - colon - 1)));
        gpu.uuid = std::string(line.substr(uuid + 7, line.size() - uuid - 8));
        gpu.shown = lines.evidence();
        facts.gpus.push_back(std::move(gpu));
        continue;
      }
    }
    if (line.starts_with("MIG ") && ended && !facts.gpus.empty()) {
      facts.gpus.back().mig = true;
      facts.gpus.back().mig_slices = facts.gpus.back().mig_slices.value_or(0) + 1;
      continue;
    }
    diagnosis::add_unread(reading, {.line = lines.number(), .text = std::string(line), .why = "no line of a GPU"});
    if (line.starts_with("GPU ") || line.starts_with("MIG ")) mark_incomplete(reading, options, "lines", "line " + std::to_string(lines.number()) + " is cut");
  }
  if (facts.gpus.empty()) return failure(ErrorCode::Invalid, "no line \"GPU n: name (UUID: ...)\"");
  facts.incomplete = own_node(reading).topology.incomplete;
  own_node(reading).topology = facts;
  add_values(facts, reading);
  return reading;
}

}  // namespace verl::topology
