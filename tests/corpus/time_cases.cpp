// Cases of the clock: chrony, ntpd, timedatectl, adjtimex and journals.
#include "tests/corpus/harness.h"

namespace {

using verl::corpus::Case;
using verl::diagnosis::Finding;
using verl::diagnosis::Policy;
using verl::diagnosis::Severity;
using Names = std::vector<std::string>;

verl::corpus::Given file(std::string name, std::string node = "") { return {.node = std::move(node), .file = "c-time/" + std::move(name), .format = ""}; }

bool boolean(const verl::corpus::Outcome& outcome, size_t document, std::string_view name) {
  const auto scalar = outcome.value(document, name);
  const bool* found = std::get_if<bool>(&scalar);
  EXPECT_NE(found, nullptr) << name;
  return found && *found;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

CORPUS(c01, {{"1768384921", "1768384777"}}) {
  const auto fine = c.diagnose({file("c01-adjtimex-unsync-but-fine.txt")});
  EXPECT_EQ(fine.documents[0].format, "adjtimex");
  EXPECT_EQ(fine.number(0, "status"), 64);
  EXPECT_TRUE(contains(fine.text(0, "status_flags"), "UNSYNC"));
  EXPECT_EQ(fine.number(0, "maxerror"), 2350);
  EXPECT_EQ(fine.unit(0, "maxerror"), "us");
  EXPECT_EQ(fine.number(0, "return"), 5);
  EXPECT_EQ(fine.at_least(Severity::Info), Names{"clock-rtcsync clock"});  // Ready, with the information
  EXPECT_EQ(fine.finding("clock-rtcsync").severity, Severity::Info);
  EXPECT_TRUE(contains(fine.finding("clock-rtcsync").message, "rtcsync is not set"));
  EXPECT_TRUE(contains(fine.finding("clock-rtcsync").message, "below 16 s"));
  EXPECT_EQ(fine.facts(0).clock.synchronised, true);

  const auto sync = c.diagnose({file("c01-adjtimex-sync.txt")});
  EXPECT_EQ(sync.number(0, "status"), 0);
  EXPECT_EQ(sync.number(0, "maxerror"), 2350);
  EXPECT_EQ(sync.at_least(Severity::Info), Names{});  // Ready

  const auto real = c.diagnose({file("c01-adjtimex-unsync-real.txt")});
  EXPECT_EQ(real.number(0, "status"), 64);
  EXPECT_EQ(real.number(0, "maxerror"), 16000000);
  EXPECT_EQ(real.at_least(Severity::Info), Names{"clock-sync clock"});  // NotReady
  EXPECT_EQ(real.finding("clock-sync").severity, Severity::Error);
  EXPECT_TRUE(contains(real.finding("clock-sync").message, "nothing disciplines the clock"));
}

CORPUS(c03, {{"ntp-a.example.net", "tick1.example.org"}, {"ntp-b.example.net", "tick2.example.org"}, {"C000020A", "C0000263"}, {"192.0.2.10", "192.0.2.99"}, {"C6336414", "C633644D"}, {"198.51.100.20", "198.51.100.77"}, {"trn-a", "gpu-x"}, {"trn-b", "gpu-y"}}) {
  const auto outcome = c.diagnose({file("c03-chronyc-a.txt", "trn-a"), file("c03-chronyc-b.txt", "trn-b")});
  EXPECT_EQ(outcome.documents[0].format, "chronyc-tracking");
  EXPECT_EQ(outcome.at_least(Severity::Warning), Names{});  // both Ready
  EXPECT_TRUE(contains(c.text("c-time/c03-chronyc-a.txt"), "fast of NTP time"));
  EXPECT_DOUBLE_EQ(outcome.number(0, "tracking.offset"), +0.000187340);  // "fast of NTP time": local clock ahead
  EXPECT_DOUBLE_EQ(outcome.number(1, "tracking.offset"), -0.000052118);  // "slow": behind
  EXPECT_EQ(outcome.unit(0, "tracking.offset"), "s");
  EXPECT_DOUBLE_EQ(outcome.facts(0).clock.offset_s.value(), 0.000187340);
  EXPECT_DOUBLE_EQ(outcome.facts(1).clock.offset_s.value(), -0.000052118);
  EXPECT_NEAR(outcome.facts(0).clock.error_bound_s.value(), 0.000187340 + 0.012480112 / 2 + 0.006113407, 1e-12);
  const Finding skew = outcome.finding("clock-skew");
  EXPECT_EQ(skew.severity, Severity::Info);
  EXPECT_EQ(skew.seen, "0.000239458 s");
  EXPECT_TRUE(contains(skew.message, "0.239458 ms"));  // 0.239 ms
  EXPECT_EQ(skew.nodes, (Names{c.as("trn-a"), c.as("trn-b")}));
  EXPECT_EQ(outcome.text(0, "tracking.reference_id"), c.as("C000020A"));
  EXPECT_EQ(outcome.text(0, "tracking.reference_address"), c.as("192.0.2.10"));
  EXPECT_EQ(outcome.facts(0).clock.reference, c.as("192.0.2.10"));
  EXPECT_EQ(outcome.text(1, "tracking.reference_id"), c.as("C6336414"));
  EXPECT_EQ(outcome.text(1, "tracking.reference_address"), c.as("198.51.100.20"));
  EXPECT_EQ(outcome.text(0, "tracking.reference_name"), c.as("ntp-a.example.net"));
}

CORPUS(c05, {{"time.site.example", "tick.rack.example"}, {"C6336407", "C6336409"}, {"198.51.100.7", "198.51.100.9"}, {"node-A", "host-1"}, {"node-B", "host-2"}, {"node-C", "host-3"}, {"node-D", "host-4"}}) {
  const auto alone = c.diagnose({file("c05-chronyc-a.txt", "node-A"), file("c05-timedatectl-a.txt", "node-A")});
  EXPECT_EQ(alone.at_least(Severity::Info), Names{"clock-local-only clock"});
  EXPECT_EQ(alone.finding("clock-local-only").severity, Severity::Warning);
  EXPECT_TRUE(contains(alone.finding("clock-local-only").message, "synchronised only to its local clock"));
  EXPECT_FALSE(boolean(alone, 1, "synchronised"));  // "System clock synchronized: no"
  EXPECT_EQ(alone.text(0, "tracking.reference_id"), "7F7F0101");
  EXPECT_EQ(alone.text(0, "tracking.reference_address"), "127.127.1.1");
  EXPECT_EQ(alone.text(0, "tracking.leap"), "Normal");

  const auto pair = c.diagnose({file("c05-chronyc-a.txt", "node-A"), file("c05-chronyc-b.txt", "node-B")});
  EXPECT_EQ(pair.text(1, "tracking.reference_id"), "7F7F0101");
  EXPECT_EQ(pair.number(0, "tracking.stratum"), 10);
  EXPECT_EQ(pair.number(1, "tracking.stratum"), 10);
  EXPECT_EQ(pair.at_least(Severity::Error), Names{"clock-untied clock"});  // NotReady as a pair
  EXPECT_TRUE(contains(pair.finding("clock-untied").message, "nothing ties the clocks together"));
  EXPECT_EQ(pair.finding("clock-untied").nodes, (Names{c.as("node-A"), c.as("node-B")}));

  Policy policy;
  policy.allow_local_reference = true;
  const auto site = c.diagnose({file("c05-chronyc-c.txt", "node-C"), file("c05-chronyc-d.txt", "node-D")}, policy);
  EXPECT_EQ(site.at_least(Severity::Warning), Names{});  // Ready when the policy allows it
  EXPECT_EQ(site.text(0, "tracking.reference_id"), c.as("C6336407"));
  EXPECT_EQ(site.facts(0).clock.reference, c.as("198.51.100.7"));
  EXPECT_EQ(site.facts(1).clock.reference, c.as("198.51.100.7"));
  EXPECT_EQ(site.number(0, "tracking.stratum"), 11);
  EXPECT_EQ(site.number(1, "tracking.stratum"), 11);
  EXPECT_DOUBLE_EQ(site.number(0, "tracking.offset"), -0.000031004);
  EXPECT_DOUBLE_EQ(site.number(1, "tracking.offset"), +0.000020441);
  EXPECT_EQ(site.finding("clock-skew").seen, "0.000051445 s");
  EXPECT_TRUE(contains(site.finding("clock-skew").message, "0.051445 ms"));

  const auto strict = c.diagnose({file("c05-chronyc-c.txt", "node-C"), file("c05-chronyc-d.txt", "node-D")});
  EXPECT_EQ(strict.findings("clock-local-reference").size(), 2u);
}

CORPUS(c07, {{"ntp-c.example.n", "tick.example.ne"}, {"203.0.113.123", "203.0.113.245"}}) {
  const auto outcome = c.diagnose({file("c07-ntpq-pps.txt")});
  EXPECT_EQ(outcome.documents[0].format, "ntpq");
  EXPECT_EQ(outcome.at_least(Severity::Info), Names{});  // Ready
  EXPECT_EQ(outcome.text(0, "system_peer"), "PPS(0)");
  EXPECT_EQ(outcome.facts(0).clock.reference, "PPS(0)");
  EXPECT_EQ(outcome.text(0, "peers[1].tally"), "o");
  EXPECT_DOUBLE_EQ(outcome.number(0, "peers[1].offset"), 0.274);
  EXPECT_EQ(outcome.unit(0, "peers[1].offset"), "ms");
  EXPECT_DOUBLE_EQ(outcome.number(0, "offset"), 0.000274);
  EXPECT_EQ(outcome.text(0, "peers[0].remote"), "SHM(1)");
  EXPECT_EQ(outcome.text(0, "peers[0].tally"), "*");
  EXPECT_DOUBLE_EQ(outcome.number(0, "peers[0].offset"), -212.58);  // never taken for the clock's
  EXPECT_DOUBLE_EQ(outcome.facts(0).clock.offset_s.value(), -0.000274);  // ntpd's sign is the server's, ours the clock's
  EXPECT_EQ(outcome.text(0, "peers[2].tally"), "+");
  EXPECT_EQ(outcome.text(0, "peers[2].remote"), c.as("ntp-c.example.n"));
  EXPECT_DOUBLE_EQ(outcome.number(0, "peers[2].offset"), -6.120);
  EXPECT_EQ(outcome.text(0, "peers[3].reach"), "0");
  EXPECT_EQ(outcome.text(0, "peers[4].reach"), "0");
}

CORPUS(c08, {{"198.51.100", "100.64.200"}, {"ntp11aa.example", "tick77.rack.exa"}, {"ntp7.example", "clk7.example"}}) {
  const auto far = c.diagnose({file("c08-ntpq-freebsd12.txt")});
  EXPECT_EQ(far.at_least(Severity::Info), (Names{"clock-error clock", "clock-sync clock"}));  // NotReady
  EXPECT_EQ(far.finding("clock-sync").severity, Severity::Error);
  EXPECT_TRUE(contains(far.finding("clock-sync").message, "no system peer"));
  EXPECT_DOUBLE_EQ(far.number(0, "offset"), 1589.483);
  EXPECT_EQ(far.unit(0, "offset"), "s");
  EXPECT_EQ(far.number(0, "peers[1].offset"), 1589483);
  EXPECT_EQ(far.unit(0, "peers[1].offset"), "ms");
  EXPECT_EQ(far.text(0, "peers[1].remote"), c.as("ntp7.example"));
  EXPECT_EQ(far.finding("clock-error").seen, "-1589.483000 s");  // the clock is behind

  const auto starting = c.diagnose({file("c08-ntpq-centos77-starting.txt")});
  EXPECT_EQ(starting.at_least(Severity::Info), Names{"clock-starting clock"});  // NotReady, no peer selected yet
  EXPECT_EQ(starting.finding("clock-starting").severity, Severity::Error);
  EXPECT_TRUE(contains(starting.finding("clock-starting").message, "ask again"));

  const auto paren = c.diagnose({file("c08-ntpq-ubuntu-paren.txt")});
  EXPECT_EQ(paren.at_least(Severity::Info), Names{});  // Ready
  EXPECT_EQ(paren.text(0, "system_peer"), c.as("ntp11aa.example"));
  EXPECT_DOUBLE_EQ(paren.number(0, "peers[7].offset"), 0.473);
  EXPECT_EQ(paren.text(0, "peers[5].remote"), c.as("198.51.100.6 (t"));
  EXPECT_EQ(paren.text(0, "peers[5].refid"), "100.100.100.102");
  EXPECT_EQ(paren.text(0, "peers[8].tally"), "#");
  EXPECT_TRUE(paren.documents[0].reading.unread.empty());

  const auto behind = c.diagnose({file("c08-ntpq-733ms.txt")});
  EXPECT_EQ(behind.at_least(Severity::Error), (Names{"clock-error clock", "clock-sync clock"}));  // NotReady, no peer
  EXPECT_NEAR(behind.number(0, "offset"), -0.73, 0.01);
}

CORPUS(c09, {{"192.0.2.100", "203.0.113.9"}, {"ntp1.example", "tick.example"}}) {
  const auto el7 = c.diagnose({file("c09-timedatectl-el7.txt")});
  EXPECT_EQ(el7.documents[0].format, "timedatectl");
  EXPECT_TRUE(contains(c.text("c-time/c09-timedatectl-el7.txt"), "NTP synchronized: yes"));
  EXPECT_TRUE(boolean(el7, 0, "synchronised"));
  EXPECT_TRUE(boolean(el7, 0, "service"));       // "NTP enabled: yes"
  EXPECT_EQ(el7.at_least(Severity::Info), Names{});
  EXPECT_TRUE(el7.documents[0].reading.unread.empty());  // the DST block

  const auto ubuntu = c.diagnose({file("c09-timedatectl-ubuntu18.txt")});
  EXPECT_TRUE(boolean(ubuntu, 0, "synchronised"));  // "System clock synchronized: yes"
  EXPECT_TRUE(boolean(ubuntu, 0, "service"));       // "systemd-timesyncd.service active: yes"
  EXPECT_EQ(ubuntu.at_least(Severity::Info), Names{});

  const auto rtc = c.diagnose({file("c09-timedatectl-rtc-local.txt")});
  EXPECT_TRUE(boolean(rtc, 0, "synchronised"));
  EXPECT_TRUE(boolean(rtc, 0, "service"));  // "NTP service: active"
  EXPECT_TRUE(contains(c.text("c-time/c09-timedatectl-rtc-local.txt"), "RTC in local TZ: yes"));
  EXPECT_TRUE(boolean(rtc, 0, "rtc_in_local_zone"));
  EXPECT_EQ(rtc.at_least(Severity::Info), Names{"clock-rtc-local clock"});
  EXPECT_EQ(rtc.finding("clock-rtc-local").severity, Severity::Warning);
  EXPECT_TRUE(rtc.documents[0].reading.unread.empty());  // the paragraph

  const auto status = c.diagnose({file("c09-timesync-status.txt")});
  EXPECT_EQ(status.documents[0].format, "timesync-status");
  EXPECT_EQ(status.at_least(Severity::Info), Names{});
  EXPECT_DOUBLE_EQ(status.number(0, "offset"), -0.005224);
  EXPECT_EQ(status.unit(0, "offset"), "s");
  EXPECT_DOUBLE_EQ(status.number(0, "root_distance"), 91e-6);  // 91 us
  EXPECT_EQ(status.number(0, "stratum"), 1);
  EXPECT_TRUE(contains(status.text(0, "server"), c.as("192.0.2.100")));
  EXPECT_TRUE(status.documents[0].reading.unread.empty());
}

CORPUS(c12, {{"trn-21", "gpu-77"}, {"trn-22", "gpu-78"}, {"192.0.2.10", "192.0.2.44"}}) {
  const auto outcome = c.diagnose({file("c12-chronyd-journal.txt")});
  EXPECT_EQ(outcome.documents[0].format, "chronyd-journal");
  Names errors;
  for (const Finding& one : outcome.diagnosis.findings) {
    EXPECT_EQ(one.nodes.size(), 1u);
    errors.push_back(one.id + " " + one.nodes.at(0) + " " + std::string(to_string(one.severity)));
  }
  // Nothing of "chronyd version" and "Selected source".
  EXPECT_EQ(errors, (Names{"clock-error " + c.as("trn-21") + " error", "clock-sync " + c.as("trn-22") + " error", "clock-error " + c.as("trn-22") + " warning"}));
  for (const Finding& one : outcome.findings("clock-error")) {
    const bool first = one.nodes.at(0) == c.as("trn-21");
    EXPECT_EQ(one.severity, first ? Severity::Error : Severity::Warning);
    EXPECT_EQ(one.seen, first ? "41.087733 s" : "306.412 ms");
    EXPECT_TRUE(contains(one.evidence.at(0).text, first ? "System clock wrong by 41.087733 seconds" : "System clock wrong by 0.306412 seconds"));
    EXPECT_EQ(one.wanted, "within 50.000 ms (not ready beyond 500.000 ms)");  // the limits stand with the verdict
  }
  EXPECT_TRUE(contains(outcome.finding("clock-sync").message, "Can't synchronise: no majority"));
  EXPECT_TRUE(contains(outcome.finding("clock-sync").message, "no source was selected since"));
  EXPECT_TRUE(outcome.documents[0].reading.unread.empty());
}
