#include "node-agent/incontainer/read.h"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace verl::incontainer {
namespace {

std::string error_text(int error) { return std::error_code(error, std::generic_category()).message(); }

Read<std::string> read_file(const std::string& path) {
  constexpr size_t kLimit = 64 * 1024;
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return {.trouble = path + ": " + error_text(errno)};
  std::string text(kLimit, '\0');
  size_t size = 0;
  int error = 0;
  while (size < kLimit) {
    const ssize_t got = ::read(file, text.data() + size, kLimit - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) error = errno;
    if (got <= 0) break;
    size += static_cast<size_t>(got);
  }
  ::close(file);
  if (error != 0) return {.trouble = path + ": " + error_text(error)};
  text.resize(size);
  return {.value = std::move(text)};
}

// All names or none: half a list would show half a machine.
Read<std::vector<std::string>> list(const std::string& folder) {
  constexpr size_t kMost = 4096;
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (names.size() == kMost) return {.trouble = folder + " holds more than " + std::to_string(kMost) + " names"};
    names.push_back(at->path().filename().string());
  }
  if (error) return {.trouble = folder + ": " + error.message()};
  std::sort(names.begin(), names.end());
  return {.value = std::move(names)};
}

// Where what is not found is missed by itself, as fewer devices than wanted.
std::vector<std::string> names_in(const std::string& folder) { return list(folder).value.value_or(std::vector<std::string>{}); }

template <class T>
std::optional<T> number(std::string_view text, int base = 10) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\n')) text.remove_suffix(1);
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// What follows the number in "nvidia3" for the prefix "nvidia"; nothing for "nvidiactl".
std::optional<int> number_after(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  const auto value = number<int>(name.substr(prefix.size()));
  return value && *value >= 0 ? value : std::nullopt;
}

// The rest of the line that begins with `label`.
std::optional<std::string_view> line_after(std::string_view text, std::string_view label) {
  for (size_t at = 0; at < text.size();) {
    const std::string_view line = text.substr(at, text.find('\n', at) - at);
    if (line.starts_with(label)) return line.substr(label.size());
    at += line.size() + 1;
  }
  return std::nullopt;
}

Read<std::uint64_t> shm_size(const std::string& root) {
  const std::string path = root + "/dev/shm";
  struct statvfs seen {};
  if (::statvfs(path.c_str(), &seen) != 0) return {.trouble = error_text(errno)};
  return {.value = static_cast<std::uint64_t>(seen.f_blocks) * seen.f_frsize};
}

// A column of /proc/self/limits: 0 is the soft limit, 1 the hard one.
Read<std::uint64_t> limit(const std::string& root, std::string_view label, size_t column) {
  const auto text = read_file(root + "/proc/self/limits");
  if (!text.value) return {.trouble = text.trouble};
  auto line = line_after(*text.value, label);
  for (size_t i = 0; line; ++i) {
    line->remove_prefix(std::min(line->find_first_not_of(' '), line->size()));
    const std::string_view word = line->substr(0, line->find(' '));
    if (word.empty()) break;
    if (i == column) {
      const auto value = word == "unlimited" ? std::optional(kUnlimited) : number<std::uint64_t>(word);
      if (value) return {.value = value};
      break;
    }
    line->remove_prefix(word.size());
  }
  return {.trouble = root + "/proc/self/limits has no line '" + std::string(label) + "' that can be read"};
}

template <class Parse>
auto status_field(const std::string& root, std::string_view label, Parse parse) -> Read<typename decltype(parse(label))::value_type> {
  const auto text = read_file(root + "/proc/self/status");
  if (!text.value) return {.trouble = text.trouble};
  if (const auto line = line_after(*text.value, label)) {
    if (auto value = parse(*line)) return {.value = std::move(value)};
  }
  return {.trouble = root + "/proc/self/status has no line '" + std::string(label) + "' that can be read"};
}

std::vector<VerbsDevice> verbs_devices(const std::string& root) {
  std::vector<VerbsDevice> devices;
  const std::string folder = root + "/dev/infiniband";
  for (const std::string& name : names_in(folder)) {
    if (!number_after(name, "uverbs")) continue;
    const int file = ::open((folder + "/" + name).c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
    devices.push_back({.name = name, .trouble = file < 0 ? error_text(errno) : ""});
    if (file >= 0) ::close(file);
  }
  return devices;
}

// Both hierarchies, from the process's own group up to the topmost that is mounted. A path that the mount does not show leads
// to its root. What lies above (the pod's group, in most containers) cannot be seen from inside.
Read<std::uint64_t> processes(const std::string& root) {
  const auto groups = read_file(root + "/proc/self/cgroup");
  if (!groups.value) return {.trouble = groups.trouble};
  std::optional<std::uint64_t> smallest;
  std::string_view rest = *groups.value;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const size_t first = line.find(':');
    const size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string controllers = "," + std::string(line.substr(first + 1, second - first - 1)) + ",";
    std::string_view path = line.substr(second + 1);
    if (controllers != ",," && controllers.find(",pids,") == std::string::npos) continue;
    const std::string mount = root + (controllers == ",," ? "/sys/fs/cgroup" : "/sys/fs/cgroup/pids");
    if (path.find("..") != std::string_view::npos) path = {};
    while (true) {
      if (path == "/") path = {};
      const auto text = read_file(mount + std::string(path) + "/pids.max");
      if (text.value) {
        const auto value = text.value->starts_with("max") ? std::optional(kUnlimited) : number<std::uint64_t>(*text.value);
        if (!value) return {.trouble = mount + std::string(path) + "/pids.max cannot be read as a number"};
        smallest = std::min(smallest.value_or(kUnlimited), *value);
      }
      if (path.empty()) break;
      path = path.substr(0, path.rfind('/'));
    }
  }
  if (!smallest) return {.trouble = "no pids.max below " + root + "/sys/fs/cgroup can be read"};
  return {.value = smallest};
}

Read<std::map<int, CpuList>> numa_nodes(const std::string& root) {
  std::map<int, CpuList> nodes;
  const std::string folder = root + "/sys/devices/system/node";
  const auto names = list(folder);
  if (!names.value) return {.trouble = names.trouble};
  for (const std::string& name : *names.value) {
    const auto node = number_after(name, "node");
    if (!node) continue;
    const std::string path = folder + "/" + name + "/cpulist";
    const auto text = read_file(path);
    if (!text.value) return {.trouble = text.trouble};
    const auto cpus = parse_cpu_list(*text.value);
    if (!cpus) return {.trouble = path + " is no list of CPUs"};
    nodes[*node] = *cpus;
  }
  if (nodes.empty()) return {.trouble = folder + " shows no NUMA node"};
  return {.value = std::move(nodes)};
}

Gpu gpu_at(const std::string& root, const std::string& address) {
  const std::string path = root + "/sys/bus/pci/devices/" + address + "/numa_node";
  const auto text = read_file(path);
  if (!text.value) return {.name = address, .trouble = text.trouble};
  const auto node = number<int>(*text.value);
  if (!node) return {.name = address, .trouble = path + " cannot be read as a number"};
  return {.name = address, .node = node};
}

// The driver's folder may list GPUs of others, the device files do not: they say which are the container's.
std::vector<Gpu> gpus(const std::string& root) {
  const std::string folder = root + "/proc/driver/nvidia/gpus";
  std::map<int, std::string> address_of;
  for (const std::string& address : names_in(folder)) {
    const auto text = read_file(folder + "/" + address + "/information");
    const auto line = text.value ? line_after(*text.value, "Device Minor:") : std::nullopt;
    const auto minor_number = line ? number<int>(*line) : std::nullopt;
    if (minor_number) address_of[*minor_number] = address;
  }
  std::vector<int> devices;
  for (const std::string& name : names_in(root + "/dev")) {
    if (const auto minor_number = number_after(name, "nvidia")) devices.push_back(*minor_number);
  }
  std::sort(devices.begin(), devices.end());
  std::vector<Gpu> found;
  for (const int device : devices) {
    const auto address = address_of.find(device);
    found.push_back(address == address_of.end() ? Gpu{.name = "/dev/nvidia" + std::to_string(device), .trouble = folder + " has no PCI address for it"}
                                                : gpu_at(root, address->second));
  }
  return found;
}

}  // namespace

Facts read_facts(const std::string& root) {
  return {.shm_bytes = shm_size(root),
          .memlock_bytes = limit(root, "Max locked memory", 0),
          .capabilities = status_field(root, "CapEff:", [](std::string_view text) { return number<std::uint64_t>(text, 16); }),
          .verbs = verbs_devices(root),
          .open_files = limit(root, "Max open files", 1),
          .processes = processes(root),
          .cpus = status_field(root, "Cpus_allowed_list:", [](std::string_view text) { return parse_cpu_list(text); }),
          .nodes = numa_nodes(root),
          .gpus = gpus(root)};
}

}  // namespace verl::incontainer
