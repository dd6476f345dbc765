// The readers of this folder, one pair a tool: how likely a text is its output, and what the text says. Limits, damage and
// lines nobody took as in diagnosis/format.h. Nothing here judges; rules look at the facts (judge.cpp).
#pragma once

#include <string_view>

#include "diagnosis/format.h"

namespace verl::fabric {

using Reading = Result<diagnosis::Reading>;
using diagnosis::ReadOptions;

int likeness_ibdev2netdev(std::string_view head);
Reading read_ibdev2netdev(std::string_view text, const ReadOptions& options);

int likeness_hca_list(std::string_view head);
Reading read_hca_list(std::string_view text, const ReadOptions& options);

int likeness_ip_text(std::string_view head);
Reading read_ip_text(std::string_view text, const ReadOptions& options);

int likeness_ip_json(std::string_view head);
Reading read_ip_json(std::string_view text, const ReadOptions& options);

int likeness_ibv_devinfo(std::string_view head);
Reading read_ibv_devinfo(std::string_view text, const ReadOptions& options);

int likeness_ibstat(std::string_view head);
Reading read_ibstat(std::string_view text, const ReadOptions& options);

int likeness_ibstatus(std::string_view head);
Reading read_ibstatus(std::string_view text, const ReadOptions& options);

int likeness_show_gids(std::string_view head);
Reading read_show_gids(std::string_view text, const ReadOptions& options);

int likeness_vendor_gids(std::string_view head);
Reading read_vendor_gids(std::string_view text, const ReadOptions& options);

int likeness_ethtool_settings(std::string_view head);
Reading read_ethtool_settings(std::string_view text, const ReadOptions& options);

int likeness_ethtool_statistics(std::string_view head);
Reading read_ethtool_statistics(std::string_view text, const ReadOptions& options);

int likeness_ethtool_driver(std::string_view head);
Reading read_ethtool_driver(std::string_view text, const ReadOptions& options);

int likeness_rdma_text(std::string_view head);
Reading read_rdma_text(std::string_view text, const ReadOptions& options);

int likeness_rdma_json(std::string_view head);
Reading read_rdma_json(std::string_view text, const ReadOptions& options);

int likeness_sysfs(std::string_view head);
Reading read_sysfs(std::string_view text, const ReadOptions& options);

int likeness_interface_json(std::string_view head);
Reading read_interface_json(std::string_view text, const ReadOptions& options);

}  // namespace verl::fabric
