// What the flags of a command say. Exit codes are the same for every command and are documented in docs/cli.md.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "kube/client/load_config.h"
#include "kube/protocol/kubeconfig_choice.h"
#include "report/render.h"

namespace verl::cli {

constexpr int kExitWell = 0;
constexpr int kExitNoReport = 1;
constexpr int kExitUsage = 64;
constexpr int kExitFindings = 79;

struct Options {
  kube::ConfigFlags kube{};
  std::string operator_namespace{};
  std::vector<std::string> from{};    // exports; empty: the live cluster
  std::vector<std::string> levels{};  // "rack=verl.run/rack", for exports that do not say
  std::string now{};                  // RFC 3339; only with exports
  bool assume_fresh{false};
  report::Format format{report::Format::Table};
  report::Style style{};
  report::FailOn fail_on{report::FailOn::Error};
  std::string file{};    // plan -f: a manifest; snapshot -o: where to write
  std::string job{};     // "name" or "namespace/name"
};

// The edges of a run: where text goes and what the process was given.
struct Edges {
  std::ostream& out;
  std::ostream& err;
  const kube::ClientEnvironment& environment;
};

}  // namespace verl::cli
