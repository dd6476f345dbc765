#include "kube/client/sigpipe.h"

#include <csignal>

namespace verl::kube {

void ignore_sigpipe() { std::signal(SIGPIPE, SIG_IGN); }

}  // namespace verl::kube
