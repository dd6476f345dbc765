#include "kubectl-verl/job_file.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "codec/decode.h"
#include "codec/unknown_fields.h"
#include "yaml/yaml.h"
#include "operator/core/json_at.h"

namespace verl::cli {

Result<api::VerlJob> parse_job(std::string_view yaml, const std::string& default_namespace) {
  const auto documents = yaml_documents_to_json(yaml);
  if (!documents) return tl::unexpected<Error>(documents.error());
  if (documents->size() != 1) return failure(ErrorCode::Invalid, fmt::format("the file holds {} documents, wants one VerlJob", documents->size()));
  const auto document = nlohmann::json::parse(documents->front(), nullptr, false);
  const auto text = [&](const char* field) {
    const auto* value = core::json_at(document, {field});
    return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
  };
  const std::string wanted = fmt::format("{}/{}", api::kGroup, api::kVersion);
  if (text("kind") != "VerlJob" || text("apiVersion") != wanted) {
    return failure(ErrorCode::Invalid, fmt::format("apiVersion and kind are \"{}\" and \"{}\", wants {} and VerlJob", escape_controls(text("apiVersion")),
                                                   escape_controls(text("kind")), wanted));
  }
  // The apiserver would refuse them; passing over a misspelt field would plan another job than the one that was meant.
  const auto strangers = codec::unknown_fields<api::VerlJob>(documents->front());
  if (!strangers) return tl::unexpected<Error>(strangers.error());
  auto job = codec::decode_object<api::VerlJob>(documents->front());
  if (!job) return job;
  std::vector<std::string> faults = job->unreadable;
  if (!strangers->empty()) faults.push_back(fmt::format("unknown field{}: {}", strangers->size() == 1 ? "" : "s", join_some(*strangers, 5)));
  if (!faults.empty()) return failure(ErrorCode::Invalid, escape_controls(join_some(faults, 8)));
  if (job->meta.name.empty()) return failure(ErrorCode::Invalid, "metadata.name: is empty");
  if (job->meta.name_space.empty()) job->meta.name_space = default_namespace;
  // A manifest may be what `kubectl get -o yaml` printed; what became of that object is the cluster's to say.
  job->status = {};
  job->meta.deleted.reset();
  return job;
}

}  // namespace verl::cli
