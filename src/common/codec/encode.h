// Values → JSON text of one object, as sent to the apiserver or printed. Leaves fields out that hold nothing, so that a
// server-side apply gives up what no longer holds. UTF-8 is written as it is, broken UTF-8 is replaced.
#pragma once

#include <string>

#include "api/node_readiness.h"
#include "api/readiness_policy.h"
#include "api/verl_job.h"

namespace verl::codec {

// Bodies of a server-side apply on the status subresource. `meta` gives name and namespace; a uid makes the write fail
// (409) when the object was deleted and made anew, a resourceVersion when anybody changed it since. Leave both empty to
// write whatever is there.
std::string encode_status(const api::Meta& meta, const api::VerlJobStatus& status);

// What the agent owns of a NodeReadiness: everything but the verdict and the operator's conditions.
std::string encode_agent_status(const api::Meta& meta, const api::NodeReadinessStatus& status);

// What the operator owns of it: the verdict and conditions other than Healthy.
std::string encode_operator_status(const api::Meta& meta, const api::NodeReadinessStatus& status);

// NodeReadiness without status; `owner_uid` is the UID of the Node, which owns it (empty: no owner).
std::string encode_spec(const api::NodeReadiness& report, const std::string& owner_uid);

// Whole objects, status included where it says anything.
std::string encode(const api::VerlJob& job);
std::string encode(const api::NodeReadiness& report);
std::string encode(const api::ReadinessPolicy& policy);

}  // namespace verl::codec
