// The tables of NCCL's rules by group; nccl_rules() joins them in the order of their numbers.
#pragma once

#include <span>

#include "diagnosis/rule.h"

namespace verl::nccl {

std::span<const diagnosis::Rule> value_rules();      // NCCL001 to NCCL030
std::span<const diagnosis::Rule> name_rules();       // NCCL101 to NCCL112
std::span<const diagnosis::Rule> hygiene_rules();    // NCCL201 to NCCL222
std::span<const diagnosis::Rule> hardware_rules();   // NCCL301 to NCCL338
std::span<const diagnosis::Rule> fleet_rules();      // NCCL401 to NCCL419
std::span<const diagnosis::Rule> framework_rules();  // NCCL501 to NCCL525

}  // namespace verl::nccl
