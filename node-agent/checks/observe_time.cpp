#include <algorithm>

#include "node-agent/checks/observe.h"
#include "node-agent/checks/read.h"

namespace verl::agent {
namespace {

constexpr std::uint32_t kMostSources = 64;

Result<clock::Daemon> ask_daemon(const host::Host& host) {
  // The sequence number only pairs answers with questions on a socket that lives for one of them.
  std::uint32_t sequence = 1;
  const auto answer = host.ask_chronyd(chrony::tracking_request(sequence));
  if (!answer) return tl::unexpected(answer.error());
  auto tracking = chrony::parse_tracking(*answer, sequence);
  if (!tracking) return tl::unexpected(tracking.error());
  clock::Daemon daemon{.tracking = std::move(*tracking), .sources = {}};

  ++sequence;
  const auto count_answer = host.ask_chronyd(chrony::source_count_request(sequence));
  if (!count_answer) return tl::unexpected(count_answer.error());
  const auto count = chrony::parse_source_count(*count_answer, sequence);
  if (!count) return tl::unexpected(count.error());
  for (std::uint32_t index = 0; index < std::min(*count, kMostSources); ++index) {
    ++sequence;
    const auto source_answer = host.ask_chronyd(chrony::source_request(sequence, static_cast<std::int32_t>(index)));
    if (!source_answer) return tl::unexpected(source_answer.error());
    auto source = chrony::parse_source(*source_answer, sequence);
    if (!source) return tl::unexpected(source.error());
    daemon.sources.push_back(std::move(*source));
  }
  return daemon;
}

}  // namespace

TimeObservation observe_time(const host::Host& host) {
  TimeObservation out;
  auto daemon = ask_daemon(host);
  if (daemon) {
    out.daemon = std::move(*daemon);
  } else {
    out.daemon_absent = daemon.error().code == ErrorCode::NotFound;
    out.daemon = tl::unexpected(daemon.error().message);
  }
  const auto kernel = host.kernel_clock();
  if (kernel) {
    out.kernel = clock::Kernel{.state = kernel->state, .status = kernel->status, .max_error = kernel->max_error};
  } else {
    out.kernel = tl::unexpected(kernel.error().message);
  }
  out.now = host.now();
  return out;
}

}  // namespace verl::agent
