// One reader for each tool that speaks of time: its likeness and its reading. All give statements (facts.h); judge.cpp judges.
#pragma once

#include "diagnosis/format.h"

namespace verl::diagnosis {

int like_chronyc_tracking(std::string_view head);
int like_chronyc_sources(std::string_view head);
Result<Reading> read_chronyc(std::string_view text, const ReadOptions& options);  // tracking, sources, sourcestats, in any order

int like_chronyc_csv(std::string_view head);
Result<Reading> read_chronyc_csv(std::string_view text, const ReadOptions& options);

int like_ntpq(std::string_view head);
Result<Reading> read_ntpq(std::string_view text, const ReadOptions& options);

int like_timedatectl(std::string_view head);
Result<Reading> read_timedatectl(std::string_view text, const ReadOptions& options);

int like_timesync_status(std::string_view head);
Result<Reading> read_timesync_status(std::string_view text, const ReadOptions& options);

int like_adjtimex(std::string_view head);
Result<Reading> read_adjtimex(std::string_view text, const ReadOptions& options);  // adjtimex --print and ntptime

int like_ntp_query(std::string_view head);
Result<Reading> read_ntp_query(std::string_view text, const ReadOptions& options);  // ntpdate -q, sntp, chronyd -Q

int like_time_journal(std::string_view head);
Result<Reading> read_time_journal(std::string_view text, const ReadOptions& options);  // chronyd, ntpd, systemd-timesyncd

int like_ptp_log(std::string_view head);
Result<Reading> read_ptp_log(std::string_view text, const ReadOptions& options);  // ptp4l and phc2sys

int like_pmc(std::string_view head);
Result<Reading> read_pmc(std::string_view text, const ReadOptions& options);

}  // namespace verl::diagnosis
