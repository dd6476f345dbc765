// Options that every connection to an apiserver gets.
#pragma once

namespace verl::kube {

// No delay, keep-alive probes, and a limit for unacknowledged bytes: a peer that vanished is noticed within a minute.
void configure_socket(int socket);

}  // namespace verl::kube
