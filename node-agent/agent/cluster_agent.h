// The agent in a cluster: judges its node by the spec of its own NodeReadiness, publishes the status, renews the node's Lease.
// Both from one loop, so that an agent whose looking hangs does not look alive. Creates nothing: the report and the Lease are
// the operator's, and while they do not exist the agent waits.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "api/node_readiness.h"
#include "base/result.h"
#include "base/time.h"
#include "host/host.h"
#include "kube/protocol/http.h"
#include "node-agent/checks/observation.h"

namespace verl::agent {

struct ClusterAgentOptions {
  std::string node_name{};
  std::string lease_namespace{};
  Seconds look_every{15};
  Seconds refresh_every{300};    // written even when nothing changed
  Seconds default_renewal{30};   // until the Lease says otherwise
  Seconds waiting{5};            // before asking again for a report or a Lease that does not exist
  Seconds longest_backoff{30};
};

// Which node the API server takes this process for: from the claims of its token.
struct Identity {
  std::string node_name{};
  std::string node_uid{};
};

class ClusterAgent final {
 public:
  using OpenHost = std::function<Result<std::shared_ptr<const host::Host>>()>;  // asked before every look
  using Log = std::function<void(const std::string&)>;  // one line; equal lines in a row come once

  ClusterAgent(kube::Api& api, OpenHost open_host, const Clock& clock, ClusterAgentOptions options, Log log);

  // Does what is due and says how long to sleep. An Error ends the agent: it must not run with this token.
  Result<Microseconds> round(std::stop_token stop);

  // Rounds until stopped. The Error of a round that ended the agent.
  Result<bool> run(std::stop_token stop);

 private:
  using Instant = std::chrono::steady_clock::time_point;

  Result<bool> know_identity(std::stop_token stop);  // true once known
  bool look(std::stop_token stop);                   // true: what the server holds is what was seen just now
  bool publish(const api::NodeReadiness& report, const api::NodeReadinessStatus& status, std::stop_token stop);
  bool renew(std::stop_token stop);
  void say(const std::string& line);
  Seconds backoff();

  kube::Api& api_;
  OpenHost open_host_;
  const Clock& clock_;
  ClusterAgentOptions options_;
  Log log_;

  std::optional<Identity> identity_{};
  bool current_{false};       // the last look ended with its findings in the report
  Seconds renewal_;
  Instant next_look_{};
  Instant next_renewal_{};
  std::optional<Instant> published_{};
  int failures_{0};           // in a row
  std::string last_line_{};
  PacketSample sample_{};     // baseline of the packet counters
  Instant sampled_{};
  std::string sample_boot_{};
};

}  // namespace verl::agent
