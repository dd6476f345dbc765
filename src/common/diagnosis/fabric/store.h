// Writes what a reader of this folder found into its Reading: the port or interface by name, each value with its unit, the
// line that said it.
#pragma once

#include <string>
#include <string_view>

#include "diagnosis/fabric/facts.h"
#include "diagnosis/fabric/lines.h"
#include "diagnosis/format.h"

namespace verl::fabric {

class Store final {
 public:
  explicit Store(const diagnosis::ReadOptions& options) : document_(options.name) {}

  // Made when absent; the pointer holds until the next call. Nothing when there are more than any machine has (the text is no honest one): the line is then unread.
  Port* port(std::string_view device, std::int32_t number);
  Interface* interface(std::string_view name);

  void value(std::string name, diagnosis::Scalar value, std::string_view unit = {});
  diagnosis::Evidence evidence(const Line& line) const;
  void unread(const Line& line, std::string why);
  diagnosis::Finding& finding(std::string_view id, std::string subject, const Line& line);
  // What is missing of the text.
  void incomplete(std::string subject, std::string message, const Line& line);

  diagnosis::Reading& reading() { return reading_; }
  Facts& facts() { return diagnosis::own_node(reading_).fabric; }
  const std::string& document() const { return document_; }
  diagnosis::Reading take() { return std::move(reading_); }

 private:
  std::string document_;
  diagnosis::Reading reading_{};
  bool full_{false};
};

std::string port_path(const Port& port, std::string_view field);            // "port[mlx5_0/1].state"
std::string interface_path(const Interface& interface, std::string_view field);  // "interface[ens5].mtu"
std::string port_name(const Port& port);                                     // "mlx5_0/1"

// The parts of a port that several tools say, each written to facts, values and lines at once.
void set_state(Store& store, Port& port, std::string_view state, const Line& line);            // "4: ACTIVE", "Active", "PORT_ACTIVE (4)"
void set_physical_state(Store& store, Port& port, std::string_view state, const Line& line);   // "5: LinkUp", "LINK_UP (5)", "Polling"
void set_rate(Store& store, Port& port, double gbps, std::string_view text, const Line& line);
void set_link_layer(Store& store, Port& port, std::string_view layer, const Line& line);
void set_lid(Store& store, Port& port, bool of_subnet_manager, std::int64_t lid, const Line& line);
void set_netdev(Store& store, Port& port, std::string_view netdev, const Line& line);
void add_gid(Store& store, Port& port, rdma::GidEntry entry, std::string_view printed, const Line& line);
// "gid_index[mlx5_0]": the index NCCL takes of each RoCE port that has GIDs; "none" when no entry of it is usable.
void write_gid_choice(Store& store);
void set_mtu(Store& store, Interface& interface, std::int64_t mtu, const Line& line);
void set_speed(Store& store, Interface& interface, std::int64_t mbps, const Line& line);

// "400 Gb/sec (4X NDR)", "100 Gb/sec (4X)", "2.5 Gb/sec (1X SDR)": the number alone; nothing for other text.
std::optional<double> rate_of(std::string_view text);
std::string_view rate_kind(std::string_view text);  // "4X NDR"; empty when it is not said

}  // namespace verl::fabric
