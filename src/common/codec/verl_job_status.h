// For the .cpp files of codec only.
#pragma once

#include "api/verl_job.h"
#include "codec/reader.h"

namespace verl::codec {

void read(Element value, api::VerlJobStatus& out, const Place& at, Faults& faults);

}  // namespace verl::codec
