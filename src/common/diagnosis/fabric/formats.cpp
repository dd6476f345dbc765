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
  };
  return kFormats;
}

}  // namespace verl::diagnosis
