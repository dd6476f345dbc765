// Texts of Kubernetes and of the container's limits, and who reads them.
#include "diagnosis/format.h"

#include <array>

#include "diagnosis/kubernetes/readers.h"

namespace verl::diagnosis {
namespace {

constexpr std::array kFormats{
    Format{"kubernetes-objects", "manifests and kubectl get -o yaml|json: pods, Ray and verl jobs, Nodes, NodeReadiness", like_kubernetes_objects, read_kubernetes_objects, nullptr},
    Format{"gfd-labels", "labels of GPU feature discovery, one a line", like_gfd_labels, read_gfd_labels, nullptr},
    Format{"df", "df, df -h: room in /dev/shm", like_df, read_df, nullptr},
    Format{"ulimit", "ulimit -a, /proc/PID/limits", like_ulimit, read_ulimit, nullptr},
};

}  // namespace

std::span<const Format> kubernetes_formats() { return kFormats; }

}  // namespace verl::diagnosis
