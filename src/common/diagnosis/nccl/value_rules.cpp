// The table of rules about values: what the text of a setting becomes when NCCL reads it.
#include <array>

#include "diagnosis/nccl/rule_tables.h"

namespace verl::nccl {
namespace {

using diagnosis::Rule;
using enum diagnosis::Severity;

constexpr std::array kRules{
    Rule{"NCCL001", Error, "an integer variable with text behind the number",
         "NCCL reads the number in front and leaves the rest: a list, a unit or a comment has no effect. Blanks alone are harmless and only told.",
         "write one plain integer"},
    Rule{"NCCL002", Error, "an integer variable whose text does not begin with a number",
         "NCCL reads 0, not the default: \"true\" switches a feature off.", "write a number, with no quotes inside the value"},
    Rule{"NCCL003", Warning, "an integer variable with a leading 0 or 0x",
         "NCCL takes a leading 0 for octal and 0x for hexadecimal.", "write the number in decimal"},
    Rule{"NCCL004", Error, "a size with a suffix such as K, M or G", "NCCL leaves the suffix and takes the number for bytes.",
         "write the full count of bytes"},
    Rule{"NCCL005", Error, "an integer beyond 64 bits", "NCCL uses the default and says so only at level INFO.", "write a number that fits"},
    Rule{"NCCL006", Error, "a blank, tab or carriage return in a list, level, word or path",
         "NCCL cuts nothing away: the entry never matches. In releases that trim, only the carriage return of a conf file is gone.",
         "remove the blanks; the file must have Unix line ends"},
    Rule{"NCCL007", Error, "quotes inside a value",
         "Configuration files, docker --env-file and Kubernetes keep quotes: they are part of the text and match nothing.", "remove the quotes"},
    Rule{"NCCL008", Error, "an empty text where empty is a value",
         "For these variables empty is not unset: it is looked up, hashed or parsed like any other text.",
         "remove the variable instead of setting it empty"},
    Rule{"NCCL009", Error, "\"^\" or \"=\" elsewhere than once in front of a list",
         "Both count once, in this order, for the whole list; elsewhere they are letters of a name that nothing has.",
         "write them once in front: ^=a,b"},
    Rule{"NCCL010", Error, "NCCL_IB_HCA excludes every device", "No RDMA device is left and NCCL falls back to sockets without a word.", "unset it"},
    Rule{"NCCL011", Warning, "a list entry that is the beginning of other names too",
         "Entries are beginnings of names unless \"=\" stands in front: mlx5_1 takes mlx5_10 as well, bond0 its VLANs.",
         "write the exact list, with \"=\" in front"},
    Rule{"NCCL012", Error, "a path level NCCL does not know", "The text is ignored without a word; levels are upper case.", "write a level of this release"},
    Rule{"NCCL013", Error, "a word NCCL does not know", "The text is ignored or replaced by the default.", "write one of the listed words"},
    Rule{"NCCL014", Error, "an algorithm, protocol or function that NCCL 2.24 or later does not know", "Initialisation fails with ncclInvalidUsage.",
         "write names of this release"},
    Rule{"NCCL015", Error, "an algorithm or protocol that NCCL before 2.24 does not know",
         "Unknown names are skipped; a list without one known name switches everything off. Lists per function are not understood either.",
         "write names of this release"},
    Rule{"NCCL016", Warning, "an unknown NCCL_DEBUG level or subsystem",
         "An unknown level means none. Up to 2.30.4 a list of unknown subsystems only silences even warnings; 2.30.7 leaves the whole list.",
         "write levels and subsystems of this release"},
    Rule{"NCCL017", Info, "a switch that acts on 1 only, with another value",
         "Any other number does nothing; what is no number does nothing either, whatever was meant.", "write 1, or unset it"},
    Rule{"NCCL018", Error, "NCCL_IB_ADDR_RANGE without a prefix length or of the other address family", "NCCL ignores it.",
         "write ADDRESS/BITS in the family of NCCL_IB_ADDR_FAMILY"},
    Rule{"NCCL019", Error, "a device with port 0 or a port that is no number", "No port has the number 0: the entry matches nothing.",
         "write the port as a number from 1, or leave it away"},
    Rule{"NCCL020", Warning, "more list entries than NCCL keeps", "Entries behind the limit are dropped without a word.", "shorten the list"},
    Rule{"NCCL021", Error, "a line of a conf file that NCCL reads otherwise than it looks",
         "There is no export, no comment behind a value, no trimming and no quoting; before 2.30 a carriage return stays in the value.",
         "write plain NAME=VALUE lines"},
    Rule{"NCCL022", Warning, "one name with two values",
         "The environment counts before files, the first line of a conf file before later ones; the other value has no effect.",
         "set it in one place"},
    Rule{"NCCL023", Error, "NCCL_CONF_FILE that is not read", "Releases before 2.23 do not know it, and a missing file is not reported.",
         "correct the path, or write /etc/nccl.conf"},
    Rule{"NCCL024", Warning, "NCCL_IB_TC that looks like a DSCP", "The traffic class is the DSCP times 4, plus 2 for ECN: packets go to another queue.",
         "multiply by 4 and add 2"},
    Rule{"NCCL025", Error, "NCCL_IB_PKEY that is a key, not a table index", "ibv_modify_qp fails with EINVAL.", "write the index in the port's P_Key table"},
    Rule{"NCCL026", Error, "an InfiniBand timeout or retry count out of range",
         "A timeout of 0 or above 31 waits for ever; the retry count has three bits.", "NCCL_IB_TIMEOUT 18 to 22, NCCL_IB_RETRY_CNT 7"},
    Rule{"NCCL027", Warning, "NCCL_NTHREADS that NCCL replaces", "It must be a multiple of 32 between 64 and 512; NCCL clamps or takes the most.", "unset it"},
    Rule{"NCCL028", Error, "impossible limits of channels", "NCCL uses one channel, ignores the limit, or forces both limits to be equal.", "unset them"},
    Rule{"NCCL029", Warning, "more socket threads than NCCL allows", "NCCL reduces them: 16 threads, and 64 sockets in all.", "reduce them"},
    Rule{"NCCL030", Error, "an address where a name of an interface or device belongs", "NCCL compares names: the address matches nothing.",
         "write the name of the interface that has the address"},
};

}  // namespace

std::span<const diagnosis::Rule> value_rules() { return kRules; }

}  // namespace verl::nccl
