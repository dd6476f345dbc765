#include "operator/controller/presets.h"

#include <fmt/format.h>

#include "yaml/yaml.h"
#include "kube/protocol/api_status.h"
#include "kube/protocol/kinds.h"
#include "kube/protocol/verbs.h"

namespace verl::controller {

bool create_presets(kube::Api& api, const std::vector<std::pair<std::string, std::string>>& texts,
                    const std::function<void(std::string_view)>& log, const std::stop_token& stop) {
  bool all = true;
  for (const auto& [file, text] : texts) {
    const auto documents = yaml_documents_to_json(text);
    if (!documents) {
      log(fmt::format("preset {}: {}", file, documents.error().message));
      all = false;
      continue;
    }
    for (const std::string& document : *documents) {
      const auto reply = api.send(kube::create_request({.resource = kube::kinds::kPolicies}, document, {.field_manager = "verl-operator-preset"}), stop);
      if (!reply) {
        log(fmt::format("creating the policy of preset {}: {}", file, reply.error().message));
        all = false;
      } else if (!kube::is_success(*reply) && !kube::is_already_exists(kube::decode_status(*reply))) {
        log(fmt::format("creating the policy of preset {}: {}", file, kube::summary(kube::decode_status(*reply))));
        all = false;
      }
    }
  }
  return all;
}

}  // namespace verl::controller
