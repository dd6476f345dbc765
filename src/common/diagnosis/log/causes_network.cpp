// NCCL's network: completion errors, QP transitions, connections, ports. Formats by version: NCCL src/transport/net_ib*, net_socket.cc,
// src/misc/{ibvwrap,socket}.cc, 2.4 to 2.30.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "diagnosis/log/cause.h"
#include "diagnosis/log/interfaces.h"
#include "diagnosis/log/scan.h"

namespace verl::log {
namespace {

using diagnosis::Severity;
using namespace std::string_view_literals;

struct Status {
  std::string_view name{};
  std::string_view meaning{};
  std::string_view remedy{};
};

// ibv_wc_status of libibverbs, in its order; what each points to under NCCL.
constexpr std::array kStatus{
    Status{"success", "no error", ""},
    Status{"local length", "the message did not fit the receive buffer: MTU or size differ between the peers", "compare active_mtu and the NCCL settings of both ends"},
    Status{"local QP operation", "the queue pair refused the request", "compare driver and firmware of both ends"},
    Status{"local EE context operation", "the context refused the request", "compare driver and firmware of both ends"},
    Status{"local protection", "the HCA may not use that memory: GPUDirect through an IOMMU or with PCIe ACS redirect", "turn ACS redirect and IOMMU translation off, or try NCCL_NET_GDR_LEVEL=LOC to prove it"},
    Status{"work request flushed", "the queue pair had failed before: an earlier error is the cause", "look at the first error of this host and of its peer"},
    Status{"memory window bind", "a memory window could not be bound", "compare driver and firmware of both ends"},
    Status{"bad response", "the peer answered something else", "compare driver and firmware of both ends"},
    Status{"local access", "the HCA may not write to the receive buffer", "turn ACS redirect and IOMMU translation off"},
    Status{"remote invalid request", "the peer refused the request: sizes or settings differ", "compare the NCCL settings and versions of both ends"},
    Status{"remote access", "the peer may not touch that memory: its registration is gone or differs", "look for an earlier error on the peer, compare settings and versions"},
    Status{"remote operation", "the peer could not carry the request out", "look at the peer's log and HCA"},
    Status{"retry exceeded", "the peer did not acknowledge: wrong GID index, cable or port down, lost packets (flow control, MTU), or the peer is gone",
           "check the port and cable at both ends, the GID index, PFC/ECN and MTU on the path, and whether the peer died first"},
    Status{"receiver-not-ready retry exceeded", "the peer posted no receive buffer in time: it hangs or is overloaded", "look at what the peer does"},
    Status{"local RDD violation", "RDD violation", "compare driver and firmware of both ends"},
    Status{"remote invalid RD request", "the peer refused an RD request", "compare driver and firmware of both ends"},
    Status{"remote aborted", "the peer aborted the operation", "look at the peer's log"},
    Status{"invalid EE context number", "invalid context", "compare driver and firmware of both ends"},
    Status{"invalid EE context state", "invalid context", "compare driver and firmware of both ends"},
    Status{"fatal", "the HCA failed", "look at the kernel log of this host, reset or replace the HCA"},
    Status{"response timeout", "the peer did not answer", "check the port and cable at both ends"},
    Status{"general", "the HCA reported an error without a name", "look at the kernel log of this host"},
};

std::optional<std::int64_t> number_or_parenthesised(std::string_view message, std::string_view phrase) {
  const auto rest = after(message, phrase);
  if (!rest) return std::nullopt;
  if (const auto plain = number_at(*rest)) return plain;
  return number_at(between(word_at(*rest), "(", ")"));
}

void add_peer(const Line& line, std::string_view phrase, Sighting& out) {
  const auto rest = after(line.message, phrase);
  const auto peer = rest ? address_at(*rest) : std::nullopt;
  if (!peer) return;
  add_value(out, "peer", peer->host);
  if (peer->port) add_value(out, "peer_port", *peer->port);
  out.subject = peer->host;
}

bool completion(const Line& line, Sighting& out) {
  const std::string_view message = line.message;
  auto status = number_or_parenthesised(message, "with error ");
  if (!status) status = number_or_parenthesised(message, "status=");
  if (!status) return false;
  add_peer(line, "from peer ", out);
  add_value(out, "status", *status);
  const auto vendor = message.find("vendor err ") != std::string_view::npos ? number_after(message, "vendor err ") : number_after(message, "vendor_err=");
  for (const std::string_view name : {"opcode"sv, "len"sv}) {
    auto value = number_or_parenthesised(message, std::string(name) + " ");
    if (!value) value = number_or_parenthesised(message, std::string(name) + "=");
    if (value) add_value(out, name, *value);
  }
  if (vendor) add_value(out, "vendor_error", *vendor);
  std::string side;
  for (const std::string_view one : {"(Send)"sv, "(Recv)"sv, "(Write)"sv, "(Read)"sv, "(Flush)"sv}) {
    if (message.find(one) != std::string_view::npos) side = std::string(one.substr(1, one.size() - 2));
  }
  if (!side.empty()) add_value(out, "side", side == "Recv" ? "receive" : side == "Send" ? "send" : side);
  for (const auto& [name, phrase] : {std::pair{"local_gid"sv, "localGid "sv}, std::pair{"remote_gid"sv, "remoteGids"sv}, std::pair{"hca"sv, "hca "sv}}) {
    if (const auto rest = after(message, phrase)) {
      const std::string_view word = word_at(*rest);
      if (!word.empty()) add_value(out, name, std::string(word));
    }
  }
  const bool known = *status >= 0 && static_cast<std::size_t>(*status) < kStatus.size();
  const Status entry = known ? kStatus[static_cast<std::size_t>(*status)] : Status{"unknown", "not a status of libibverbs", "look at the kernel log of this host"};
  add_value(out, "status_name", std::string(entry.name));
  out.seen = fmt::format("status {}", *status);
  out.message = fmt::format("RDMA completion error {} ({}){}{}{}: {}", *status, entry.name, out.subject.empty() ? "" : " with peer " + out.subject, on_host(line),
                            vendor ? fmt::format(", vendor error {}", *vendor) : "", entry.meaning);
  out.remedy = std::string(entry.remedy);
  if (*status == 5) out.blame = Blame::Follows;
  if (*status == 1 || *status == 9) out.blame = Blame::First;
  return *status != 0;
}

bool async_event(const Line& line, Sighting& out) {
  const std::string_view message = line.message;
  std::string_view event;
  for (const std::string_view phrase : {"async event : "sv, "async error event: "sv, "async fatal event: "sv, "async event: "sv}) {
    if (const auto rest = after(message, phrase)) event = trim(*rest);
  }
  if (event.empty()) return false;
  // "mlx5_7:1 Got …" or "mlx5_7:1 async fatal event": older versions name no device, and none is made up.
  std::string device;
  const std::string_view before = trim(message.substr(0, message.find("async")));
  for (const std::string_view word : split_whitespace(before)) {
    const std::size_t colon = word.find(':');
    const auto port = colon == std::string_view::npos || colon == 0 ? std::nullopt : parse_int(word.substr(colon + 1));
    if (!port) continue;
    device = std::string(word.substr(0, colon));
    add_value(out, "hca", device);
    add_value(out, "port", *port);
    out.subject = device + "/" + std::to_string(*port);
  }
  const bool fatal = message.find("non-fatal") == std::string_view::npos;
  const bool port_error = event.find("port error") != std::string_view::npos || event.find("PORT_ERR") != std::string_view::npos;
  add_value(out, "event", std::string(event));
  const std::string where = out.subject.empty() ? "" : " of " + out.subject;
  out.seen = std::string(event);
  if (port_error) {
    out.message = fmt::format("port error{}{}: the link went down while the job ran (link flap)", where, on_host(line));
    return true;
  }
  constexpr std::array kGrave{"fatal"sv, "catastrophic"sv, "CQ error"sv, "QP"sv, "SRQ"sv};
  const bool grave = fatal && std::any_of(kGrave.begin(), kGrave.end(), [&](std::string_view word) { return event.find(word) != std::string_view::npos; });
  out.message = fmt::format("the HCA reported \"{}\"{}{}", event, where, on_host(line));
  if (grave || message.find("async fatal") != std::string_view::npos) return true;
  out.rule = "log-async-event";
  out.blame = Blame::Transport;
  return true;
}

bool modify_qp(const Line& line, Sighting& out) {
  const std::string_view message = line.message;
  auto number = number_after(message, "failed with ");
  if (!number) number = number_after(message, "errno ");
  constexpr std::array kErrors{std::pair{"Invalid argument"sv, 22}, std::pair{"No data available"sv, 61}, std::pair{"Connection timed out"sv, 110},
                               std::pair{"No route to host"sv, 113}, std::pair{"Network is unreachable"sv, 101}, std::pair{"Cannot allocate memory"sv, 12}};
  std::string text;
  for (const auto& [name, value] : kErrors) {
    if (message.find(name) == std::string_view::npos && number != value) continue;
    text = std::string(name);
    number = value;
  }
  if (number) add_value(out, "errno", *number);
  if (!text.empty()) add_value(out, "error", text);
  std::string device(word_at(after(message, "on dev ").value_or("")));
  if (!device.empty()) {
    add_value(out, "hca", device.substr(0, device.find(':')));
    if (const auto port = number_after(device, ":")) add_value(out, "port", *port);
    std::replace(device.begin(), device.end(), ':', '/');
    out.subject = device;
  }
  for (const auto& [name, phrase] : {std::pair{"state"sv, "curr state "sv}, std::pair{"next_state"sv, "next state "sv}, std::pair{"local_gid"sv, "local GID "sv}, std::pair{"remote_gid"sv, "remote GID "sv}}) {
    std::string_view from = message;
    if (name == "local_gid") from = after(message, "local GID index ").value_or(message);
    if (const auto rest = after(from, phrase)) add_value(out, name, std::string(word_at(*rest)));
  }
  const auto index = number_after(message, "local GID index ");
  if (index) add_value(out, "gid_index", *index);
  std::string meaning = "the queue pair could not be connected";
  if (number == 22) {
    meaning = "most likely InfiniBand and RoCE ports are mixed between the peers, or the GID or P_Key index is wrong";
    out.remedy = "choose HCAs of one link layer on all nodes (NCCL_IB_HCA), leave NCCL_IB_GID_INDEX unset";
  } else if (number == 61) {
    const bool remote = message.find("remote GID ::,") != std::string_view::npos || trim(message).ends_with("remote GID ::");
    meaning = remote ? "the peer's GID entry is empty" : "this node's GID entry is empty";
    out.remedy = "leave NCCL_IB_GID_INDEX unset (2.21 and later choose it), or set an index that exists";
  } else if (number == 110) {
    meaning = "the path to the peer could not be resolved between this pair of ports";
    out.remedy = "check that all rails reach each other, or set NCCL_CROSS_NIC=0 where they are isolated";
  } else if (number == 113 || number == 101) {
    meaning = "there is no route to the peer's address on that port";
    out.remedy = "check routes and ARP of the fabric interfaces";
  }
  out.seen = text.empty() ? std::string(number ? std::to_string(*number) : "") : text;
  out.message = fmt::format("connection set-up failed{}: ibv_modify_qp said {}{}: {}", on_host(line), text.empty() ? quoted(message) : "\"" + text + "\"",
                            out.subject.empty() ? "" : " for " + out.subject, meaning);
  return true;
}

bool size_mismatch(const Line& line, Sighting& out) {
  const std::string_view message = line.message;
  auto local = number_after(message, "local size ");
  auto remote = number_after(message, "remote size ");
  if (!local) {
    local = number_after(message, "instead of ");
    remote = number_after(message, "receiving ");
    if (!remote) remote = number_after(message, "received ");
  }
  if (!local || !remote) return false;
  add_peer(line, "peer ", out);
  add_value(out, "local_size", *local, "B");
  add_value(out, "remote_size", *remote, "B");
  out.seen = std::to_string(*remote);
  out.wanted = std::to_string(*local);
  out.message = fmt::format("configuration differs between ranks (environment or NCCL version){}: {} bytes here against {} bytes{}", on_host(line), *local, *remote,
                            out.subject.empty() ? " at the peer" : " at peer " + out.subject);
  return true;
}

// All that say why a socket did not connect; INFO lines that try again are no fault while the run went on.
bool connect(const Line& line, Sighting& out) {
  const std::string_view message = line.message;
  std::optional<Address> peer;
  for (const std::string_view phrase : {"onnect to "sv, "connection to "sv}) {
    const auto rest = after(message, phrase);
    if (!rest) continue;
    if (word_at(*rest) == "returned") continue;
    peer = address_at(*rest);
    break;
  }
  std::string reason;
  constexpr std::array kReasons{"Connection refused"sv, "Connection timed out"sv, "No route to host"sv, "Network is unreachable"sv, "Cannot assign requested address"sv,
                                "Invalid argument"sv, "Connection reset by peer"sv, "Operation now in progress"sv, "Software caused connection abort"sv};
  for (const std::string_view one : kReasons) {
    if (message.find(one) != std::string_view::npos) reason = std::string(one);
  }
  if (reason.empty() && message.find("returned") == std::string_view::npos && message.find("failed") == std::string_view::npos && message.find("retry count") == std::string_view::npos) return false;
  if (peer) {
    out.subject = peer->host;
    add_value(out, "peer", peer->host);
    if (peer->port) add_value(out, "peer_port", *peer->port);
    if (!peer->scope.empty()) add_value(out, "interface", peer->scope);
  }
  if (!reason.empty()) add_value(out, "reason", reason);
  const bool again = line.level == "INFO" && message.find("exceeded") == std::string_view::npos;
  if (again) out.rule = "log-connect-retry";
  std::string meaning = "the interface, the subnet or a firewall is in the way";
  if (reason == "Connection refused") meaning = "the peer was not listening: it is not up, died, or another interface answered";
  out.seen = reason;
  std::string to = peer ? peer->host : "a peer";
  if (peer && (is_link_local(peer->host) || is_loopback(peer->host))) {
    meaning = "that is an address which reaches no other node, so the peer took the wrong interface";
    out.remedy = "set NCCL_SOCKET_IFNAME to the interface that leads to the other nodes";
  }
  out.message = fmt::format("could not connect to {}{}{}: {}", to, on_host(line), reason.empty() ? "" : " (" + reason + ")", meaning);
  return true;
}

bool closed(const Line& line, Sighting& out) {
  std::optional<Address> peer;
  for (const std::string_view phrase : {"remote peer "sv, "by peer ["sv, "recv from "sv, "from peer "sv, "send to "sv}) {
    const auto rest = after(line.message, phrase);
    if (!rest) continue;
    peer = address_at(phrase.ends_with('[') ? "[" + std::string(*rest) : std::string(*rest));
    break;
  }
  if (peer && (is_ipv4(peer->host) || is_ipv6(peer->host) || peer->port)) {
    out.subject = peer->host;
    add_value(out, "peer", peer->host);
  }
  out.message = fmt::format("the connection was closed by {}{}: the peer failed first, so the earliest error of another rank is the cause",
                            out.subject.empty() ? "a peer" : "peer " + out.subject, on_host(line));
  return true;
}

bool versions(const Line& line, Sighting& out) {
  std::vector<std::string> names;
  std::string_view rest = line.message;
  while (const auto next = after(rest, " version ")) {
    rest = *next;
    const auto code = number_at(rest);
    if (!code || names.size() >= 2) continue;
    const std::int64_t unit = *code >= 10000 ? 10000 : 1000;  // 2.9 and later: major * 10000
    names.push_back(fmt::format("{}.{}.{}", *code / unit, *code % unit / 100, *code % 100));
    add_value(out, names.size() == 1 ? "version" : "other_version", names.back());
  }
  if (names.size() == 2) {
    out.seen = names[0] + ", " + names[1];
    out.message = fmt::format("ranks loaded different NCCL versions: {} and {}{}", names[0], names[1], on_host(line));
  }
  return true;
}

bool registration(const Line& line, Sighting& out) {
  const std::string_view message = line.message;
  std::string_view call = word_at(after(message, "Call to ").value_or(""));
  if (call.empty()) {
    const std::size_t pos = message.find("ibv_");
    if (pos != std::string_view::npos) call = message.substr(pos, std::min(message.find_first_of(" ,;()", pos), message.size()) - pos);
  }
  if (call.find("modify_qp") != std::string_view::npos) return false;
  out.subject = std::string(call);
  add_value(out, "call", std::string(call));
  if (message.find("Cannot allocate memory") == std::string_view::npos) {
    out.rule = "log-verbs-call";
    out.message = fmt::format("a verbs call failed{}: {}", on_host(line), quoted(message));
    return message.find("failed") != std::string_view::npos;
  }
  out.seen = "Cannot allocate memory";
  out.message = fmt::format("memory registration failed{}: {} said \"Cannot allocate memory\"", on_host(line), call.empty() ? "the HCA" : call);
  return true;
}

bool open_device(const Line& line, Sighting& out) {
  const auto rest = after(line.message, "open device ");
  out.subject = std::string(rest ? word_at(*rest) : "");
  if (!out.subject.empty()) add_value(out, "hca", out.subject);
  out.message = fmt::format("HCA {} could not be opened{}: the container may not use its uverbs device", out.subject, on_host(line));
  return true;
}

bool network_missing(const Line& line, Sighting& out) {
  out.subject = "NCCL_NET";
  const std::string_view name = between(line.message, "network ", " not found");
  if (!name.empty()) add_value(out, "network", std::string(name));
  out.message = name.empty() ? fmt::format("NCCL found no network plugin that works{}", on_host(line))
                             : fmt::format("the network \"{}\" that NCCL_NET demands was not found{}", name, on_host(line));
  return true;
}

bool device_counts(const Line& line, Sighting& out) {
  const auto least = number_after(line.message, "min ");
  const auto most = number_after(line.message, "max ");
  if (!least || !most) return true;
  add_value(out, "least", *least);
  add_value(out, "most", *most);
  out.message = fmt::format("nodes have different counts of network devices ({} to {}): a rail is missing on a node", *least, *most);
  return true;
}

constexpr std::array kCauses{
    Cause{"NCCL608", Blame::Port, "Got async event : ", {}, async_event},
    Cause{"NCCL608", Blame::Port, "async error event: ", {}, async_event},
    Cause{"NCCL608", Blame::Port, "async fatal event: ", {}, async_event},
    Cause{"NCCL608", Blame::Port, "fatal async event: ", {}, async_event},
    Cause{"log-completion-error", Blame::Transport, "ot completion ", {}, completion},
    Cause{"log-modify-qp", Blame::First, "ibv_modify_qp failed", {}, modify_qp},
    Cause{"log-size-mismatch", Blame::Mismatch, "collective mismatch error", {}, size_mismatch},
    Cause{"log-size-mismatch", Blame::Mismatch, "essage truncated : rece", {}, size_mismatch},
    Cause{"log-version-mismatch", Blame::Mismatch, "Mismatched NCCL version detected", {}, versions},
    Cause{"log-memory-registration", Blame::First, "Call to ibv_", "failed with", registration},
    Cause{"log-memory-registration", Blame::First, "ibv_reg_", "Cannot allocate memory", registration},
    Cause{"log-device-open", Blame::First, "Unable to open device ", {}, open_device},
    Cause{"log-connect", Blame::Connection, "onnect to ", " failed", connect},
    Cause{"log-connect", Blame::Connection, "onnect to ", "returned", connect},
    Cause{"log-connect", Blame::Connection, "connect returned ", {}, connect},
    Cause{"log-connect", Blame::Connection, "exceeded error retry count", {}, connect},
    Cause{"log-peer-closed", Blame::Closed, "onnection closed by remote peer", {}, closed},
    Cause{"log-peer-closed", Blame::Closed, "Connection closed by peer", {}, closed},
    Cause{"log-peer-closed", Blame::Closed, "Connection reset by peer", {}, closed},
    Cause{"log-peer-closed", Blame::Closed, "failed : Broken pipe", {}, closed},
    Cause{"log-foreign-connection", Blame::Setting, "wrong magic ", {}, nullptr},
    Cause{"log-foreign-connection", Blame::Setting, "socket magic mismatch", {}, nullptr},
    Cause{"log-bootstrap-mismatch", Blame::Mismatch, "Bootstrap Root : mismatch", {}, nullptr},
    Cause{"log-bootstrap-mismatch", Blame::Mismatch, "mismatch in rank count from procs", {}, nullptr},
    Cause{"log-bootstrap-mismatch", Blame::Mismatch, "mismatch in info from procs", {}, nullptr},
    Cause{"log-bootstrap-mismatch", Blame::Mismatch, "has already checked in", {}, nullptr},
    Cause{"log-link-layers-mixed", Blame::Mismatch, "incompatible devices", {}, nullptr},
    Cause{"log-gid-namespace", Blame::Setting, "ncclIbRoceGetVersionNum", "Invalid argument", nullptr},
    Cause{"log-no-interface", Blame::Setting, "no socket interface found", {}, nullptr},
    Cause{"log-no-interface", Blame::Setting, "No IP interface found", {}, nullptr},
    Cause{"log-no-interface", Blame::Setting, "No interface found in the same subnet", {}, nullptr},
    Cause{"log-network-missing", Blame::Setting, "Error: network ", "not found", network_missing},
    Cause{"log-network-missing", Blame::Setting, "Failed to initialize any NET plugin", {}, network_missing},
    Cause{"log-device-counts", Blame::Mismatch, "Detected mixed local Net device counts", {}, device_counts},
    Cause{"log-verbs-missing", Blame::Setting, "Failed to open libibverbs.so", {}, nullptr},
    Cause{"log-verbs-missing", Blame::Setting, "Count not open libibverbs.so", {}, nullptr},
    Cause{"log-verbs-missing", Blame::Setting, "Could not open libibverbs.so", {}, nullptr},
    Cause{"log-proxy", Blame::Follows, "[Proxy Service", "ailed to execute operation", nullptr},
    Cause{"log-proxy", Blame::Follows, "[Service thread]", "ccept failed", nullptr},
    Cause{"log-proxy", Blame::Follows, "Error encountered progressing operation", {}, nullptr},
    Cause{"log-proxy", Blame::Follows, "Proxy Call to rank ", "failed", nullptr},
};

}  // namespace

std::span<const Cause> network_causes() { return kCauses; }

}  // namespace verl::log
