// The reader of format "log": lines of NCCL, PyTorch, Gloo, Ray, verl, kubelet and the kernel in one text, in pieces of any size.
#pragma once

#include <memory>

#include "diagnosis/format.h"

namespace verl::log {

std::unique_ptr<diagnosis::StreamReader> make_reader(const diagnosis::ReadOptions& options);

// Is the text a log of that kind? See Format::likeness.
int likeness(std::string_view head);

}  // namespace verl::log
