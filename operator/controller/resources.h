// The kinds the operator talks about, as the API serves them.
#pragma once

#include "kube/protocol/resource.h"

namespace verl::controller {

inline const kube::Resource kNodes{"", "v1", "Node", "nodes", false};
inline const kube::Resource kPods{"", "v1", "Pod", "pods", true};
inline const kube::Resource kSecrets{"", "v1", "Secret", "secrets", true};
inline const kube::Resource kQuotas{"", "v1", "ResourceQuota", "resourcequotas", true};
inline const kube::Resource kPriorityClasses{"scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", false};
inline const kube::Resource kHeartbeats{"coordination.k8s.io", "v1", "Lease", "leases", true};
inline const kube::Resource kVerlJobs{"verl.run", "v1alpha1", "VerlJob", "verljobs", true};
inline const kube::Resource kReports{"verl.run", "v1alpha1", "NodeReadiness", "nodereadinesses", false};
inline const kube::Resource kPolicies{"verl.run", "v1alpha1", "ReadinessPolicy", "readinesspolicies", false};

}  // namespace verl::controller
