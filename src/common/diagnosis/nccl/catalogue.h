// Every variable that NCCL, its plugins and its neighbours read, as far as known: who reads it, how, since when, and what must agree.
// Facts only; what follows from a value is decided by the rules.
// Source: NCCL 2.3 to 2.30.7 (src/, docs/userguide env.rst), names of the 2.32.3 library; PyTorch, Gloo, UCX, libfabric and plugins.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "diagnosis/nccl/version.h"

namespace verl::nccl {

enum class Layer {
  Documented, Undocumented,  // libnccl itself, by whether its user guide names it
  PyTorch, PyTorchLegacy, Gloo, TensorPipe, Cuda, Ucx, Libfabric, RdmaCore, AwsOfi, GcpTcpx, GcpFastrak, Gcp, SharpPlugin, NcclPlugin,
  NcclContrib, NcclTests,
  Build, Image,              // set by builds and images, read by nobody here
  Nonexistent,               // never read by any public release, seen in the wild
};

// Untyped: read, but how is not known. Presence: whether it is set. Nothing: never read.
enum class Type { Bool, Int, Size, Float, Enum, Flags, Level, List, String, Path, Cidr, CpuList, Presence, Nothing, Untyped };

// Removed: no longer read. Dead: still defined, never read. Renamed: by a later release. Deprecated: read, but another name is meant.
enum class Status { Current, Deprecated, Removed, Dead, Renamed };

// Between whom a value must agree.
enum class Agreement {
  All,       // every rank of a communicator
  Pair,      // both ends of a connection: treated as All
  Node,      // ranks of one node
  Process,
  Fabric,    // what it resolves to must reach each other
  Domain,    // inside one NVLink domain
  Policy,    // works when it differs, unevenly
  PerNode,   // names what one node has: never compared as text
  Distinct,  // different on every node, equal inside one
  Local,     // nobody else's concern
  Unclear,
  Never,     // not read
};

enum class Section { Unsectioned, System, Debugging };  // of the user guide; Debugging ones are meant as temporary workarounds

struct Variable {
  std::string_view name{};
  Layer layer{Layer::Nonexistent};
  Type type{Type::Nothing};
  std::string_view standard{};  // without the variable, at 2.30.7; empty: decided at run time, or not known
  std::string_view tokens{};    // accepted words joined by '|'; empty: any, or decided by code
  Version since{0};             // first public release that reads it; 0: the oldest, or not versioned by NCCL
  Status status{Status::Current};
  Version at{0};                // release of the status; 0: not known, or another project's
  std::string_view use{};       // the name to use instead
  Agreement agreement{Agreement::Never};
  Section section{Section::Unsectioned};
};

constexpr Version kCatalogued = version(2, 32, 99);  // libraries up to here are covered; a later one may read names unknown here

// nullptr: not in the catalogue. Names are case-sensitive.
const Variable* variable_named(std::string_view name);

// All of them, sorted by name, each once.
std::span<const Variable* const> all_variables();

// NCCL's own library reads it.
bool of_libnccl(const Variable& variable);

// What NCCL of that version uses without the variable; empty: decided at run time.
std::string_view standard_at(const Variable& variable, std::optional<Version> version);

// The tables all_variables() joins, each sorted by name.
std::span<const Variable> documented_variables();
std::span<const Variable> undocumented_variables();
std::span<const Variable> neighbouring_variables();

}  // namespace verl::nccl
