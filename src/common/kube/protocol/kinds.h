// The kinds that our programs talk about, as the API serves them.
#pragma once

#include "kube/protocol/resource.h"

namespace verl::kube::kinds {

inline const Resource kNodes{"", "v1", "Node", "nodes", false};
inline const Resource kPods{"", "v1", "Pod", "pods", true};
inline const Resource kSecrets{"", "v1", "Secret", "secrets", true};
inline const Resource kConfigMaps{"", "v1", "ConfigMap", "configmaps", true};
inline const Resource kQuotas{"", "v1", "ResourceQuota", "resourcequotas", true};
inline const Resource kPriorityClasses{"scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", false};
inline const Resource kLeases{"coordination.k8s.io", "v1", "Lease", "leases", true};
inline const Resource kEvents{"events.k8s.io", "v1", "Event", "events", true};
inline const Resource kSelfReviews{"authentication.k8s.io", "v1", "SelfSubjectReview", "selfsubjectreviews", false};
inline const Resource kVerlJobs{"verl.run", "v1alpha1", "VerlJob", "verljobs", true};
inline const Resource kReports{"verl.run", "v1alpha1", "NodeReadiness", "nodereadinesses", false};
inline const Resource kPolicies{"verl.run", "v1alpha1", "ReadinessPolicy", "readinesspolicies", false};

}  // namespace verl::kube::kinds
