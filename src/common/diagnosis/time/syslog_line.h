// One line of journald, syslog or a daemon's own standard output: who wrote it, where and what.
#pragma once

#include <string_view>

namespace verl::diagnosis::time_text {

struct SyslogLine {
  std::string_view when{};
  std::string_view host{};     // empty: not said
  std::string_view program{};  // "chronyd"; empty: the line has no such prefix
  std::string_view message{};
};

// "Jan 12 04:10:31 trn-21 chronyd[2211]: text", "2026-01-12T04:10:31.123+00:00 trn-21 chronyd[2211]: text",
// "2026-01-12T04:10:31Z text" (chronyd -d), "ptp4l[352.361]: text", "<30>Jan 12 ...". A program is a name of `programs`.
SyslogLine syslog_line(std::string_view line);

}  // namespace verl::diagnosis::time_text
