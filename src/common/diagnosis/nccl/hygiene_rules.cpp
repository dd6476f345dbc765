// The table of rules about settings that work as written and should not be in production.
#include <array>

#include "diagnosis/nccl/rule_tables.h"

namespace verl::nccl {
namespace {

using diagnosis::Rule;
using enum diagnosis::Severity;

constexpr std::array kRules{
    Rule{"NCCL201", Warning, "a debugging variable in production",
         "NCCL's user guide lists it for debugging and as a temporary workaround only; platform profiles and verl set some on purpose.",
         "remove it, or write down why it is needed"},
    Rule{"NCCL202", Warning, "NCCL_ALGO or NCCL_PROTO pinned", "The tuner can no longer choose trees, NVLS or PAT where they are faster.", "unset it"},
    Rule{"NCCL203", Error, "LL128 forced past the check of the hardware",
         "Naming LL128, or an excluding list without it, switches it on where NCCL judged it unsafe: data may be corrupted silently.",
         "exclude it with ^LL128, or name only LL and Simple"},
    Rule{"NCCL204", Warning, "verbose logging in production", "Every rank writes megabytes to gigabytes of log.", "NCCL_DEBUG=WARN"},
    Rule{"NCCL205", Info, "NCCL_DEBUG is not set", "Failures leave no text.", "NCCL_DEBUG=WARN, perhaps with NCCL_WARN_ENABLE_DEBUG_INFO=1"},
    Rule{"NCCL206", Error, "NCCL_DEBUG_FILE that several processes share", "Each process opens it anew and overwrites what the others wrote.", "use %h.%p in the name"},
    Rule{"NCCL207", Warning, "few channels on GPUs with NVSwitch", "Below 16 channels the bandwidth of NVSwitch is not reached.", "unset it"},
    Rule{"NCCL208", Warning, "an odd or tiny NCCL_BUFFSIZE", "Below 64 KiB, or when it is no power of two, bandwidth and layout suffer.", "unset it"},
    Rule{"NCCL209", Error, "GPUDirect flush switched off", "Data may be read before it has arrived: silent corruption.", "unset it"},
    Rule{"NCCL210", Warning, "argument checks left on", "Every call is checked.", "unset it"},
    Rule{"NCCL211", Error, "the RAS service open to the network", "It answers anybody without authentication.", "localhost:28028"},
    Rule{"NCCL212", Warning, "NCCL_IGNORE_DISABLED_P2P set", "Faults of NVLink, ACS or NVML stay hidden.", "unset it and repair the hardware"},
    Rule{"NCCL213", Error, "CUDA_LAUNCH_BLOCKING set", "Every launch waits: slow, and ranks can deadlock.", "unset it"},
    Rule{"NCCL214", Warning, "a graph or dump file set", "It is for debugging; a fixed graph breaks with any change of the topology.", "unset it"},
    Rule{"NCCL215", Warning, "PXN switched off", "All-to-all on rail-optimised fabrics goes across rails.", "unset it"},
    Rule{"NCCL216", Warning, "cuMem switched off outside a rollout engine", "Multi-node NVLink, NVLS registration and windows are off with it.", "unset it"},
    Rule{"NCCL217", Warning, "NVLS switched off on GPUs with NVSwitch", "All-reduce loses bandwidth.", "NCCL_NVLS_ENABLE=2, or unset it"},
    Rule{"NCCL218", Warning, "shared memory switched off", "GPUs of one node talk over the network.", "unset it and enlarge /dev/shm"},
    Rule{"NCCL219", Warning, "InfiniBand waits as long as the framework", "The framework's watchdog fires before NCCL reports the lost peer.", "lower NCCL_IB_TIMEOUT"},
    Rule{"NCCL220", Warning, "asynchronous InfiniBand events switched off", "Port errors stay invisible.", "set it to 1, or unset it"},
    Rule{"NCCL221", Info, "a preflight job that tolerates missing network devices", "Ranks with fewer devices are only logged.", "NCCL_IGNORE_NET_MISMATCH=0 in the preflight job"},
    Rule{"NCCL222", Info, "socket buffers set by hand", "TCP no longer tunes them.", "unset it"},
};

}  // namespace

std::span<const diagnosis::Rule> hygiene_rules() { return kRules; }

}  // namespace verl::nccl
