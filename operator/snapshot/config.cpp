#include "operator/snapshot/config.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <set>

#include "base/text.h"

namespace verl::snapshot {
namespace {

// As in the CRDs: a report that names a level in another way is refused by the apiserver, each and for ever.
bool is_level_name(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto inside = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '-'; };
  return !name.empty() && name.size() <= 32 && name[0] >= 'a' && name[0] <= 'z' && std::all_of(name.begin(), name.end(), inside);
}

// [prefix/]name, as the apiserver takes it: a DNS subdomain of at most 253, a name of at most 63. No node has any other.
bool is_label_key(std::string_view key) {
  const auto word = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); };
  const auto part = [&](std::string_view text, size_t longest, std::string_view also) {
    return !text.empty() && text.size() <= longest && word(text.front()) && word(text.back()) &&
           std::all_of(text.begin(), text.end(), [&](char c) { return word(c) || also.find(c) != std::string_view::npos; });
  };
  const size_t slash = key.find('/');
  if (slash == std::string_view::npos) return part(key, 63, "-_.");
  return part(key.substr(0, slash), 253, "-.") && part(key.substr(slash + 1), 63, "-_.");
}

// Faults are collected, so that one start shows all of them.
class Reader {
 public:
  std::vector<std::string> faults{};

  bool keys(const YAML::Node& node, const std::string& at, const std::set<std::string>& allowed) {
    if (!node.IsMap()) {
      faults.push_back(fmt::format("{}: must be a map", at));
      return false;
    }
    std::set<std::string> seen;
    for (const auto& entry : node) {
      const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "?";
      if (!allowed.contains(key)) {
        faults.push_back(fmt::format("{}: unknown key; known: {}", at.empty() ? key : at + "." + key,
                                     join(std::vector<std::string>(allowed.begin(), allowed.end()), ", ")));
      }
      if (!seen.insert(key).second) faults.push_back(fmt::format("{}: appears twice", at.empty() ? key : at + "." + key));
    }
    return true;
  }

  void text(const YAML::Node& node, const std::string& at, std::string& into) {
    if (!node) return;
    if (!node.IsScalar()) return faults.push_back(fmt::format("{}: must be text", at));
    into = node.Scalar();
  }

  std::int64_t number(const YAML::Node& node, const std::string& at, std::int64_t lowest, std::int64_t highest, std::int64_t otherwise) {
    if (!node) return otherwise;
    const auto value = node.IsScalar() ? parse_int(node.Scalar()) : std::nullopt;
    if (!value || *value < lowest || *value > highest) {
      faults.push_back(fmt::format("{}: must be a whole number from {} to {}", at, lowest, highest));
      return otherwise;
    }
    return *value;
  }
};

}  // namespace

Result<OperatorFile> parse_config(std::string_view yaml) {
  constexpr size_t kLimit = 1 << 20;
  if (yaml.size() > kLimit) return failure(ErrorCode::TooLarge, fmt::format("configuration has {} bytes, at most {} are read", yaml.size(), kLimit));
  YAML::Node root;
  try {
    root = YAML::Load(std::string(yaml));
  } catch (const YAML::Exception& error) {
    return failure(ErrorCode::Invalid, fmt::format("configuration is no YAML: {}", error.what()));
  }
  OperatorFile file{};
  // An empty file is a mount that went wrong or a write that was cut off more often than a wish for the defaults.
  if (root.IsNull()) return failure(ErrorCode::Invalid, "configuration: the file is empty, wants a map with levels, ports, heartbeat, presets, gpuResource, docsUrl; {} takes every default");
  Reader reader;
  if (!reader.keys(root, "", {"levels", "gpuResource", "ports", "heartbeat", "presets", "docsUrl"})) {
    return failure(ErrorCode::Invalid, "configuration: must be a map");
  }
  if (const YAML::Node levels = root["levels"]) {
    if (!levels.IsSequence()) reader.faults.emplace_back("levels: must be a list");
    std::set<std::string> names;
    for (size_t i = 0; levels.IsSequence() && i < levels.size(); ++i) {
      const std::string at = fmt::format("levels[{}]", i);
      core::Level level{};
      if (!reader.keys(levels[i], at, {"name", "key"})) continue;
      reader.text(levels[i]["name"], at + ".name", level.name);
      reader.text(levels[i]["key"], at + ".key", level.key);
      if (level.name.empty() || level.key.empty()) {
        reader.faults.push_back(at + ": needs name and key");
      } else if (!is_level_name(level.name)) {
        reader.faults.push_back(fmt::format("{}.name: {} is no name of a level; it is one word such as rack: at most 32 letters, digits and dashes, the first a small letter",
                                            at, shorten(escape_controls(level.name), 64)));
      } else if (!is_label_key(level.key)) {
        reader.faults.push_back(fmt::format("{}.key: {} is no key of a Node's label", at, shorten(escape_controls(level.key), 64)));
      }
      if (!names.insert(level.name).second) reader.faults.push_back(at + ".name: appears twice");
      file.config.levels.push_back(std::move(level));
    }
    if (file.config.levels.size() > 8) reader.faults.emplace_back("levels: at most 8");
  }
  reader.text(root["gpuResource"], "gpuResource", file.config.gpu_resource);
  reader.text(root["docsUrl"], "docsUrl", file.docs_url);
  if (const YAML::Node ports = root["ports"]; ports && reader.keys(ports, "ports", {"first", "last"})) {
    file.config.port_first = static_cast<std::int32_t>(reader.number(ports["first"], "ports.first", 1024, 32767, file.config.port_first));
    file.config.port_last = static_cast<std::int32_t>(reader.number(ports["last"], "ports.last", 1024, 32767, file.config.port_last));
    if (file.config.port_last - file.config.port_first < 15) reader.faults.emplace_back("ports: no block of 16 fits between first and last");
  }
  if (const YAML::Node heartbeat = root["heartbeat"]; heartbeat && reader.keys(heartbeat, "heartbeat", {"idleSeconds", "busySeconds"})) {
    file.config.renewal_idle = Seconds{reader.number(heartbeat["idleSeconds"], "heartbeat.idleSeconds", 1, 3600, 30)};
    file.config.renewal_busy = Seconds{reader.number(heartbeat["busySeconds"], "heartbeat.busySeconds", 1, 3600, 10)};
  }
  if (const YAML::Node presets = root["presets"]) {
    if (!presets.IsSequence()) reader.faults.emplace_back("presets: must be a list of files");
    for (size_t i = 0; presets.IsSequence() && i < presets.size(); ++i) {
      std::string name;
      reader.text(presets[i], fmt::format("presets[{}]", i), name);
      if (!name.empty()) file.presets.push_back(std::move(name));
    }
  }
  if (!reader.faults.empty()) return failure(ErrorCode::Invalid, "configuration: " + join_some(reader.faults, 8));
  return file;
}

}  // namespace verl::snapshot
