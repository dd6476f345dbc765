#include "host/tree_host.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/text.h"
#include "host/file_root.h"

namespace verl::host {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kSidecar = "/proc/verl-host.json";
constexpr Bytes kMaxSidecar{1024 * 1024};
constexpr size_t kRequestSequence = 8;  // offsets of the sequence number in chronyd's requests and replies
constexpr size_t kReplySequence = 16;
constexpr size_t kSequenceSize = 4;

std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

template <class Int>
std::optional<Int> number_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_integer()) return std::nullopt;
  const auto value = found->get<std::int64_t>();
  if (!std::in_range<Int>(value)) return std::nullopt;
  return static_cast<Int>(value);
}

ErrorCode code_named(std::string_view name) {
  for (const ErrorCode code : {ErrorCode::Invalid, ErrorCode::NotFound, ErrorCode::Denied, ErrorCode::Conflict, ErrorCode::Unavailable,
                               ErrorCode::Timeout, ErrorCode::TooLarge, ErrorCode::Cancelled}) {
    if (to_string(code) == name) return code;
  }
  return ErrorCode::Unknown;
}

tl::unexpected<Error> recorded_error(const Json& error) {
  return failure(code_named(text_of(error, "code")), text_of(error, "message"));
}

tl::unexpected<Error> malformed(std::string_view what) {
  return failure(ErrorCode::Invalid, fmt::format("verl-host.json: {} is not what a recording holds", what));
}

std::optional<std::string> from_hex(std::string_view hex) {
  const auto digit = [](char c) -> int {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
  };
  if (hex.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  for (size_t i = 0; i < hex.size(); i += 2) {
    const int high = digit(hex[i]);
    const int low = digit(hex[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes.push_back(static_cast<char>(high * 16 + low));
  }
  return bytes;
}

class TreeHost final : public Host {
 public:
  TreeHost(FileRoot root, Json sidecar, Timestamp now) : root_(std::move(root)), sidecar_(std::move(sidecar)), now_(now) {}

  Result<std::string> read_file(std::string_view path, Bytes limit) const override {
    if (const Json* error = error_at(path)) return recorded_error(*error);
    return root_.read_file(path, limit);
  }
  Result<std::vector<std::string>> list_dir(std::string_view path) const override {
    if (const Json* error = error_at(path)) return recorded_error(*error);
    if (const auto all = sidecar_.find("directories"); all != sidecar_.end() && all->is_object()) {
      if (const auto names = all->find(std::string(path)); names != all->end()) {
        if (!names->is_array()) return malformed(path);
        std::vector<std::string> out;
        for (const Json& name : *names) out.push_back(name.is_string() ? name.get<std::string>() : std::string{});
        return out;
      }
    }
    return root_.list_dir(path);
  }
  Result<std::string> read_link(std::string_view path) const override {
    if (const Json* error = error_at(path)) return recorded_error(*error);
    return root_.read_link(path);
  }
  Result<bool> is_directory(std::string_view path) const override {
    if (const Json* error = error_at(path)) return recorded_error(*error);
    // Empty folders do not survive version control, so both lists of the recording count too.
    if (const auto all = sidecar_.find("folders"); all != sidecar_.end() && all->is_array()) {
      for (const Json& one : *all) {
        if (one.is_string() && one.get_ref<const std::string&>() == path) return true;
      }
    }
    if (const auto all = sidecar_.find("directories"); all != sidecar_.end() && all->is_object() && all->contains(std::string(path))) return true;
    return root_.is_directory(path);
  }

  Timestamp now() const override { return now_; }

  Result<KernelClock> kernel_clock() const override {
    const auto entry = section("kernelClock");
    if (!entry) return tl::unexpected(entry.error());
    const Json& clock = **entry;
    const auto state = number_of<int>(clock, "state");
    const auto status = number_of<std::int64_t>(clock, "status");
    const auto max_error = number_of<std::int64_t>(clock, "maxErrorMicroseconds");
    if (!state || !status || !max_error) return malformed("kernelClock");
    return KernelClock{.state = *state,
                       .status = *status,
                       .max_error = Microseconds(*max_error),
                       .estimated_error = Microseconds(number_of<std::int64_t>(clock, "estimatedErrorMicroseconds").value_or(0)),
                       .tai_offset = number_of<std::int64_t>(clock, "taiOffset").value_or(0)};
  }

  Result<std::vector<InterfaceAddress>> addresses() const override {
    const auto entry = section("addresses");
    if (!entry) return tl::unexpected(entry.error());
    if (!(*entry)->is_array()) return malformed("addresses");
    std::vector<InterfaceAddress> out;
    for (const Json& one : **entry) out.push_back({.interface = text_of(one, "interface"), .address = text_of(one, "address")});
    return out;
  }

  Result<CpuTopology> cpu_topology() const override {
    const auto entry = section("cpuTopology");
    if (!entry) return tl::unexpected(entry.error());
    const Json& seen = **entry;
    const auto sockets = number_of<std::int32_t>(seen, "sockets");
    const auto cores = number_of<std::int32_t>(seen, "cores");
    const auto cpus = number_of<std::int32_t>(seen, "cpus");
    const auto nodes = seen.find("numaNodes");
    if (!sockets || !cores || !cpus || nodes == seen.end() || !nodes->is_array()) return malformed("cpuTopology");
    CpuTopology out{.sockets = *sockets,
                    .cores = *cores,
                    .cpus = *cpus,
                    .memory_bytes = number_of<std::int64_t>(seen, "memoryBytes").value_or(0),
                    .numa_nodes = {}};
    for (const Json& node : *nodes) {
      const auto index = number_of<std::int32_t>(node, "osIndex");
      if (!index) return malformed("cpuTopology.numaNodes");
      out.numa_nodes.push_back({.os_index = *index,
                                .cpus = text_of(node, "cpus"),
                                .memory_bytes = number_of<std::int64_t>(node, "memoryBytes").value_or(0)});
    }
    return out;
  }

  Result<std::string> ask_chronyd(std::string_view request) const override {
    const auto entry = section("chronyd");
    if (!entry) return tl::unexpected(entry.error());
    if (!(*entry)->is_array()) return malformed("chronyd");
    const std::string wanted = without_sequence(request);
    for (const Json& one : **entry) {
      const auto asked = from_hex(text_of(one, "request"));
      if (!asked || *asked != wanted) continue;
      if (const auto error = one.find("error"); error != one.end()) return recorded_error(*error);
      const auto reply = from_hex(text_of(one, "reply"));
      if (!reply) return malformed("chronyd");
      return with_sequence_of(*reply, request);
    }
    return failure(ErrorCode::Unavailable, "this question to chronyd was not recorded");
  }

  Result<std::int32_t> active_mtu(std::string_view device, std::int32_t port) const override {
    const auto entry = section("activeMtu");
    if (!entry) return tl::unexpected(entry.error());
    if (!(*entry)->is_object()) return malformed("activeMtu");
    const auto mtu = number_of<std::int32_t>(**entry, fmt::format("{}/{}", device, port).c_str());
    if (!mtu) return failure(ErrorCode::Unavailable, fmt::format("the active MTU of {}/{} was not recorded", device, port));
    return *mtu;
  }

 private:
  Result<const Json*> section(const char* name) const {
    const auto found = sidecar_.find(name);
    if (found == sidecar_.end()) return failure(ErrorCode::Unavailable, fmt::format("{} was not recorded in verl-host.json", name));
    if (found->is_object()) {
      if (const auto error = found->find("error"); error != found->end()) return recorded_error(*error);
    }
    return &*found;
  }
  const Json* error_at(std::string_view path) const {
    const auto errors = sidecar_.find("errors");
    if (errors == sidecar_.end() || !errors->is_object()) return nullptr;
    const auto found = errors->find(std::string(path));
    return found == errors->end() ? nullptr : &*found;
  }

  FileRoot root_;
  Json sidecar_;
  Timestamp now_;
};

}  // namespace

std::string without_sequence(std::string_view request) {
  std::string copy(request);
  if (copy.size() >= kRequestSequence + kSequenceSize) copy.replace(kRequestSequence, kSequenceSize, kSequenceSize, '\0');
  return copy;
}

std::string with_sequence_of(std::string reply, std::string_view request) {
  if (reply.size() >= kReplySequence + kSequenceSize && request.size() >= kRequestSequence + kSequenceSize) {
    reply.replace(kReplySequence, kSequenceSize, request.substr(kRequestSequence, kSequenceSize));
  }
  return reply;
}

Result<std::unique_ptr<Host>> tree_host(const std::string& directory) {
  auto root = FileRoot::open(directory);
  if (!root) return tl::unexpected(root.error());
  const auto text = root->read_file(kSidecar, kMaxSidecar);
  if (!text) return tl::unexpected(context("a recorded machine needs the file verl-host.json")(text.error()));
  Json sidecar = Json::parse(*text, nullptr, false);
  if (!sidecar.is_object()) return failure(ErrorCode::Invalid, fmt::format("{}{} is not a JSON object", directory, kSidecar));
  const auto time = parse_rfc3339(text_of(sidecar, "time"));
  if (!time) return failure(ErrorCode::Invalid, fmt::format("{}{}: \"time\" is not an RFC 3339 time", directory, kSidecar));
  std::unique_ptr<Host> host = std::make_unique<TreeHost>(std::move(*root), std::move(sidecar), *time);
  return host;
}

}  // namespace verl::host
