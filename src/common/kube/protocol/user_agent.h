// How our programs introduce themselves to the apiserver, so that its audit log and metrics tell them apart.
#pragma once

#include <string>
#include <string_view>

namespace verl::kube {

std::string_view platform();  // "linux/amd64", as Go names what this was built for

// "verl-operator/0.1.0 (linux/amd64) operator"; `component` may be empty.
std::string user_agent(std::string_view program, std::string_view version, std::string_view component = {});

}  // namespace verl::kube
