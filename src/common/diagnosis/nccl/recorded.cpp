#include "diagnosis/nccl/recorded.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "diagnosis/nccl/catalogue.h"
#include "diagnosis/nccl/effective.h"
#include "diagnosis/nccl/nearest.h"
#include "diagnosis/nccl/read_value.h"
#include "diagnosis/nccl/settings.h"

namespace verl::nccl {
namespace {

constexpr std::int64_t kComparisons = 4096;

std::string_view read_by(Layer layer) {
  switch (layer) {
    case Layer::Documented:
    case Layer::Undocumented: return "NCCL";
    case Layer::PyTorch:
    case Layer::PyTorchLegacy: return "PyTorch";
    case Layer::Gloo: return "Gloo";
    case Layer::TensorPipe: return "TensorPipe";
    case Layer::Cuda: return "CUDA";
    case Layer::Ucx: return "UCX";
    case Layer::Libfabric: return "libfabric";
    case Layer::RdmaCore: return "rdma-core";
    case Layer::AwsOfi: return "AWS OFI plugin";
    case Layer::GcpTcpx: return "GPUDirect-TCPX plugin";
    case Layer::GcpFastrak: return "FasTrak plugin";
    case Layer::Gcp: return "Google's plugins";
    case Layer::SharpPlugin: return "RDMA plugin";
    case Layer::NcclPlugin: return "NCCL's example plugins";
    case Layer::NcclContrib: return "NCCL's contributed libraries";
    case Layer::NcclTests: return "nccl-tests";
    case Layer::Build:
    case Layer::Image:
    case Layer::Nonexistent: break;
  }
  return "nobody";
}

std::string upper(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return result;
}

}  // namespace

Recorder::Recorder(diagnosis::Reading& reading, const diagnosis::ReadOptions& options, EnvironmentKind kind) : reading_(reading), options_(options), kind_(kind) {}

bool Recorder::concerns(std::string_view name) {
  if (concerns_communication(name) || name.starts_with("NV_LIBNCCL_") || name == "RAY_DEDUP_LOGS") return true;
  if (concerns_communication(upper(name)) && name.find("ccl") != std::string_view::npos) return true;
  constexpr size_t kShortest = 8;
  if (name.size() < kShortest || ++compared_ > kComparisons) return false;
  return nearest_name(name).find("NCCL") != std::string_view::npos;
}

Environment& Recorder::environment_of(const std::string& node) {
  const auto [place, added] = index_.try_emplace(node, reading_.nodes.size());
  if (added) reading_.nodes.emplace_back(node, diagnosis::NodeFacts{});
  auto& environments = reading_.nodes[place->second].second.nccl.environments;
  if (environments.empty()) environments.emplace_back().kind = kind_;
  return environments.front();
}

void Recorder::add(const std::string& node, Setting setting, std::int64_t line) {
  const std::string meant(trim(setting.name));
  add_as(meant, node, std::move(setting), line);
}

void Recorder::add_as(std::string_view meant, const std::string& node, Setting setting, std::int64_t line) {
  Environment& environment = environment_of(node);
  if (!concerns(meant)) {
    ++others_;
    return;
  }
  const std::string prefix = node.empty() ? setting.name : node + "." + setting.name;
  reading_.values.push_back({.name = prefix, .value = setting.value, .unit = ""});
  if (const Variable* variable = variable_named(setting.name)) {
    const auto version = parse_version(options_.policy.nccl_version);
    reading_.values.push_back({.name = prefix + ".read_by", .value = std::string(read_by(variable->layer)), .unit = ""});
    const auto number = reads_as_integer(*variable, version) ? read_integer(setting.value).number : std::nullopt;
    if (number) reading_.values.push_back({.name = prefix + ".used", .value = *number, .unit = variable->type == Type::Size ? "B" : ""});
  }
  SettingAt at;
  at.setting = std::move(setting);
  at.source = options_.name;
  at.line = line;
  environment.settings.push_back(std::move(at));
}

void Recorder::add_unknown(std::string_view name, std::int64_t line) {
  if (!concerns(name)) {
    ++others_;
    return;
  }
  add_unread(reading_, {.line = line, .text = std::string(name), .why = "its value comes from elsewhere and is not known"});
}

void Recorder::add_comment(Setting setting, std::int64_t line) {
  SettingAt& comment = environment_of("").comment;
  if (comment.line != 0) return;
  comment.setting = std::move(setting);
  comment.source = options_.name;
  comment.line = line;
}

void Recorder::finish() {
  if (reading_.nodes.empty()) environment_of("");
  reading_.values.push_back({.name = "other_variables", .value = others_, .unit = ""});
  if (others_ > 0) reading_.skipped.push_back(fmt::format("{} variables that do not concern communication: their values are not kept", others_));
}

}  // namespace verl::nccl
