// A plain list of RDMA devices: `ls /sys/class/infiniband`, `ibv_devinfo -l`, `ibv_devices`. It proves that they exist, no more.
#include <algorithm>

#include "base/text.h"
#include "diagnosis/fabric/names.h"
#include "diagnosis/fabric/readers.h"
#include "diagnosis/fabric/store.h"

namespace verl::fabric {
namespace {

bool is_heading(std::string_view line) {
  return line.starts_with("device ") || line.starts_with("device\t") || line.starts_with("------") || contains(line, "HCA found") ||
         contains(line, "HCAs found") || line.starts_with("total ");
}

bool is_node_guid(std::string_view word) {
  return word.size() == 16 && std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isxdigit(c) != 0; });
}

// Drivers that nobody listed name and number their devices the same way: "hfi7_0". A bare word with a number is a host as well.
bool is_numbered(std::string_view word) {
  const std::size_t sign = word.rfind('_');
  return is_name(word) && std::isalpha(static_cast<unsigned char>(word[0])) != 0 && sign != std::string_view::npos && sign > 0 && sign + 1 < word.size() &&
         std::all_of(word.begin() + static_cast<std::ptrdiff_t>(sign) + 1, word.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

bool is_device(std::string_view word) { return is_rdma_device_name(word) || is_numbered(word); }

}  // namespace

int likeness_hca_list(std::string_view head) {
  int sure = 0;
  int likely = 0;
  bool guids = false;
  for (const Line& line : lines_of(head)) {
    if (is_heading(line.bare)) continue;
    for (const std::string_view word : split_whitespace(line.bare)) {
      if (is_node_guid(word)) {
        guids = true;
      } else if (is_rdma_device_name(word)) {
        ++sure;
      } else if (is_numbered(word)) {
        ++likely;
      } else {
        return 0;
      }
    }
  }
  if (guids && sure + likely > 0) return 90;
  if (sure >= likely && sure > 0) return 70;
  return likely > 0 ? 40 : 0;
}

Reading read_hca_list(std::string_view text, const ReadOptions& options) {
  Store store(options);
  for (const Line& line : lines_of(text, options.strip_comment_prefix)) {
    if (line.bare.empty() || is_heading(line.bare)) continue;
    std::string_view device;
    for (const std::string_view word : split_whitespace(line.bare)) {
      if (is_device(word)) {
        device = word;
        if (!store.port(word, 1)) store.unread(line, "more ports than a machine has");
      } else if (is_node_guid(word) && !device.empty()) {
        store.value("device[" + std::string(device) + "].node_guid", std::string(word));
      } else {
        store.unread(line, "not the name of an RDMA device: " + shorten(word, 40));
        break;
      }
    }
  }
  const Facts& facts = store.facts();
  if (facts.ports.empty()) return failure(ErrorCode::Invalid, "no name of an RDMA device in it");
  const auto count = static_cast<std::int64_t>(facts.ports.size());
  for (std::int64_t i = 0; i < count; ++i) store.value("devices[" + std::to_string(i) + "]", facts.ports[static_cast<std::size_t>(i)].device);
  store.value("devices.count", count);
  return store.take();
}

}  // namespace verl::fabric
