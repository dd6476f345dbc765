#include "diagnosis/fabric/gid_text.h"

#include <arpa/inet.h>

#include "base/text.h"

namespace verl::fabric {

std::optional<rdma::Gid> gid_of(std::string_view text) {
  text = trim(text);
  constexpr std::size_t kLongest = 45;
  if (text.size() > kLongest || text.find(':') == std::string_view::npos) return std::nullopt;
  rdma::Gid gid{};
  if (inet_pton(AF_INET6, std::string(text).c_str(), gid.data()) != 1) return std::nullopt;
  return gid;
}

std::string ipv4_of(const rdma::Gid& gid) {
  if (!rdma::is_ipv4(gid)) return {};
  std::string text;
  for (std::size_t i = 12; i < 16; ++i) text += (i == 12 ? "" : ".") + std::to_string(static_cast<int>(gid[i]));
  return text;
}

std::string gid_type(std::string_view text) {
  text = trim(text);
  if (text == "v2" || text == "V2" || text == "RoCE v2" || text == "RoCE V2" || text == "RoCEv2" || text == "ROCE v2" || text == "ROCEv2") return "RoCE v2";
  if (text == "v1" || text == "V1" || text == "RoCE v1" || text == "RoCE V1" || text == "RoCEv1" || text == "IB/RoCE v1" || text == "IB" || text == "ROCEv1") {
    return "IB/RoCE v1";
  }
  return {};
}

}  // namespace verl::fabric
