// What time tools print, and who reads it.
#include "diagnosis/format.h"

#include <array>

#include "diagnosis/time/readers.h"

namespace verl::diagnosis {
namespace {

constexpr std::array kFormats{
    Format{"chronyc-tracking", "chronyc tracking", like_chronyc_tracking, read_chronyc, nullptr},
    Format{"chronyc-sources", "chronyc sources, with or without -v", like_chronyc_sources, read_chronyc, nullptr},
    Format{"chronyc-csv", "chronyc -c tracking and chronyc -c sources", like_chronyc_csv, read_chronyc_csv, nullptr},
    Format{"chronyd-journal", "journalctl -u chronyd (ntpd, systemd-timesyncd), of one host or several", like_time_journal, read_time_journal, nullptr},
    Format{"ntpq", "ntpq -p, -pn, -c peers, -c rv", like_ntpq, read_ntpq, nullptr},
    Format{"timedatectl", "timedatectl, timedatectl show", like_timedatectl, read_timedatectl, nullptr},
    Format{"timesync-status", "timedatectl timesync-status", like_timesync_status, read_timesync_status, nullptr},
    Format{"adjtimex", "adjtimex --print, ntptime", like_adjtimex, read_adjtimex, nullptr},
    Format{"ptp-log", "log lines of ptp4l and phc2sys", like_ptp_log, read_ptp_log, nullptr},
    Format{"pmc", "pmc 'GET TIME_STATUS_NP' and its like", like_pmc, read_pmc, nullptr},
    Format{"ntp-query", "ntpdate -q, sntp", like_ntp_query, read_ntp_query, nullptr},
};

}  // namespace

std::span<const Format> time_formats() { return kFormats; }

}  // namespace verl::diagnosis
