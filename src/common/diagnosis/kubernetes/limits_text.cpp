// What the container's limits are: df (for /dev/shm) and ulimit -a of bash, dash, busybox and zsh, or /proc/PID/limits.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"
#include "diagnosis/kubernetes/readers.h"
#include "diagnosis/rule.h"
#include "diagnosis/time/text_lines.h"

namespace verl::diagnosis {
namespace {

using namespace time_text;

constexpr std::int64_t kDefaultShm = 64 << 20;
constexpr std::int64_t kEnoughLocked = std::int64_t{64} << 30;
constexpr std::int64_t kEnoughFiles = 65536;

struct Suffix {
  char letter{' '};
  double factor{1};
};
constexpr std::array kSuffixes{Suffix{'K', 1024.0}, Suffix{'M', 1048576.0}, Suffix{'G', 1073741824.0}, Suffix{'T', 1099511627776.0}, Suffix{'P', 1125899906842624.0}};

// "65536" in the column's unit, "64M", "1.5Gi", "-".
std::optional<std::int64_t> bytes_of(std::string_view cell, double unit) {
  double factor = unit;
  if (cell.ends_with('B')) cell.remove_suffix(1);
  if (cell.ends_with('i')) cell.remove_suffix(1);
  for (const Suffix& one : kSuffixes) {
    if (!cell.ends_with(one.letter)) continue;
    factor = one.factor;
    cell.remove_suffix(1);
    break;
  }
  const auto number = parse_real(cell);
  if (!number || *number < 0 || *number * factor > 9e18) return std::nullopt;
  return static_cast<std::int64_t>(std::llround(*number * factor));
}

bool is_df_heading(std::string_view line) { return line.find("Filesystem") != std::string_view::npos && line.find("Mounted on") != std::string_view::npos; }

double unit_of(std::string_view heading) {
  const std::vector<std::string_view> words = split_whitespace(heading);
  for (const std::string_view word : words) {
    if (word == "1K-blocks" || word == "1024-blocks") return 1024;
    if (word == "512-blocks") return 512;
    if (word == "1M-blocks") return 1048576;
    if (word == "1G-blocks") return 1073741824;
    if (word == "1B-blocks") return 1;
  }
  return 1;  // Size of df -h: letters stand behind the numbers
}

void judge_shm(Reading& reading, const Line& line, const ReadOptions& options, std::int64_t size, std::int64_t free) {
  own_node(reading).kubernetes.shm_bytes = size;
  own_node(reading).kubernetes.shm_free_bytes = free;
  put(reading, "shm.size", size, "B");
  put(reading, "shm.free", free, "B");
  Finding finding;
  if (free < (1 << 20)) {
    finding = finding_of("shm-free", "/dev/shm");
    finding.message = fmt::format("/dev/shm has {} bytes free of {} MiB: NCCL and data loaders cannot make segments there", free, size >> 20);
  } else if (size <= kDefaultShm) {
    finding = finding_of("shm-small", "/dev/shm");
    finding.message = fmt::format("/dev/shm has {} MiB, a container's default", size >> 20);
  } else {
    return;
  }
  finding.seen = fmt::format("{} B free of {} B", free, size);
  finding.evidence.push_back(evidence_of(line, options));
  reading.findings.push_back(std::move(finding));
}

struct Limit {
  std::int64_t value{0};  // -1: unlimited
  std::string name{};
  std::string unit{};
};

// The value stands last; between name and value a bracket with the unit. "max locked memory  (kbytes, -l) 8192",
// "-l: locked-in-memory size (kbytes)  unlimited", "Max locked memory  8388608  8388608  bytes".
std::optional<Limit> limit_of(std::string_view line) {
  std::vector<std::string_view> words = split_whitespace(line.substr(0, 300));
  if (words.size() < 2) return std::nullopt;
  Limit out;
  const bool proc = words[0] == "Max" && words.size() >= 4;
  std::string_view value = words.back();
  if (proc) {
    const bool unit = value != "unlimited" && !parse_int(value);
    if (unit) out.unit = std::string(value);
    if (words.size() < (unit ? 4u : 3u)) return std::nullopt;
    value = words[words.size() - (unit ? 3 : 2)];
    for (size_t i = 0; i + (unit ? 3 : 2) < words.size(); ++i) out.name += (i > 0 ? " " : "") + std::string(words[i]);
  } else {
    const size_t open = line.find('(');
    const size_t close = line.find(')');
    if (open != std::string_view::npos && close != std::string_view::npos && open < close) {
      const std::string_view inside = line.substr(open + 1, close - open - 1);
      const std::string_view first = trim(inside.substr(0, inside.find(',')));
      if (!first.starts_with('-')) out.unit = std::string(first);
    }
    std::string_view name = trim(line.substr(0, std::min(open, line.rfind(value))));
    if (name.size() > 3 && name[0] == '-' && name[2] == ':') name = trim(name.substr(3));
    out.name = std::string(name);
  }
  if (value == "unlimited") {
    out.value = -1;
    return out;
  }
  const auto number = parse_int(value);
  if (!number || *number < 0) return std::nullopt;
  out.value = *number;
  return out;
}

std::int64_t in_bytes(const Limit& limit) {
  if (limit.value < 0) return -1;
  const bool kilo = limit.unit == "kbytes" || limit.unit == "kb" || limit.unit == "KiB" || limit.unit == "kB";
  if (!kilo) return limit.value;
  return limit.value > (std::int64_t{1} << 52) ? -1 : limit.value * 1024;
}

}  // namespace

int like_df(std::string_view head) {
  for (const std::string_view line : split(head.substr(0, 8192), '\n')) {
    if (is_df_heading(line)) return 92;
  }
  return 0;
}

Result<Reading> read_df(std::string_view text, const ReadOptions& options) {
  Reading reading;
  std::optional<double> unit;
  int rows = 0;
  for (const Line& one : lines_of(text, options)) {
    if (is_df_heading(one.text)) {
      unit = unit_of(one.text);
      continue;
    }
    if (is_scenery(one.text)) continue;
    const std::vector<std::string_view> cells = split_whitespace(one.text.substr(0, 1000));
    const bool mount = cells.size() >= 6 && cells[cells.size() - 1].starts_with('/') && cells[cells.size() - 2].ends_with('%');
    if (!unit || !mount) {
      unread(reading, one, "not a row of df");
      continue;
    }
    const size_t last = cells.size() - 1;
    const auto size = bytes_of(cells[last - 4], *unit);
    const auto used = bytes_of(cells[last - 3], *unit);
    const auto free = bytes_of(cells[last - 2], *unit);
    if (!size || !used || !free) {
      unread(reading, one, "no number where a size is wanted");
      continue;
    }
    const std::string path = fmt::format("mounts[{}].", rows++);
    put(reading, path + "mounted_on", std::string(cells[last]));
    put(reading, path + "size", *size, "B");
    put(reading, path + "used", *used, "B");
    put(reading, path + "available", *free, "B");
    put(reading, path + "use", parse_int(cells[last - 1].substr(0, cells[last - 1].size() - 1)).value_or(-1), "%");
    if (cells[last] == "/dev/shm") judge_shm(reading, one, options, *size, *free);
  }
  if (!unit) return failure(ErrorCode::Invalid, "no heading of df is in it");
  if (rows == 0) incomplete(reading, "rows", "the heading of df is there, no row could be read");
  return reading;
}

int like_ulimit(std::string_view head) {
  const bool bash = head.find("open files") != std::string_view::npos && (head.find("max locked memory") != std::string_view::npos || head.find("stack size") != std::string_view::npos);
  const bool proc = has_line(head, "Max locked memory") || has_line(head, "Max open files");
  const bool other = head.find("locked-in-memory size") != std::string_view::npos || head.find("locked memory") != std::string_view::npos;
  return bash || proc ? 92 : other && head.find("nofiles") != std::string_view::npos ? 85 : 0;
}

Result<Reading> read_ulimit(std::string_view text, const ReadOptions& options) {
  Reading reading;
  bool locked = false;
  int rows = 0;
  for (const Line& one : lines_of(text, options)) {
    if (is_scenery(one.text) || trim(one.text).starts_with("Limit ")) continue;
    const auto limit = limit_of(one.text);
    if (!limit) {
      unread(reading, one, "no limit");
      continue;
    }
    ++rows;
    if (limit->value < 0) {
      put(reading, limit->name, std::string("unlimited"), limit->unit);
    } else {
      put(reading, limit->name, limit->value, limit->unit);
    }
    const bool memory = limit->name.find("locked memory") != std::string::npos || limit->name.find("locked-in-memory") != std::string::npos;
    const bool files = limit->name.find("open files") != std::string::npos || limit->name == "nofiles" || limit->name.find("file descriptors") != std::string::npos;
    if (memory) {
      locked = true;
      const std::int64_t bytes = in_bytes(*limit);
      own_node(reading).kubernetes.memlock_bytes = bytes;
      if (bytes < 0 || bytes >= kEnoughLocked) continue;
      Finding finding = finding_of("limits-memlock", "memlock");
      finding.seen = fmt::format("{} KiB", bytes / 1024);
      finding.wanted = "unlimited, or the capability IPC_LOCK";
      finding.message = fmt::format("the container may lock {} KiB of memory: registering memory with an RDMA device fails", bytes / 1024);
      finding.evidence.push_back(evidence_of(one, options));
      reading.findings.push_back(std::move(finding));
    } else if (files && limit->value >= 0 && limit->value < kEnoughFiles) {
      Finding finding = finding_of("limits-nofile", "nofile");
      finding.seen = std::to_string(limit->value);
      finding.wanted = fmt::format("at least {}", kEnoughFiles);
      finding.message = fmt::format("the container may open {} files", limit->value);
      finding.evidence.push_back(evidence_of(one, options));
      reading.findings.push_back(std::move(finding));
    }
  }
  if (rows == 0) return failure(ErrorCode::Invalid, "no limit is in it");
  if (!locked) incomplete(reading, "memlock", "the line of locked memory is missing: whether RDMA memory can be registered is not known");
  return reading;
}

}  // namespace verl::diagnosis
