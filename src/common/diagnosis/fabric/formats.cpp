// The formats of this family: which tool, how it is recognised, how it is read.
#include "diagnosis/format.h"

#include <array>

#include "diagnosis/fabric/readers.h"

namespace verl::diagnosis {
namespace {

Format format(std::string_view name, std::string_view what, int (*likeness)(std::string_view), Result<Reading> (*read)(std::string_view, const ReadOptions&)) {
  Format one;
  one.name = name;
  one.what = what;
  one.likeness = likeness;
  one.read = read;
  return one;
}

}  // namespace

std::span<const Format> fabric_formats() {
  static const std::array kFormats{
      format("ibdev2netdev", "ibdev2netdev, ibdev2netdev -v", fabric::likeness_ibdev2netdev, fabric::read_ibdev2netdev),
      format("hca-list", "ls /sys/class/infiniband, ibv_devinfo -l, ibv_devices", fabric::likeness_hca_list, fabric::read_hca_list),
      format("ip-address", "ip address, ip link (-br, -o, -d, -s)", fabric::likeness_ip_text, fabric::read_ip_text),
      format("ip-json", "ip -j address, ip -j link", fabric::likeness_ip_json, fabric::read_ip_json),
      format("ibv-devinfo", "ibv_devinfo, ibv_devinfo -v", fabric::likeness_ibv_devinfo, fabric::read_ibv_devinfo),
      format("ibstat", "ibstat", fabric::likeness_ibstat, fabric::read_ibstat),
      format("ibstatus", "ibstatus", fabric::likeness_ibstatus, fabric::read_ibstatus),
      format("show-gids", "show_gids", fabric::likeness_show_gids, fabric::read_show_gids),
      format("vendor-gids", "GID tables of vendors' tools, with a row a GID", fabric::likeness_vendor_gids, fabric::read_vendor_gids),
      format("ethtool", "ethtool INTERFACE", fabric::likeness_ethtool_settings, fabric::read_ethtool_settings),
      format("ethtool-statistics", "ethtool -S INTERFACE, once or several times", fabric::likeness_ethtool_statistics, fabric::read_ethtool_statistics),
      format("ethtool-driver", "ethtool -i INTERFACE", fabric::likeness_ethtool_driver, fabric::read_ethtool_driver),
      format("rdma", "rdma link, rdma dev, rdma statistic", fabric::likeness_rdma_text, fabric::read_rdma_text),
      format("rdma-json", "rdma -j link, rdma -j dev, rdma -j statistic", fabric::likeness_rdma_json, fabric::read_rdma_json),
      format("sysfs-ports", "files below /sys/class/infiniband and /sys/class/net, a line each or as JSON", fabric::likeness_sysfs, fabric::read_sysfs),
      format("interface-json", "interfaces with their LLDP neighbours, speeds and configuration as JSON", fabric::likeness_interface_json,
             fabric::read_interface_json),
  };
  return kFormats;
}

}  // namespace verl::diagnosis
