// An apiserver with one NodeReadiness and one Lease, as values: what an agent may do there, and what it did.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "kube/protocol/http.h"

namespace verl::agent {

class FakeServer final : public kube::Api {
 public:
  std::optional<nlohmann::json> report{};
  std::optional<nlohmann::json> lease{};
  std::string token_node{"n1"};
  std::string token_uid{"uid-1"};
  int status_code{200};   // of writes to the report
  bool down{false};
  std::vector<std::string> writes{};  // "PATCH /path"

  static nlohmann::json fresh_report(std::int64_t generation = 1) {
    return {{"apiVersion", "verl.run/v1alpha1"}, {"kind", "NodeReadiness"},
            {"metadata", {{"name", "n1"}, {"uid", "r-1"}, {"generation", generation}, {"resourceVersion", "7"}}},
            {"spec", {{"nodeUID", "uid-1"}, {"address", "10.20.0.1"}}}};
  }
  static nlohmann::json fresh_lease(int duration = 90) {
    return {{"apiVersion", "coordination.k8s.io/v1"}, {"kind", "Lease"}, {"metadata", {{"name", "n1"}, {"namespace", "verl-system"}}},
            {"spec", {{"leaseDurationSeconds", duration}}}};
  }

  Result<kube::Reply> send(const kube::Request& request, std::stop_token) override {
    if (down) return failure(ErrorCode::Unavailable, "connection refused");
    if (request.path == "/apis/authentication.k8s.io/v1/selfsubjectreviews") {
      nlohmann::json extra = nlohmann::json::object();
      if (!token_node.empty()) extra["authentication.kubernetes.io/node-name"] = {token_node};
      if (!token_uid.empty()) extra["authentication.kubernetes.io/node-uid"] = {token_uid};
      return reply(201, {{"kind", "SelfSubjectReview"}, {"status", {{"userInfo", {{"extra", extra}}}}}});
    }
    if (request.path == "/apis/verl.run/v1alpha1/nodereadinesses/n1" && request.method == kube::Method::Get) {
      return report ? reply(200, *report) : reply(404, {{"message", "not found"}});
    }
    if (request.method == kube::Method::Patch) writes.push_back(request.path);
    const auto body = nlohmann::json::parse(request.body, nullptr, false);
    if (request.path == "/apis/verl.run/v1alpha1/nodereadinesses/n1/status") {
      if (status_code != 200) return reply(status_code, {{"message", "refused"}});
      if (body["metadata"].value("uid", "") != (*report)["metadata"]["uid"]) return reply(409, {{"message", "Precondition failed: UID"}});
      (*report)["status"] = body["status"];
      return reply(200, *report);
    }
    if (request.path == "/apis/coordination.k8s.io/v1/namespaces/verl-system/leases/n1") {
      if (!lease) return reply(404, {{"message", "not found"}});
      lease->merge_patch(body);
      return reply(200, *lease);
    }
    return reply(403, {{"message", "forbidden"}});
  }

  Result<bool> stream(const kube::Request&, kube::StreamSink&, std::stop_token) override {
    return failure(ErrorCode::Denied, "an agent watches nothing");
  }

 private:
  static kube::Reply reply(int status, const nlohmann::json& body) { return {.status = status, .body = body.dump()}; }
};

}  // namespace verl::agent
