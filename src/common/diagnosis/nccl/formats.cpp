#include "diagnosis/format.h"

#include <array>

#include "diagnosis/nccl/conf_text.h"
#include "diagnosis/nccl/environment_text.h"

namespace verl::diagnosis {
namespace {

constexpr std::array kFormats{
    Format{.name = "environment", .what = "env, docker --env-file, /proc/PID/environ, export lines, a command line with VAR=value or mpirun -x",
           .likeness = nccl::environment_likeness, .read = nccl::read_environment, .stream = nullptr},
    Format{.name = "nccl-conf", .what = "/etc/nccl.conf or .nccl.conf", .likeness = nccl::conf_likeness, .read = nccl::read_conf, .stream = nullptr,
           .usual_name = "nccl.conf"},
};

}  // namespace

std::span<const Format> nccl_formats() { return kFormats; }

}  // namespace verl::diagnosis
