// YAML or JSON of Kubernetes objects, one or many, Lists too: each goes to the reader of its kind, all others are named as skipped.
// The data of Secrets is never read.
#include "diagnosis/nccl/settings.h"
#include "diagnosis/kubernetes/manifest.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/quantity.h"
#include "base/text.h"
#include "diagnosis/kubernetes/readers.h"
#include "diagnosis/nccl/conf.h"
#include "diagnosis/rule.h"
#include "diagnosis/time/text_lines.h"
#include "yaml/yaml.h"

namespace verl::diagnosis {
namespace manifest {

const Json& at(const Json& object, std::string_view key) {
  static const Json kNothing;
  if (!object.is_object()) return kNothing;
  const auto found = object.find(key);
  return found == object.end() ? kNothing : *found;
}

std::string text_at(const Json& object, std::string_view key) {
  const Json& value = at(object, key);
  return value.is_string() ? value.get<std::string>() : std::string{};
}

std::int64_t number_at(const Json& object, std::string_view key, std::int64_t otherwise) {
  const Json& value = at(object, key);
  return value.is_number_integer() ? value.get<std::int64_t>() : otherwise;
}

const Json& path(const Json& object, std::initializer_list<std::string_view> keys) {
  const Json* here = &object;
  for (const std::string_view key : keys) here = &at(*here, key);
  return *here;
}

std::int64_t quantity(const Json& value) {
  constexpr std::int64_t kMost = std::int64_t{1} << 50;  // a petabyte: sums of what one manifest holds stay in range
  if (value.is_number_integer()) return std::clamp<std::int64_t>(value.get<std::int64_t>(), 0, kMost);
  return value.is_string() ? std::min(parse_quantity(value.get<std::string>()).value_or(0), kMost) : 0;
}

Lines::Lines(std::string_view text, std::string source) : text_(text), source_(std::move(source)) {
  starts_.push_back(0);
  for (std::size_t end = text_.find('\n'); end != std::string_view::npos; end = text_.find('\n', end + 1)) starts_.push_back(end + 1);
}

Evidence Lines::of(std::string_view word) {
  constexpr int kMostLookups = 2000;  // each may scan the whole text
  Evidence out{.source = source_, .line = 0, .text = {}};
  if (word.empty() || ++lookups_ > kMostLookups) return out;
  std::size_t found = text_.find(word, cursor_);
  if (found == std::string_view::npos) found = text_.find(word);
  if (found == std::string_view::npos) return out;
  cursor_ = found;
  const auto next = std::upper_bound(starts_.begin(), starts_.end(), found);
  out.line = next - starts_.begin();  // the place alone: the line may be another object's, a Secret's among others
  return out;
}

void add(Context& context, Finding finding, std::string_view word) {
  const Evidence evidence = context.lines.of(word);
  if (evidence.line > 0) finding.evidence.push_back(evidence);
  context.reading.findings.push_back(std::move(finding));
}

void put(Context& context, const Object& object, std::string name, Scalar value, std::string unit) {
  time_text::put(context.reading, object.value_path + std::move(name), std::move(value), std::move(unit));
}

void read_status(Context& context, const Object& object) {
  const std::string reason = text_at(object.json, "reason");
  const std::int64_t code = number_at(object.json, "code", 0);
  put(context, object, "reason", reason);
  put(context, object, "code", code);
  bool terminating = false;
  for (const Json& cause : path(object.json, {"details", "causes"})) terminating = terminating || text_at(cause, "reason") == "NamespaceTerminating";
  put(context, object, "namespace_terminating", terminating);
  if (text_at(object.json, "status") == "Success") return;
  Finding finding = finding_of(terminating ? "namespace-terminating" : "api-refused", reason.empty() ? "Status" : reason);
  finding.seen = std::to_string(code);
  finding.message = fmt::format("the API server answered {} {}: {}", code, reason, shorten(text_at(object.json, "message"), 300));
  add(context, std::move(finding), "\"message\"");
}

}  // namespace manifest

namespace {

using namespace manifest;

Object object_of(const Json& json, size_t index) {
  Object out{json, text_at(json, "kind"), {}, {}, fmt::format("objects[{}].", index)};
  const Json& metadata = at(json, "metadata");
  out.name = text_at(metadata, "name");
  if (out.name.empty()) out.name = text_at(metadata, "generateName");
  const std::string space = text_at(metadata, "namespace");
  out.title = out.kind + " " + (space.empty() ? "" : space + "/") + out.name;
  return out;
}

void read_config_map(Context& context, const Object& object) {
  bool any = false;
  for (const auto& item : at(object.json, "data").items()) {
    if (!item.key().ends_with("nccl.conf") || !item.value().is_string()) continue;
    any = true;
    nccl::Environment environment;
    environment.kind = nccl::EnvironmentKind::Conf;
    environment.origin = object.title;
    for (const nccl::Setting& setting : nccl::parse_conf(item.value().get<std::string>()).settings) {
      if (!nccl::concerns_communication(setting.name)) continue;
      nccl::SettingAt one;
      one.setting = setting;
      one.source = context.options.name;
      one.line = context.lines.of(setting.name).line;
      environment.settings.push_back(std::move(one));
    }
    own_node(context.reading).nccl.environments.push_back(std::move(environment));
  }
  if (!any) context.reading.skipped.push_back(object.title + ": no nccl.conf in it");
}

// Pods inside other kinds: their template is the pod.
const Json& template_of(const Object& object) {
  if (object.kind == "CronJob") return path(object.json, {"spec", "jobTemplate", "spec", "template"});
  return path(object.json, {"spec", "template"});
}

void read_object(Context& context, const Json& json, size_t& index) {
  constexpr size_t kMostObjects = 20000;
  if (!json.is_object() || index >= kMostObjects) {
    context.reading.skipped.push_back(json.is_object() ? "more objects than are read" : "a document that is no object");
    return;
  }
  if (at(json, "items").is_array() && (text_at(json, "kind").ends_with("List") || text_at(json, "kind").empty())) {
    for (const Json& item : at(json, "items")) {
      if (!at(item, "items").is_array()) read_object(context, item, index);
    }
    return;
  }
  const Object object = object_of(json, index++);
  if (object.kind == "Secret") {
    context.reading.skipped.push_back(object.title + ": the data of a Secret is never read");
    return;
  }
  put(context, object, "kind", object.kind);
  put(context, object, "name", object.name);
  if (object.kind == "Pod") return read_pod(context, object);
  if (object.kind == "Node") return read_node(context, object);
  if (object.kind == "NodeReadiness") return read_node_readiness(context, object);
  if (object.kind == "VerlJob") return read_verl_job(context, object);
  if (object.kind == "RayCluster" || object.kind == "RayJob" || object.kind == "RayService") return read_ray(context, object);
  if (object.kind == "Status") return read_status(context, object);
  if (object.kind == "ConfigMap") return read_config_map(context, object);
  const Json& pod = template_of(object);
  if (at(at(pod, "spec"), "containers").is_array()) {
    const bool several = number_at(at(object.json, "spec"), "replicas", number_at(at(object.json, "spec"), "parallelism", 1)) > 1;
    read_pod_spec(context, object, at(pod, "spec"), "", several);
    return;
  }
  context.reading.skipped.push_back(object.title + ": nothing of it is judged");
}

}  // namespace

int like_kubernetes_objects(std::string_view head) {
  using time_text::has_line;
  if (has_line(head, "apiVersion:") && has_line(head, "kind:")) return 85;
  const std::string_view start = trim(head.substr(0, 4096));
  const bool json = start.starts_with('{') || start.starts_with('[');
  return json && head.find("\"apiVersion\"") != std::string_view::npos && head.find("\"kind\"") != std::string_view::npos ? 85 : 0;
}

Result<Reading> read_kubernetes_objects(std::string_view text, const ReadOptions& options) {
  Reading reading;
  std::vector<Json> documents;
  Json whole = trim(text).starts_with('{') ? Json::parse(text, nullptr, false) : Json(Json::value_t::discarded);
  if (!whole.is_discarded()) {
    documents.push_back(std::move(whole));
  } else {
    auto texts = yaml_documents_to_json(text);
    if (!texts) return tl::unexpected(texts.error());
    for (const std::string& one : *texts) {
      Json json = Json::parse(one, nullptr, false);
      if (!json.is_discarded()) documents.push_back(std::move(json));
    }
  }
  Lines lines(text, options.name);
  Context context{reading, lines, options};
  size_t index = 0;
  for (const Json& one : documents) {
    if (one.is_array()) {
      for (const Json& item : one) read_object(context, item, index);
    } else {
      read_object(context, one, index);
    }
  }
  if (index == 0 && reading.skipped.empty()) return failure(ErrorCode::Invalid, "no Kubernetes object is in it");
  time_text::put(reading, "objects", static_cast<std::int64_t>(index));
  return reading;
}

}  // namespace verl::diagnosis
