#include "kubectl-verl/take_snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <vector>

#include "base/text.h"
#include "kube/protocol/api_status.h"
#include "kube/protocol/kinds.h"
#include "kube/protocol/list_page.h"
#include "kube/protocol/verbs.h"
#include "operator/core/json_at.h"
#include "operator/snapshot/config.h"

namespace verl::cli {
namespace {

using nlohmann::json;

using namespace kube::kinds;

constexpr std::string_view kDefaultNamespace = "verl-system";
constexpr std::string_view kOperatorConfig = "app.kubernetes.io/name=verl-operator,app.kubernetes.io/component=operator";
constexpr Bytes kMaxPage{64 * kMiB.count};
constexpr int kMaxPages = 10'000;
constexpr int kMaxRestarts = 3;
constexpr std::array kContainerLists{"containers", "initContainers", "ephemeralContainers"};

std::string name_of(const kube::Resource& resource) { return resource.plural + (resource.group.empty() ? "" : "." + resource.group); }

// The values of variables in pod templates: no decision needs them, and people write tokens there. Names and references stay.
void blank_environments(json& template_of) {
  if (!template_of.is_object() || !template_of.contains("spec") || !template_of["spec"].is_object()) return;
  for (const char* list : kContainerLists) {
    if (!template_of["spec"].contains(list) || !template_of["spec"][list].is_array()) continue;
    for (json& container : template_of["spec"][list]) {
      if (!container.is_object() || !container.contains("env") || !container["env"].is_array()) continue;
      for (json& variable : container["env"]) {
        if (variable.is_object() && variable.contains("value")) variable["value"] = "";
      }
    }
  }
}

void strip(json& item, const kube::Resource& resource) {
  if (!item.is_object()) return;
  if (json* meta = item.contains("metadata") ? &item["metadata"] : nullptr; meta != nullptr && meta->is_object()) {
    if (resource.plural != "leases") meta->erase("managedFields");
    if (meta->contains("annotations") && (*meta)["annotations"].is_object()) (*meta)["annotations"].erase("kubectl.kubernetes.io/last-applied-configuration");
  }
  if (resource.plural == "pods" && item.contains("spec") && item["spec"].is_object()) {
    for (const char* list : kContainerLists) {
      if (!item["spec"].contains(list) || !item["spec"][list].is_array()) continue;
      for (json& container : item["spec"][list]) {
        if (!container.is_object()) continue;
        for (const char* field : {"env", "envFrom", "args", "command"}) container.erase(field);
      }
    }
  }
  if (resource.plural == "verljobs" && item.contains("spec") && item["spec"].is_object() && item["spec"].contains("pools") && item["spec"]["pools"].is_array()) {
    for (json& pool : item["spec"]["pools"]) {
      if (pool.is_object() && pool.contains("template")) blank_environments(pool["template"]);
    }
  }
  if (resource.plural == "nodes" && item.contains("status") && item["status"].is_object()) item["status"].erase("images");
}

class Taker {
 public:
  Taker(kube::Api& api, std::stop_token stop) : api_(api), stop_(std::move(stop)) {}

  std::optional<Timestamp> date{};
  json not_read = json::array();

  // Every object of one kind, or why not.
  Result<std::vector<json>> list(const kube::Resource& resource, const std::string& name_space, std::string_view selector) {
    Result<std::vector<json>> items = failure(ErrorCode::Unavailable, "");
    for (int restart = 0; restart < kMaxRestarts; ++restart) {
      bool expired = false;
      items = list_once(resource, name_space, selector, expired);
      if (items || !expired) break;
    }
    return items;
  }

  // Adds them to `into`; refusals are noted there, anything else ends the reading.
  Result<void> add(json& into, const kube::Resource& resource, const std::string& name_space = "") {
    auto items = list(resource, name_space, "");
    if (!items && (items.error().code == ErrorCode::Denied || items.error().code == ErrorCode::NotFound)) {
      not_read.push_back({{"resource", name_of(resource)}, {"why", shorten(items.error().message, 1000)}});
      return {};
    }
    if (!items) return tl::unexpected<Error>(items.error());
    for (json& item : *items) into.push_back(std::move(item));
    return {};
  }

 private:
  Result<std::vector<json>> list_once(const kube::Resource& resource, const std::string& name_space, std::string_view selector, bool& expired) {
    std::vector<json> items;
    kube::ListOptions options{.label_selector = std::string(selector)};
    const std::string doing = "list " + name_of(resource) + (name_space.empty() ? "" : " in namespace " + name_space);
    for (int pages = 0; pages < kMaxPages; ++pages) {
      kube::Request request = kube::list_request({.resource = resource, .name_space = name_space}, options);
      request.max_body = kMaxPage;
      auto reply = api_.send(request, stop_).map_error(context(doing));
      if (!reply) return tl::unexpected<Error>(reply.error());
      if (reply->date) date = date ? std::max(*date, *reply->date) : reply->date;
      if (!kube::is_success(*reply)) {
        const kube::ApiStatus status = kube::decode_status(*reply);
        expired = status.code == 410;
        Error error = kube::error_of(status, doing);
        if (kube::is_resource_absent(status)) error.message += fmt::format("; the server does not know {}: is verl-operator installed?", name_of(resource));
        return tl::unexpected<Error>(std::move(error));
      }
      const auto page = kube::parse_list_page(reply->body, resource);
      if (!page) return tl::unexpected<Error>(context(doing)(page.error()));
      for (const std::string_view text : page->items) {
        json item = json::parse(text, nullptr, false);
        if (!item.is_object()) return failure(ErrorCode::Invalid, doing + ": an item is no JSON object");
        item["apiVersion"] = kube::api_version(resource);
        item["kind"] = resource.kind;
        strip(item, resource);
        items.push_back(std::move(item));
      }
      if (page->continue_token.empty()) return items;
      options.continue_token = page->continue_token;
    }
    return failure(ErrorCode::TooLarge, fmt::format("{}: more than {} pages", doing, kMaxPages));
  }

  kube::Api& api_;
  std::stop_token stop_;
};

json config_of(const snapshot::OperatorFile& file, const std::string& name_space) {
  json levels = json::array();
  for (const core::Level& level : file.config.levels) levels.push_back({{"name", level.name}, {"key", level.key}});
  json out{{"levels", std::move(levels)},
           {"namespace", name_space},
           {"gpuResource", file.config.gpu_resource},
           {"ports", {{"first", file.config.port_first}, {"last", file.config.port_last}}},
           {"heartbeat", {{"idleSeconds", file.config.renewal_idle.count()}, {"busySeconds", file.config.renewal_busy.count()}}}};
  if (!file.docs_url.empty()) out["docsUrl"] = file.docs_url;
  return out;
}

// The operator's configuration, which also says where heartbeats lie.
Result<json> find_config(Taker& taker, const std::string& wanted) {
  auto maps = taker.list(kConfigMaps, wanted, kOperatorConfig);
  // Who may not look everywhere may still look where the operator usually is.
  if (!maps && maps.error().code == ErrorCode::Denied && wanted.empty()) maps = taker.list(kConfigMaps, std::string(kDefaultNamespace), kOperatorConfig);
  const std::string otherwise = wanted.empty() ? std::string(kDefaultNamespace) : wanted;
  if (!maps && maps.error().code != ErrorCode::Denied) return tl::unexpected<Error>(maps.error());
  std::vector<const json*> with_file;
  std::set<std::string> namespaces;
  if (maps) {
    for (const json& map : *maps) {
      const json* text = core::json_at(map, {"data", "config.yaml"});
      const json* name_space = core::json_at(map, {"metadata", "namespace"});
      if (text == nullptr || !text->is_string() || name_space == nullptr || !name_space->is_string()) continue;
      with_file.push_back(&map);
      namespaces.insert(name_space->get<std::string>());
    }
  }
  if (with_file.size() > 1) {
    return failure(ErrorCode::Invalid, fmt::format("several operator configurations were found, in {}; choose one by --operator-namespace",
                                                   escape_controls(join_some({namespaces.begin(), namespaces.end()}, 4))));
  }
  if (with_file.empty()) {
    const std::string why = maps ? fmt::format("no ConfigMap labelled {} holds config.yaml", kOperatorConfig) : maps.error().message;
    taker.not_read.push_back({{"resource", "configmaps"}, {"why", shorten(why, 1000)}});
    return config_of({}, otherwise);
  }
  const json& map = *with_file.front();
  const auto name_space = map["metadata"]["namespace"].get<std::string>();
  const auto file = snapshot::parse_config(map["data"]["config.yaml"].get<std::string>());
  if (!file) return tl::unexpected<Error>(context("the operator's ConfigMap in " + name_space)(file.error()));
  return config_of(*file, name_space);
}

}  // namespace

Result<json> take_snapshot(kube::Api& api, const TakeOptions& options, const Clock& clock, std::stop_token stop) {
  Taker taker(api, std::move(stop));
  auto config = find_config(taker, options.operator_namespace);
  if (!config) return config;
  json items = json::array();
  std::vector<const kube::Resource*> kinds{&kNodes, &kReports, &kPolicies};
  if (options.extent == Extent::Everything) kinds.insert(kinds.end(), {&kVerlJobs, &kPods, &kPriorityClasses, &kQuotas});
  for (const kube::Resource* kind : kinds) {
    if (auto added = taker.add(items, *kind); !added) return tl::unexpected<Error>(added.error());
  }
  // Heartbeats come last, so that the newest Date is the one of their own read.
  if (auto added = taker.add(items, kLeases, (*config)["namespace"].get<std::string>()); !added) return tl::unexpected<Error>(added.error());
  if (!taker.date) taker.not_read.push_back({{"resource", "leases.coordination.k8s.io"}, {"why", "no answer of the server carried a Date, so no age can be told"}});
  json document{{"apiVersion", "verl.run/v1alpha1"}, {"kind", "ClusterSnapshot"}, {"serverTime", format_rfc3339(taker.date.value_or(clock.now()))},
                {"config", std::move(*config)},      {"items", std::move(items)}};
  if (!taker.not_read.empty()) document["notRead"] = std::move(taker.not_read);
  return document;
}

}  // namespace verl::cli
