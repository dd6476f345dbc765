#include "kube/client/read_file.h"

namespace verl::kube {

Result<FileText> read_local_file(const std::string& path) {
  // No key, token or kubeconfig is larger.
  return verl::read_file(path, Bytes{kMiB.count});
}

}  // namespace verl::kube
