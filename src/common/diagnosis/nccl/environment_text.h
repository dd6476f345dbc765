// Texts that hold an environment: env, docker --env-file, /proc/PID/environ, shell lines and launchers' command lines.
#pragma once

#include <string_view>

#include "diagnosis/format.h"

namespace verl::nccl {

int environment_likeness(std::string_view head);
Result<diagnosis::Reading> read_environment(std::string_view text, const diagnosis::ReadOptions& options);

}  // namespace verl::nccl
