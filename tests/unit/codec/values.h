// Random values of the API's types, within what the schema allows.
#pragma once

#include <random>

#include "api/node_readiness.h"
#include "api/readiness_policy.h"
#include "api/verl_job.h"

namespace verl::codec {

using Random = std::mt19937;

api::VerlJob random_job(Random& random);
api::NodeReadiness random_report(Random& random);
api::ReadinessPolicy random_policy(Random& random);

}  // namespace verl::codec
