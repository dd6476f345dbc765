// The table of rules about names: who reads a variable, in which releases.
#include <array>

#include "diagnosis/nccl/rule_tables.h"

namespace verl::nccl {
namespace {

using diagnosis::Rule;
using enum diagnosis::Severity;

constexpr std::array kRules{
    Rule{"NCCL101", Error, "an unknown name that differs from a known one by a letter or two",
         "It is a misspelling and has no effect. Only told when the library is newer than the catalogue.", "write the known name"},
    Rule{"NCCL102", Warning, "an unknown NCCL_ name", "No public release reads it; it may belong to a vendor's build or plugin.",
         "find out who reads it, or remove it"},
    Rule{"NCCL103", Warning, "a name that no public NCCL ever read", "It has no effect, however often it is recommended.", "use the real name, or remove it"},
    Rule{"NCCL104", Warning, "a variable removed before the loaded release", "It has no effect.", "use its successor, or remove it"},
    Rule{"NCCL105", Warning, "a variable newer than the loaded release", "It has no effect there.", "use a newer NCCL, or remove it"},
    Rule{"NCCL106", Info, "a deprecated variable or value",
         "It is still honoured. Where old and new are both set, which is a warning, the more restrictive or the new one wins.", "use the new name only"},
    Rule{"NCCL107", Info, "a variable that is defined and never read", "It has no effect.", "remove it"},
    Rule{"NCCL108", Error, "a name of the AWS plugin with its words swapped", "The plugin's variables begin with OFI_NCCL_: this one is read by nobody.", "rename it"},
    Rule{"NCCL109", Info, "a plugin's variable without that plugin", "Nobody reads it.", "remove it, or install the plugin"},
    Rule{"NCCL110", Info, "an old PyTorch name",
         "PyTorch 2.2 and later read TORCH_NCCL_ names first; where both are set and differ, which is a warning, the new one counts.", "use the TORCH_NCCL_ name"},
    Rule{"NCCL111", Info, "settings whose effect depends on the release, and the release is not known",
         "Whether they are read, and as what, cannot be decided.", "give a log with NCCL's banner, or nccl_version in the policy"},
    Rule{"NCCL112", Info, "an image's label in place of NCCL's version",
         "NCCL_VERSION and NV_LIBNCCL_* say what the image was built with; PyTorch brings a library of its own.",
         "take the version from NCCL's banner or ncclGetVersion()"},
};

}  // namespace

std::span<const diagnosis::Rule> name_rules() { return kRules; }

}  // namespace verl::nccl
