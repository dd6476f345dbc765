// For the .cpp files of codec only.
#pragma once

#include "api/node_readiness.h"
#include "codec/writer.h"

namespace verl::codec {

Json to_json(const api::Expectations& expectations);

}  // namespace verl::codec
