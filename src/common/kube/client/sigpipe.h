// Writing to a connection that the other side closed must be an error, not the end of the process.
#pragma once

namespace verl::kube {

void ignore_sigpipe();  // first thing in every main

}  // namespace verl::kube
