// The table of rules about PyTorch, Gloo, Ray and verl.
#include <array>

#include "diagnosis/nccl/rule_tables.h"

namespace verl::nccl {
namespace {

using diagnosis::Rule;
using enum diagnosis::Severity;

constexpr std::array kRules{
    Rule{"NCCL501", Info, "judged from a pod's or job's text alone",
         "A process also has what its image, configuration files, Ray's runtime_env and Python set.", "read the environment in a Ray actor of the job"},
    Rule{"NCCL502", Error, "NCCL_COMM_ID under PyTorch, Ray or verl", "All communicators of the job meet at one address and take each other's ranks.", "unset it"},
    Rule{"NCCL503", Error, "a TORCH_NCCL_ switch that PyTorch cannot read", "PyTorch throws at start, even for the old name that is not used.",
         "y, yes, 1, t, true, n, no, 0, f or false"},
    Rule{"NCCL504", Error, "a TORCH_NCCL_ number that PyTorch cannot read", "std::stoi throws at start; text behind a number is left.", "write an integer"},
    Rule{"NCCL505", Error, "asynchronous error handling changed",
         "0: hangs are never reported. 2, a warning, and 1, told only since verl's recipes set it: aborting may itself hang, the default is 3.", "unset it"},
    Rule{"NCCL506", Warning, "TORCH_NCCL_BLOCKING_WAIT on", "wait() blocks the CPU until the collective ends.", "unset it"},
    Rule{"NCCL507", Warning, "TORCH_DISTRIBUTED_DEBUG=DETAIL", "Every collective is preceded by another one.", "OFF"},
    Rule{"NCCL508", Info, "the flight recorder is off", "After a hang nothing shows which collective each rank was in.", "a trace buffer of 2000, TORCH_NCCL_DUMP_ON_TIMEOUT=1"},
    Rule{"NCCL509", Info, "dumps go to the container's own layer", "They are lost with the pod.", "an emptyDir or a persistent volume"},
    Rule{"NCCL510", Warning, "a heartbeat shorter than PyTorch's own", "The monitor kills workers that are only slow: checkpoints and long steps stall them.", "unset it, or raise it"},
    Rule{"NCCL511", Error, "list syntax of NCCL for Gloo", "Gloo knows exact names separated by commas: no \"^\", no \"=\", no prefix, no address.", "write concrete interface names of the node"},
    Rule{"NCCL512", Error, "a Gloo interface that has no address or does not exist", "Gloo fails with \"Unable to find address for\".", "name an interface with an address; of a bond its master"},
    Rule{"NCCL513", Error, "Gloo left to a host name that is loopback", "Peers get 127.x.x.x and cannot connect.", "set GLOO_SOCKET_IFNAME"},
    Rule{"NCCL514", Warning, "NCCL and Gloo on different networks", "Half of the job uses a slower or filtered path.", "use the same interfaces"},
    Rule{"NCCL515", Error, "NCCL_COMM_BLOCKING against PyTorch's own choice", "ncclInProgress is taken for an error, or waited for wrongly.", "unset both"},
    Rule{"NCCL516", Warning, "CUDA_DEVICE_MAX_CONNECTIONS against the role",
         "Megatron with tensor or context parallelism needs 1 on Ampere and Hopper; 1 costs FSDP and Blackwell their overlap.", "set it per role"},
    Rule{"NCCL517", Warning, "cuMem differs between trainer and rollout", "Their common communicator does without cuMem; verl's rollout engines set 0.", "accept it, or align both"},
    Rule{"NCCL518", Error, "full determinism on some processes only", "Ranks choose different algorithms and hang. On all of them it is only slower, which is told.", "set it for all workers"},
    Rule{"NCCL519", Info, "the requested NCCL_DEBUG is overwritten in the process", "verl sets its own level in some workers.", "set it where the worker is started"},
    Rule{"NCCL520", Info, "settings an SGLang rollout overwrites", "The engine sets NVLS by its option, cuMem to 0 and the connections to 4.", "use the engine's options"},
    Rule{"NCCL521", Warning, "a variable changed after NCCL's first call", "Values are kept at their first reading.", "set it in the environment of the start"},
    Rule{"NCCL522", Warning, "Ray folds equal log lines", "Lines of several ranks become one.", "RAY_DEDUP_LOGS=0"},
    Rule{"NCCL523", Error, "MASTER_ADDR loopback, or different between processes", "The ranks do not meet.", "the address of the head"},
    Rule{"NCCL524", Error, "a word the AWS plugin does not know", "The plugin fails to initialise.", "one of the listed words"},
    Rule{"NCCL525", Warning, "the AWS plugin's GPUDirect check is off", "The job runs without GPUDirect and nobody says so.", "unset it"},
};

}  // namespace

std::span<const diagnosis::Rule> framework_rules() { return kRules; }

}  // namespace verl::nccl
