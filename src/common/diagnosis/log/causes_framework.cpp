// What PyTorch and Gloo say. torch/csrc/distributed/c10d (2.0 to 2.11), third_party/gloo/gloo/transport/tcp.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "diagnosis/log/cause.h"
#include "diagnosis/log/scan.h"

namespace verl::log {
namespace {

using diagnosis::Severity;
using namespace std::string_view_literals;

// "Unable to find address for: ^lo": Gloo knows exact names of interfaces.
bool gloo_address(const Line& line, Sighting& out) {
  std::string_view name;
  for (const std::string_view phrase : {"Unable to find address for: "sv, "Unable to find interface for: "sv, "Unable to find interface "sv}) {
    if (const auto rest = after(line.message, phrase)) name = trim(*rest);
  }
  name = name.substr(0, name.find_first_of(" \"'"));
  out.subject = std::string(name);
  add_value(out, "interface", out.subject);
  out.seen = out.subject;
  const bool syntax = name.starts_with('^') || name.starts_with('=');
  out.message = fmt::format("Gloo found no interface \"{}\"{}: {}", name, on_host(line),
                            syntax ? "GLOO_SOCKET_IFNAME takes exact names only, no \"^\" and no \"=\"" : "this node has none of that name with an address");
  return true;
}

bool gloo_connect(const Line& line, Sighting& out) {
  std::string_view peer = between(line.message, "remote=[", "]");
  if (peer.empty()) peer = between(line.message, "connect [", "]");
  if (peer.empty()) peer = between(line.message, "[", "]:");
  if (!peer.empty() && peer.find(' ') == std::string_view::npos) {
    out.subject = std::string(peer);
    add_value(out, "peer", out.subject);
  }
  if (!out.subject.empty() && (is_loopback(peer) || is_link_local(peer))) {
    out.blame = Blame::Setting;
    out.message = fmt::format("Gloo could not join all ranks{}: a peer gave the address {}, which other nodes cannot reach", on_host(line), peer);
    return true;
  }
  out.message = fmt::format("Gloo could not join all ranks{}{}", on_host(line), peer.empty() ? "" : fmt::format(": no connection to {}", peer));
  return true;
}

// "[Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7, OpType=ALLREDUCE, …, Timeout(ms)=600000) ran for 600028 milliseconds"
bool watchdog(const Line& line, Sighting& out) {
  const std::string_view message = line.message;
  auto rank = number_after(message, "[Rank ");
  if (!rank) rank = number_after(line.text, "[rank");
  const auto sequence = number_after(message, "SeqNum=");
  const auto timeout = number_after(message, "Timeout(ms)=");
  const auto ran = number_after(message, "ran for ");
  const std::string_view operation = between(message, "OpType=", ",");
  if (rank) add_value(out, "rank", *rank);
  if (sequence) add_value(out, "sequence", *sequence);
  if (!operation.empty()) add_value(out, "operation", std::string(operation));
  if (timeout) add_value(out, "timeout", *timeout, "ms");
  if (ran) add_value(out, "ran", *ran, "ms");
  out.subject = std::string(operation);
  out.message = fmt::format("PyTorch's watchdog ended a collective{}{}{}: some rank did not come to it, or the network stopped", operation.empty() ? "" : fmt::format(" ({})", operation),
                            ran ? fmt::format(" after {} ms", *ran) : "", rank ? fmt::format(", first on rank {}", *rank) : "");
  return true;
}

// "The client socket has timed out after 600s while trying to connect to (node-0, 29500)."
bool store(const Line& line, Sighting& out) {
  std::string_view where = between(line.message, "connect to (", ")");
  if (where.empty()) where = between(line.message, "connect to [", "]");
  const std::size_t comma = where.find(',');
  if (comma != std::string_view::npos) {
    add_value(out, "server", std::string(where.substr(0, comma)));
    if (const auto port = number_at(where.substr(comma + 1))) add_value(out, "server_port", *port);
    out.subject = std::string(where.substr(0, comma));
  }
  out.message = fmt::format("PyTorch's store could not be reached{}{}", where.empty() ? "" : fmt::format(" at {}", where), on_host(line));
  return true;
}

bool clients(const Line& line, Sighting& out) {
  const std::string_view counts = trim(between(line.message, "clients. ", " clients joined"));
  out.message = fmt::format("PyTorch's store waited in vain for ranks{}{}", counts.empty() ? "" : fmt::format(": {} joined", counts), on_host(line));
  if (!counts.empty()) add_value(out, "joined", std::string(counts));
  return true;
}

bool nccl_error(const Line& line, Sighting& out) {
  for (const std::string_view kind : {"unhandled system error"sv, "unhandled cuda error"sv, "internal error"sv, "invalid usage"sv, "invalid argument"sv, "remote process exited or there was a network error"sv,
                                      "ncclSystemError"sv, "ncclUnhandledCudaError"sv, "ncclInternalError"sv, "ncclInvalidUsage"sv, "ncclRemoteError"sv}) {
    if (line.message.find(kind) != std::string_view::npos && out.subject.empty()) out.subject = std::string(kind);
  }
  if (!out.subject.empty()) add_value(out, "kind", out.subject);
  if (const auto version = after(line.message, "NCCL version ")) add_value(out, "nccl", std::string(word_at(*version)));
  out.message = fmt::format("PyTorch says that NCCL failed{}{}: the first NCCL WARN line names the cause", out.subject.empty() ? "" : " (" + out.subject + ")", on_host(line));
  return true;
}

bool address_in_use(const Line& line, Sighting& out) {
  auto port = number_after(line.message, "port: ");
  if (!port) port = number_after(line.message, "port ");
  if (!port) port = number_after(line.message, "[::]:");
  if (!port) port = number_after(line.message, "0.0.0.0:");
  if (port && *port > 0 && *port < 65536) {
    add_value(out, "port", *port);
    out.subject = std::to_string(*port);
  }
  out.message = fmt::format("a port{} is already in use{}", out.subject.empty() ? "" : " (" + out.subject + ")", on_host(line));
  return true;
}

bool unresolved(const Line& line, Sighting& out) {
  const std::string_view name = between(line.message, "addresses of (", ",");
  out.subject = std::string(name);
  if (!name.empty()) add_value(out, "name", out.subject);
  out.message = fmt::format("a host name{} could not be resolved{}", name.empty() ? "" : fmt::format(" \"{}\"", name), on_host(line));
  return true;
}

constexpr std::array kCauses{
    Cause{"gloo-address", Blame::Setting, "Unable to find address for: ", {}, gloo_address},
    Cause{"gloo-address", Blame::Setting, "Unable to find interface for: ", {}, gloo_address},
    Cause{"gloo-address", Blame::Setting, "Unable to find interface ", {}, gloo_address},
    Cause{"gloo-hostname", Blame::Setting, "unsupported gloo device", {}, nullptr},
    Cause{"gloo-hostname", Blame::Setting, "Unable to resolve hostname to a (local) address", {}, nullptr},
    Cause{"gloo-connect", Blame::Connection, "Gloo connectFullMesh failed", {}, gloo_connect},
    Cause{"gloo-connect", Blame::Connection, "gloo/transport/tcp", "timed out", gloo_connect},
    Cause{"gloo-connect", Blame::Connection, "gloo/transport/tcp", "onnect timeout", gloo_connect},
    Cause{"gloo-connect", Blame::Connection, "gloo/transport/tcp", "SO_ERROR", gloo_connect},
    Cause{"torch-watchdog", Blame::Follows, "Watchdog caught collective operation timeout", {}, watchdog},
    Cause{"torch-watchdog", Blame::Follows, "Received a dump signal due to a collective timeout", {}, watchdog},
    Cause{"torch-watchdog", Blame::Follows, "NCCL watchdog thread terminated with exception", {}, watchdog},
    Cause{"torch-watchdog", Blame::Follows, "heartbeat monitor thread detects", {}, watchdog},
    Cause{"torch-watchdog", Blame::Follows, "Heartbeat monitor timed out", {}, watchdog},
    Cause{"torch-watchdog", Blame::Follows, "we are taking the entire process down", {}, watchdog},
    Cause{"torch-collective-mismatch", Blame::Mismatch, "Detected mismatch between collectives on ranks", {}, nullptr},
    Cause{"torch-store", Blame::Connection, "The client socket has timed out", {}, store},
    Cause{"torch-store", Blame::Connection, "The client socket has failed to connect to", {}, store},
    Cause{"torch-store", Blame::Connection, "DistStoreError", "Timed out after", clients},
    Cause{"torch-store", Blame::Connection, "seconds waiting for clients", {}, clients},
    Cause{"torch-name", Blame::Setting, "cannot be retrieved (gai error", {}, unresolved},
    Cause{"torch-name", Blame::Setting, "Temporary failure in name resolution", {}, unresolved},
    Cause{"torch-name", Blame::Setting, "Name or service not known", {}, unresolved},
    Cause{"log-port-in-use", Blame::Setting, "EADDRINUSE", {}, address_in_use},
    Cause{"log-port-in-use", Blame::Setting, "ddress already in use", {}, address_in_use},
    Cause{"torch-nccl-error", Blame::Follows, "NCCL error in: ", {}, nccl_error},
    Cause{"torch-nccl-error", Blame::Follows, "NCCL Error 1: ", {}, nccl_error},
    Cause{"torch-nccl-error", Blame::Follows, "NCCL error: ", {}, nccl_error},
    Cause{"torch-nccl-error", Blame::Follows, "NCCL communicator was aborted", {}, nccl_error},
    Cause{"torch-nccl-error", Blame::Follows, "ncclSystemError: ", {}, nccl_error},
    Cause{"torch-nccl-error", Blame::Follows, "ncclUnhandledCudaError: ", {}, nccl_error},
    Cause{"torch-nccl-error", Blame::Follows, "ncclInternalError: ", {}, nccl_error},
    Cause{"torch-nccl-error", Blame::Follows, "ncclInvalidUsage: ", {}, nccl_error},
    Cause{"torch-nccl-error", Blame::Follows, "ncclRemoteError: ", {}, nccl_error},
};

}  // namespace

std::span<const Cause> framework_causes() { return kCauses; }

}  // namespace verl::log
