#include <array>

#include "diagnosis/rule.h"

namespace verl::diagnosis {
namespace {

constexpr std::array kRules{
    Rule{"clock-sync", Severity::Error, "the clock follows no time source",
         "It drifts by up to 8.6 s a day: certificates and tokens are refused, S3 and Kerberos deny requests, logs of several nodes cannot be put in order. Unknown: nothing given says whether it follows one.",
         "start chronyd with servers this node reaches (chronyc sources shows which answer; UDP port 123), then chronyc makestep"},
    Rule{"clock-starting", Severity::Error, "the time daemon has just started and has selected no source yet",
         "Until it selects one the clock is as wrong as it was.", "wait some minutes and take the output anew"},
    Rule{"clock-error", Severity::Error, "the clock is off, or may be off, by more than the policy's limit",
         "Error beyond clockFail, warning beyond clockWarn; judged on the daemon's own bound of the error where it gives one, else on the offset. Both limits are printed.",
         "use nearer time servers and let the daemon converge, or step the clock once while no job runs: chronyc makestep"},
    Rule{"clock-local-only", Severity::Warning, "the daemon follows only its own clock",
         "It calls itself synchronised and is tied to nothing: the clock drifts like one without a daemon.",
         "give the daemon a server: an outside one, or one server of the site that all nodes share"},
    Rule{"clock-local-reference", Severity::Warning, "the server that is followed runs on its own clock",
         "All its clients agree with each other and may be wrong against the world together. Allowed by the policy's allowLocalReference.",
         "give the site's server an outside source, or allow a local reference in the policy"},
    Rule{"clock-rtcsync", Severity::Info, "the kernel's flag says unsynchronised while the clock is disciplined",
         "chronyd without rtcsync never clears the flag; it proves nothing. Tools that look at the flag alone will complain.",
         "add rtcsync to chrony.conf if such tools are used"},
    Rule{"clock-untied", Severity::Error, "clocks of one job that nothing ties together",
         "Nodes that follow their own clocks, or different local servers, drift apart without limit; each looks fine by itself.",
         "let all nodes follow the same servers"},
    Rule{"clock-skew", Severity::Error, "the clocks of two nodes differ",
         "Information within the policy's clockWarn, warning beyond it, error beyond clockFail, by the difference of the offsets less their error bounds.",
         "let all nodes follow the same servers and wait until their daemons have converged"},
    Rule{"clock-two-daemons", Severity::Warning, "two daemons keep one clock", "They pull it to and fro.", "stop and disable all but one of them"},
    Rule{"clock-rtc-local", Severity::Warning, "the hardware clock keeps local time",
         "After a boot, or a change to or from summer time, the clock may be off by whole hours until the daemon has corrected it.", "timedatectl set-local-rtc 0"},
    Rule{"clock-leap-second", Severity::Warning, "a leap second is due today",
         "Nodes whose servers smear it and nodes whose servers step it differ by up to a second for hours.", "let all nodes follow the same servers"},
    Rule{"clock-falseticker", Severity::Warning, "a time source contradicts the others",
         "One bad server is outvoted; with two there is no majority and nothing is followed.", "remove the server, or add servers until the majority is clear"},
    Rule{"clock-stepped", Severity::Warning, "the clock jumped while the node ran",
         "Time stamps before and after do not compare; leases and tokens may have been taken for expired.", "find what set it: a resumed virtual machine, a second daemon, a server that was wrong"},
    Rule{"clock-kernel-disagrees", Severity::Warning, "the kernel calls the clock unsynchronised, the daemon calls it synchronised",
         "A daemon that keeps the clock also keeps the kernel's maximum error small; one of the two texts is old, or the daemon is not the one of this machine.",
         "take both outputs anew at the same time and on the host, not in a container"},
    Rule{"clock-ptp-system", Severity::Warning, "the network card's clock is kept by PTP, nothing shows what keeps the system clock",
         "ptp4l with hardware time stamps leaves the system clock alone.", "run phc2sys -s INTERFACE -w, or give chronyd the PHC as a reference clock; and give its output too"},
};

}  // namespace

std::span<const Rule> time_rules() { return kRules; }

}  // namespace verl::diagnosis
