// What stands before a message without belonging to it: tags of launchers, Ray, container runtimes and journald, times.
#pragma once

#include <string_view>

#include "diagnosis/log/line.h"

namespace verl::log {

// Takes one known prefix from the front of the text and writes what it says into the line; false when there is none.
bool take_prefix(std::string_view& text, Line& line);

// "… [repeated 7x across cluster] (Ray deduplicates logs by default…)" at the end of the text.
void take_repetition(std::string_view& text, Line& line);

}  // namespace verl::log
