// One reader for each text of Kubernetes and of the container's limits.
#pragma once

#include "diagnosis/format.h"

namespace verl::diagnosis {

int like_kubernetes_objects(std::string_view head);
Result<Reading> read_kubernetes_objects(std::string_view text, const ReadOptions& options);

int like_gfd_labels(std::string_view head);
Result<Reading> read_gfd_labels(std::string_view text, const ReadOptions& options);

int like_df(std::string_view head);
Result<Reading> read_df(std::string_view text, const ReadOptions& options);

int like_ulimit(std::string_view head);
Result<Reading> read_ulimit(std::string_view text, const ReadOptions& options);  // ulimit -a of several shells, /proc/PID/limits

}  // namespace verl::diagnosis
