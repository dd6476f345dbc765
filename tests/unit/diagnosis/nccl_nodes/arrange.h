// Nodes for the tests of this folder, built piece by piece, and what a judgement said in short.
#pragma once

#include <string>
#include <vector>

#include "diagnosis/judge.h"

namespace verl::nccl {

// Sets a variable in the node's only environment, at a line of its own.
void set(diagnosis::NodeFacts& node, std::string name, std::string value);

// An environment is known, with nothing in it.
void nothing_set(diagnosis::NodeFacts& node);

fabric::Port& add_port(diagnosis::NodeFacts& node, std::string device, fabric::LinkLayer layer, std::string state = "ACTIVE", double rate = 400);
void add_interface(diagnosis::NodeFacts& node, std::string name, std::vector<std::string> addresses, bool running = true);

rdma::GidEntry gid(std::int32_t index, std::string_view text, std::string_view type);

// Link-local, then the address in both versions, as Linux fills it.
std::vector<rdma::GidEntry> gid_table(std::string_view mapped = "0a07:0105");

// "NCCL303 error" for each, in order.
std::vector<std::string> brief(const diagnosis::Findings& findings);
// Those of one id alone.
diagnosis::Findings of(const diagnosis::Findings& findings, std::string_view id);

}  // namespace verl::nccl
