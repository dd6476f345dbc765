// Reads the table that nvidia-smi prints without arguments, of all widths since 2014: GPUs, memory, MIG. Also its one-line refusals
// (driver not there, GPU lost).
#include <algorithm>
#include <array>

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

constexpr std::array<std::string_view, 5> kRefusals{"couldn't communicate with the NVIDIA driver", "No devices were found", "GPU is lost",
                                                    "Unable to determine the device handle", "Failed to initialize NVML"};

bool is_refusal(std::string_view line) {
  return std::any_of(kRefusals.begin(), kRefusals.end(), [&](std::string_view one) { return line.find(one) != std::string_view::npos; });
}

// The word after a label in "| NVIDIA-SMI 525.85.12    Driver Version: 525.85.12    CUDA Version: 12.0     |".
std::string after(std::string_view line, std::string_view label) {
  const size_t at = line.find(label);
  if (at == std::string_view::npos) return {};
  const std::vector<std::string_view> words = split_whitespace(line.substr(at + label.size(), 128));
  return words.empty() || words[0] == "|" ? std::string{} : std::string(words[0]);
}

// Cells between the bars, without the outer ones.
std::vector<std::string_view> cells_of(std::string_view line) {
  line = trim(line);
  if (line.size() < 2 || line.front() != '|' || line.back() != '|') return {};
  return split(line.substr(1, line.size() - 2), '|');
}

// "412MiB" -> 412 * 2^20
std::optional<std::int64_t> mebibytes(std::string_view text) {
  text = trim(text);
  if (!text.ends_with("MiB") && !text.ends_with("MB")) return std::nullopt;
  const auto number = parse_int(trim(text.substr(0, text.find_first_not_of("0123456789"))));
  return number && *number >= 0 && *number < (std::int64_t{1} << 40) ? std::optional(*number << 20) : std::nullopt;
}

class SmiReader {
 public:
  SmiReader(std::string_view text, const ReadOptions& options) : lines_(text, options), options_(options) {}

  Result<Reading> read() {
    while (lines_.next()) take(trim(lines_.line()));
    Facts& facts = own_node(reading_).topology;
    if (facts.gpus.empty() && reading_.findings.empty()) return failure(ErrorCode::Invalid, "no row of a GPU in the table of nvidia-smi");
    facts.driver_version = driver_;
    for (size_t i = 0; i < facts.gpus.size(); ++i) {
      Gpu& gpu = facts.gpus[i];
      if (slices_seen_ && gpu.mig.value_or(false)) gpu.mig_slices = std::count(slices_.begin(), slices_.end(), gpu.index);
      if (rows_[i] < 2) mark_incomplete(reading_, options_, label_of(gpu), "the rows of GPU " + std::to_string(gpu.index) + " are cut");
    }
    Facts copy = facts;
    add_values(copy, reading_);
    if (!cuda_.empty()) add_value(reading_, "cuda_version", cuda_);
    add_value(reading_, "whole_gpus", std::count_if(copy.gpus.begin(), copy.gpus.end(), [](const Gpu& one) { return !one.mig.value_or(false); }));
    if (processes_seen_) add_value(reading_, "processes", processes_);
    return std::move(reading_);
  }

 private:
  enum class Part { Gpus, Mig, Processes };

  void unread(std::string why) { diagnosis::add_unread(reading_, {.line = lines_.number(), .text = std::string(lines_.line()), .why = std::move(why)}); }

  void take(std::string_view line) {
    if (line.empty() || line.starts_with('+') || line.starts_with("|-") || line.starts_with("|=")) return;
    if (is_refusal(line) && reading_.findings.size() < kMostDevices) {
      Finding finding = finding_of("gpu-lost", "");
      finding.seen = shorten(line, 120);
      finding.message = "nvidia-smi: " + finding.seen;
      finding.evidence.push_back(lines_.evidence());
      reading_.findings.push_back(std::move(finding));
      return;
    }
    if (line.find("NVIDIA-SMI") != std::string_view::npos) {
      driver_ = after(line, "Driver Version:");
      cuda_ = after(line, "CUDA Version:");
      return;
    }
    const std::vector<std::string_view> cells = cells_of(line);
    if (cells.empty()) {
      // "Tue Nov  3 10:11:12 2026" stands above the table.
      if (own_node(reading_).topology.gpus.empty() && line.find(':') != std::string_view::npos && line.size() < 40) return;
      return unread("no row of the table");
    }
    if (cells[0].find("MIG devices") != std::string_view::npos) {
      part_ = Part::Mig;
      slices_seen_ = true;
    } else if (cells[0].find("Processes:") != std::string_view::npos) {
      part_ = Part::Processes;
      processes_seen_ = true;
    } else if (part_ == Part::Gpus) {
      take_gpu(cells);
    } else {
      take_other(cells);
    }
  }

  void take_other(const std::vector<std::string_view>& cells) {
    const std::vector<std::string_view> words = split_whitespace(cells[0]);
    const auto index = words.empty() ? std::nullopt : parse_int<std::int32_t>(words[0]);
    if (!index) return;  // headings, "No running processes found", second rows of a slice
    if (part_ == Part::Processes) {
      ++processes_;
    } else if (slices_.size() < 16 * kMostDevices && words.size() >= 3) {
      slices_.push_back(*index);
    }
  }

  void take_gpu(const std::vector<std::string_view>& cells) {
    Facts& facts = own_node(reading_).topology;
    if (cells.size() != 3) return unread("a row of " + std::to_string(cells.size()) + " cells");
    const std::vector<std::string_view> first = split_whitespace(cells[0]);
    const std::vector<std::string_view> second = split_whitespace(cells[1]);
    const auto index = first.empty() ? std::nullopt : parse_int<std::int32_t>(first[0]);
    const auto bus = second.empty() ? std::nullopt : parse_bus_id(second[0]);
    if (index && bus) {
      if (facts.gpus.size() >= kMostDevices) return unread("more than " + std::to_string(kMostDevices) + " GPUs");
      Gpu gpu;
      gpu.index = *index;
      gpu.bus_id = *bus;
      // The name ends before the column of persistence mode.
      std::vector<std::string> name;
      for (size_t i = 1; i < first.size(); ++i) {
        const bool last = i + 1 == first.size() && (first[i] == "On" || first[i] == "Off" || first[i] == "N/A" || first[i] == "WDDM" || first[i] == "TCC");
        if (!last) name.emplace_back(first[i]);
      }
      gpu.name = join(name, " ");
      gpu.shown = lines_.evidence();
      facts.pci_devices.push_back(gpu.bus_id);
      facts.gpus.push_back(std::move(gpu));
      rows_.push_back(1);
      return;
    }
    if (facts.gpus.empty() || rows_.back() >= 3) {
      // Headings: "GPU  Name", "Fan  Temp", "MIG M.".
      const bool heading = facts.gpus.empty() && (cells[0].find("GPU") != std::string_view::npos || cells[0].find("Fan") != std::string_view::npos ||
                                                  trim(cells[0]).empty());
      if (!heading) unread("no row of a GPU");
      return;
    }
    ++rows_.back();
    if (rows_.back() == 2) return take_load(first, cells[1], cells[2]);
    take_mig(trim(cells[2]));
  }

  // "| N/A   31C    P0    45W / 300W |    412MiB / 81920MiB |     N/A      Default |"
  void take_load(const std::vector<std::string_view>& first, std::string_view memory, std::string_view load) {
    const Gpu& gpu = own_node(reading_).topology.gpus.back();
    const std::string label = label_of(gpu);
    for (const std::string_view word : first) {
      if (word.size() >= 2 && word[0] == 'P' && parse_int(word.substr(1))) add_value(reading_, label + ".pstate", std::string(word));
      if (word.ends_with('C') && parse_int(word.substr(0, word.size() - 1))) {
        add_value(reading_, label + ".temperature", *parse_int(word.substr(0, word.size() - 1)), "C");
      }
    }
    const size_t slash = memory.find('/');
    const auto used = mebibytes(memory.substr(0, slash));
    const auto total = slash == std::string_view::npos ? std::nullopt : mebibytes(memory.substr(slash + 1));
    if (used) add_value(reading_, label + ".memory_used", *used, "B");
    if (total) add_value(reading_, label + ".memory", *total, "B");
    const std::vector<std::string_view> words = split_whitespace(load);
    const auto percent = !words.empty() && words[0].ends_with('%') ? parse_int(words[0].substr(0, words[0].size() - 1)) : std::nullopt;
    if (percent) add_value(reading_, label + ".utilisation", *percent, "%");
    const bool error = lines_.line().find("ERR!") != std::string_view::npos || lines_.line().find("Unknown Error") != std::string_view::npos;
    if (!error) return;
    Finding finding = finding_of("gpu-lost", label);
    finding.seen = "ERR!";
    finding.message = "nvidia-smi cannot read " + label + " (" + nvidia_bus_id(gpu.bus_id) + "): ERR!";
    finding.evidence.push_back(lines_.evidence());
    reading_.findings.push_back(std::move(finding));
  }

  void take_mig(std::string_view mode) {
    Gpu& gpu = own_node(reading_).topology.gpus.back();
    if (mode.starts_with("Enabled")) gpu.mig = true;
    if (mode.starts_with("Disabled")) gpu.mig = false;
    // An asterisk: the other mode is pending.
    if (mode == "Disabled*") add_value(reading_, label_of(gpu) + ".mig_pending", true);
    if (mode == "Enabled*") add_value(reading_, label_of(gpu) + ".mig_pending", false);
  }

  Lines lines_;
  const ReadOptions& options_;
  Reading reading_{};
  Part part_{Part::Gpus};
  std::vector<int> rows_{};  // seen of each GPU
  std::vector<std::int32_t> slices_{};
  bool slices_seen_{false};
  bool processes_seen_{false};
  std::int64_t processes_{0};
  std::string driver_{};
  std::string cuda_{};
};

}  // namespace

int nvidia_smi_likeness(std::string_view head) {
  if (head.find("| NVIDIA-SMI ") != std::string_view::npos && head.find("Driver Version:") != std::string_view::npos) return 92;
  const std::string_view start = head.substr(0, 400);
  if (start.find("NVIDIA-SMI") != std::string_view::npos && is_refusal(start)) return 60;
  if (head.size() < 600 && is_refusal(start)) return 25;
  return 0;
}

Result<Reading> read_nvidia_smi(std::string_view text, const ReadOptions& options) { return SmiReader(text, options).read(); }

}  // namespace verl::topology
