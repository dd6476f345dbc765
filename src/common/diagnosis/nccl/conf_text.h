// A configuration file of NCCL as a document: /etc/nccl.conf, .nccl.conf, or what NCCL_CONF_FILE names.
#pragma once

#include <string_view>

#include "diagnosis/format.h"

namespace verl::nccl {

int conf_likeness(std::string_view head);
Result<diagnosis::Reading> read_conf(std::string_view text, const diagnosis::ReadOptions& options);

}  // namespace verl::nccl
