// A recorded machine: files below DIR/sys, DIR/proc and DIR/etc, and what is no file in
// DIR/proc/verl-host.json: no real /proc holds such a file, so a live machine is never taken for a recording.
// The same checks over a recording judge as they did on the machine; what was not recorded is an Error, never a guess.
#pragma once

#include <memory>
#include <string>

#include "host/host.h"

namespace verl::host {

Result<std::unique_ptr<Host>> tree_host(const std::string& directory);

// The part of chronyd's packets that a recording must replace: an answer carries the request's sequence number.
std::string without_sequence(std::string_view request);
std::string with_sequence_of(std::string reply, std::string_view request);

}  // namespace verl::host
