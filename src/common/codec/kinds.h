// For the .cpp files of codec only: one reader per kind, and the parts that several kinds share.
#pragma once

#include <string_view>

#include "api/node.h"
#include "api/node_readiness.h"
#include "api/readiness_policy.h"
#include "api/verl_job.h"
#include "codec/reader.h"

namespace verl::codec {

// Each reads a whole object; what it cannot read goes into object.unreadable.
void read_object(Element value, api::Node& out);
void read_object(Element value, api::Pod& out);
void read_object(Element value, api::PriorityClass& out);
void read_object(Element value, api::ResourceQuota& out);
void read_object(Element value, api::Heartbeat& out);
void read_object(Element value, api::VerlJob& out);
void read_object(Element value, api::NodeReadiness& out);
void read_object(Element value, api::ReadinessPolicy& out);

void read(Element value, api::Meta& out, const Place& at, Faults& faults);
void read(Element value, api::ConditionStatus& out, const Place& at, Faults& faults);
void read(Element value, api::Condition& out, const Place& at, Faults& faults);
void read(Element value, std::vector<api::Condition>& out, const Place& at, Faults& faults);
void read(Element value, api::Expectations& out, const Place& at, Faults& faults);

// requests of a pod as the scheduler counts them, from the whole pod object.
void read_effective_requests(Element pod, api::Resources& out, Faults& faults);

}  // namespace verl::codec
