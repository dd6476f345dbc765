// Rules about measurements.
#include "diagnosis/rule.h"

#include <array>

namespace verl::diagnosis {
namespace {

constexpr std::array kRules{
    Rule{.id = "benchmark-failed", .severity = Severity::Error, .title = "a benchmark that did not run or measured nothing",
         .why = "What it was to prove is not proven, and what stopped it will stop the job.",
         .remedy = "look at the line that failed, mend that, run the test again"},
    Rule{.id = "benchmark-loopback", .severity = Severity::Warning, .title = "both ends of a bandwidth test have the same address",
         .why = "The traffic turned around in the adapter, so the numbers say nothing about cables, switches or the other node.",
         .remedy = "run server and client on two nodes"},
    Rule{.id = "benchmark-single-host", .severity = Severity::Info, .title = "a collective benchmark with all ranks on one host",
         .why = "It measures NVLink or PCIe within the node and proves nothing about the network.",
         .remedy = "for a check of the network run it over two nodes or more"},
    Rule{.id = "benchmark-correctness", .severity = Severity::Error, .title = "a collective that gave wrong data",
         .why = "Training on this node would compute with wrong numbers.",
         .remedy = "take the node out; test its GPUs and links one by one"},
    Rule{.id = "benchmark-correctness-unknown", .severity = Severity::Info, .title = "a collective benchmark without validation",
         .why = "N/A in the column of wrong values is no zero: nothing says whether the data was right.",
         .remedy = "run it with -c 1"},
    Rule{.id = "benchmark-below-expectation", .severity = Severity::Error, .title = "a measurement worse than the policy expects for the same size, queue pairs and direction",
         .why = "The job will be as slow as its slowest link.",
         .remedy = "look at rate, active MTU and error counters of the ports, at PCIe width, and at who else uses the link"},
    Rule{.id = "benchmark-no-network-proof", .severity = Severity::Unknown, .title = "a measurement that never crossed the network stands against an expectation",
         .why = "A loopback or single-host number cannot show that the network is good enough.",
         .remedy = "measure between two nodes"},
    Rule{.id = "benchmark-not-comparable", .severity = Severity::Info, .title = "a measurement of another size, number of queue pairs or direction than the policy expects",
         .why = "Bandwidth depends on all three, so the two numbers say nothing about each other.",
         .remedy = "measure with the size, queue pairs and direction of the expectation"},
    Rule{.id = "benchmark-software-rdma", .severity = Severity::Warning, .title = "a benchmark on an emulated RDMA device",
         .why = "rxe and siw move data through the processor; their numbers say nothing about RDMA hardware and never satisfy a requirement for it.",
         .remedy = "name a hardware device with -d"},
};

}  // namespace

std::span<const Rule> benchmark_rules() { return kRules; }

}  // namespace verl::diagnosis
