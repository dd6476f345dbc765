#include "host/recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "host/tree_host.h"

namespace verl::host {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

Json error_json(const Error& error) { return {{"error", {{"code", std::string(to_string(error.code))}, {"message", error.message}}}}; }

std::string to_hex(std::string_view bytes) {
  std::string hex;
  for (const char c : bytes) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return hex;
}

}  // namespace

struct Recorder::Seen {
  std::map<std::string, std::string> files{};
  std::map<std::string, std::string> links{};
  std::map<std::string, std::vector<std::string>> directories{};
  std::set<std::string> folders{};
  std::map<std::string, Error> errors{};
  std::optional<Result<KernelClock>> kernel_clock{};
  std::optional<Result<std::vector<InterfaceAddress>>> addresses{};
  std::optional<Result<CpuTopology>> cpu_topology{};
  std::map<std::string, Result<std::string>> chronyd{};
  std::map<std::string, std::int32_t> active_mtu{};
  std::optional<Timestamp> now{};

  template <class T>
  void note(std::string_view path, const Result<T>& answer) {
    if (!answer && answer.error().code != ErrorCode::NotFound) errors.insert_or_assign(std::string(path), answer.error());
  }
};

Recorder::Recorder(const Host& inner) : inner_(inner), seen_(std::make_unique<Seen>()) {}
Recorder::~Recorder() = default;

Result<std::string> Recorder::read_file(std::string_view path, Bytes limit) const {
  auto answer = inner_.read_file(path, limit);
  if (answer) seen_->files[std::string(path)] = *answer;
  seen_->note(path, answer);
  return answer;
}

Result<std::vector<std::string>> Recorder::list_dir(std::string_view path) const {
  auto answer = inner_.list_dir(path);
  if (answer) seen_->directories[std::string(path)] = *answer;
  seen_->note(path, answer);
  return answer;
}

Result<std::string> Recorder::read_link(std::string_view path) const {
  auto answer = inner_.read_link(path);
  if (answer) seen_->links[std::string(path)] = *answer;
  seen_->note(path, answer);
  return answer;
}

Result<bool> Recorder::is_directory(std::string_view path) const {
  auto answer = inner_.is_directory(path);
  if (answer && *answer) seen_->folders.insert(std::string(path));
  seen_->note(path, answer);
  return answer;
}

Timestamp Recorder::now() const {
  if (!seen_->now) seen_->now = inner_.now();
  return *seen_->now;
}

Result<KernelClock> Recorder::kernel_clock() const {
  seen_->kernel_clock = inner_.kernel_clock();
  return *seen_->kernel_clock;
}

Result<std::vector<InterfaceAddress>> Recorder::addresses() const {
  seen_->addresses = inner_.addresses();
  return *seen_->addresses;
}

Result<CpuTopology> Recorder::cpu_topology() const {
  seen_->cpu_topology = inner_.cpu_topology();
  return *seen_->cpu_topology;
}

Result<std::string> Recorder::ask_chronyd(std::string_view request) const {
  auto answer = inner_.ask_chronyd(request);
  seen_->chronyd.insert_or_assign(without_sequence(request), answer);
  return answer;
}

Result<std::int32_t> Recorder::active_mtu(std::string_view device, std::int32_t port) const {
  auto answer = inner_.active_mtu(device, port);
  if (answer) seen_->active_mtu[fmt::format("{}/{}", device, port)] = *answer;
  return answer;
}

Result<int> Recorder::write(const std::string& directory) const {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) return failure(ErrorCode::Unavailable, fmt::format("making {}: {}", directory, error.message()));
  if (!fs::is_empty(directory, error)) {
    return failure(ErrorCode::Conflict, fmt::format("{} is not empty: a recording is written to a new directory", directory));
  }
  const fs::path root(directory);
  const auto failed = [&](const fs::path& path) {
    return failure(ErrorCode::Unavailable, fmt::format("writing {}: {}", path.string(), error.message()));
  };
  // Links first: files read below a link must land where it points. Targets inside the tree are made as directories.
  for (const auto& [path, target] : seen_->links) {
    const fs::path at = root / path.substr(1);
    fs::create_directories(at.parent_path(), error);
    if (error) return failed(at);
    fs::create_symlink(target, at, error);
    if (error) return failed(at);
    const fs::path inside = (fs::path(path).parent_path() / target).lexically_normal();
    if (seen_->files.contains(path) || !inside.is_absolute()) continue;
    fs::create_directories(root / inside.relative_path(), error);
    if (error) return failed(at);
  }
  int written = 0;
  const auto put = [&](const std::string& path, const std::string& text) -> bool {
    const fs::path at = root / path.substr(1);
    fs::create_directories(at.parent_path(), error);
    if (error) return false;
    std::ofstream file(at, std::ios::binary);
    file << text;
    file.close();  // a full disk shows when the text leaves the buffer
    ++written;
    return file.good();
  };
  for (const auto& [path, text] : seen_->files) {
    if (!put(path, text)) return failed(path);
  }
  for (const std::string& path : seen_->folders) {
    fs::create_directories(root / path.substr(1), error);
    if (error) return failed(path);
  }

  Json sidecar = {{"time", format_rfc3339(now(), true)}};
  // Directories that the files alone would not bring back; empty ones do not survive version control.
  for (const auto& [path, names] : seen_->directories) {
    std::vector<std::string> there;
    for (fs::directory_iterator it(root / path.substr(1), error), end; !error && it != end; it.increment(error)) {
      if (!fs::is_directory(it->path()) || !fs::is_empty(it->path())) there.push_back(it->path().filename().string());
    }
    std::sort(there.begin(), there.end());
    if (there != names || names.empty()) sidecar["directories"][path] = names;
  }
  for (const std::string& path : seen_->folders) sidecar["folders"].push_back(path);
  for (const auto& [path, problem] : seen_->errors) sidecar["errors"][path] = error_json(problem)["error"];
  if (seen_->kernel_clock) {
    const auto& clock = *seen_->kernel_clock;
    sidecar["kernelClock"] = clock ? Json{{"state", clock->state},
                                          {"status", clock->status},
                                          {"maxErrorMicroseconds", clock->max_error.count()},
                                          {"estimatedErrorMicroseconds", clock->estimated_error.count()},
                                          {"taiOffset", clock->tai_offset}}
                                   : error_json(clock.error());
  }
  if (seen_->addresses) {
    const auto& all = *seen_->addresses;
    Json list = Json::array();
    if (all) {
      for (const InterfaceAddress& one : *all) list.push_back({{"interface", one.interface}, {"address", one.address}});
    }
    sidecar["addresses"] = all ? list : error_json(all.error());
  }
  if (seen_->cpu_topology) {
    const auto& topology = *seen_->cpu_topology;
    Json nodes = Json::array();
    if (topology) {
      for (const NumaNode& node : topology->numa_nodes) {
        nodes.push_back({{"osIndex", node.os_index}, {"cpus", node.cpus}, {"memoryBytes", node.memory_bytes}});
      }
    }
    sidecar["cpuTopology"] = topology ? Json{{"sockets", topology->sockets},
                                             {"cores", topology->cores},
                                             {"cpus", topology->cpus},
                                             {"memoryBytes", topology->memory_bytes},
                                             {"numaNodes", nodes}}
                                      : error_json(topology.error());
  }
  for (const auto& [request, reply] : seen_->chronyd) {
    Json one = reply ? Json{{"reply", to_hex(*reply)}} : error_json(reply.error());
    one["request"] = to_hex(request);
    sidecar["chronyd"].push_back(one);
  }
  for (const auto& [port, mtu] : seen_->active_mtu) sidecar["activeMtu"][port] = mtu;
  if (!put("/proc/verl-host.json", sidecar.dump(2) + "\n")) return failed("verl-host.json");
  return written;
}

}  // namespace verl::host
