// The table of NCCL401 to NCCL419: what nodes say against each other. The judgement is in fleet*.cpp.
#include <array>

#include "diagnosis/nccl/rule_tables.h"

namespace verl::nccl {
namespace {

using diagnosis::Rule;
using diagnosis::Severity;

constexpr std::array kRules{
    Rule{.id = "NCCL401", .severity = Severity::Error, .title = "a setting that must be equal differs between ranks of a communicator",
         .why = "Each rank decides by its own value: the job hangs, delivers wrong data or does not start.",
         .remedy = "set it in one place for all of them, or nowhere"},
    Rule{.id = "NCCL402", .severity = Severity::Error, .title = "a setting that must be equal is set on some nodes only",
         .why = "The others run with the default, which is another value: the job hangs, delivers wrong data or does not start.",
         .remedy = "set it in one place for all of them, or nowhere"},
    Rule{.id = "NCCL403", .severity = Severity::Warning, .title = "a setting that should be equal differs between nodes",
         .why = "It works, unevenly: the slowest node sets the pace. Information only for variables of which it is not known whether they must agree.",
         .remedy = "set it in one place for all of them"},
    Rule{.id = "NCCL404", .severity = Severity::Error, .title = "a setting that must be equal inside a node differs between its ranks",
         .why = "Both ends of a connection inside the node choose their transport by themselves.",
         .remedy = "give all ranks of a node the same environment"},
    Rule{.id = "NCCL405", .severity = Severity::Error, .title = "nodes have loaded different versions of NCCL",
         .why = "Since 2.23 NCCL refuses to start; before, ranks disagree about algorithms and messages without a word.",
         .remedy = "run one image on all nodes"},
    Rule{.id = "NCCL406", .severity = Severity::Error, .title = "NCCL_HOSTID is equal on two nodes or differs inside one",
         .why = "Ranks with equal ids try to reach each other over NVLink and shared memory, ranks with different ids never do.",
         .remedy = "unset NCCL_HOSTID"},
    Rule{.id = "NCCL407", .severity = Severity::Warning, .title = "pods of the job on one node have different hostnames",
         .why = "NCCL counts them as two nodes and sends between them over the network.",
         .remedy = "use one pod a node, or give the pods of a node the same NCCL_HOSTID"},
    Rule{.id = "NCCL408", .severity = Severity::Error, .title = "the same text leads to something that works on one node and not on another",
         .why = "Names of interfaces and devices are each node's own: equal text proves nothing.",
         .remedy = "set the variable for each node, or list the names of all nodes"},
    Rule{.id = "NCCL409", .severity = Severity::Error, .title = "the number of usable rails differs between nodes",
         .why = "Channels are laid for the node with the fewest, or fail to connect.",
         .remedy = "repair the node's ports or take it out of the job"},
    Rule{.id = "NCCL410", .severity = Severity::Error, .title = "a rail's rate or link layer differs between nodes",
         .why = "Every ring runs at the pace of its slowest link; InfiniBand and RoCE do not connect at all.",
         .remedy = "repair the link: cable, transceiver or switch port"},
    Rule{.id = "NCCL411", .severity = Severity::Error, .title = "a rail's active MTU differs between nodes",
         .why = "NCCL 2.20.3 to 2.29.7 does not reduce the receiver's path MTU to the smaller one: length or protection errors, or a hang. A warning with other releases.",
         .remedy = "give the interfaces of that rail the same MTU on all nodes and bounce the ports"},
    Rule{.id = "NCCL412", .severity = Severity::Error, .title = "nodes would send from GIDs of different family or RoCE version",
         .why = "Queue pairs between them cannot be set up.",
         .remedy = "give every node's rail an address of the same family, and leave the choice to NCCL or set NCCL_IB_ADDR_FAMILY and NCCL_IB_ADDR_RANGE"},
    Rule{.id = "NCCL413", .severity = Severity::Error, .title = "the P_Key behind the chosen index differs between nodes",
         .why = "Packets of another partition are dropped.", .remedy = "put the nodes into one partition, or set NCCL_IB_PKEY for each node"},
    Rule{.id = "NCCL414", .severity = Severity::Error, .title = "the bootstrap interfaces of nodes cannot reach each other",
         .why = "Addresses of different families, link-local ones or the same address on two nodes do not connect: NCCL retries and gives up.",
         .remedy = "set NCCL_SOCKET_IFNAME on each node to the interface that reaches the others"},
    Rule{.id = "NCCL415", .severity = Severity::Error, .title = "a plugin's file differs between nodes",
         .why = "Another plugin is another transport or another choice of algorithms.", .remedy = "run one image on all nodes"},
    Rule{.id = "NCCL416", .severity = Severity::Warning, .title = "configuration files of NCCL differ between nodes",
         .why = "The environment hides the difference today and may not tomorrow.", .remedy = "mount one ConfigMap as /etc/nccl.conf on all nodes"},
    Rule{.id = "NCCL417", .severity = Severity::Warning, .title = "the topology file differs between nodes of one instance type",
         .why = "NCCL builds different graphs of equal machines.", .remedy = "use the same file on all of them"},
    Rule{.id = "NCCL418", .severity = Severity::Warning, .title = "GPUs, NVLink or the driver branch differ between nodes",
         .why = "NCCL uses only what all of them have.", .remedy = "use a homogeneous pool of nodes"},
    Rule{.id = "NCCL419", .severity = Severity::Warning, .title = "the order of rails by PCI address differs between nodes",
         .why = "Rail i of one node then meets another rail of the next, and traffic crosses the rails.",
         .remedy = "name devices by their PCI place, or set NCCL_IB_HCA in the order of the rails"},
};

}  // namespace

std::span<const diagnosis::Rule> fleet_rules() { return kRules; }

}  // namespace verl::nccl
