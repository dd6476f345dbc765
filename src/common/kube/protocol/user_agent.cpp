#include "kube/protocol/user_agent.h"

namespace verl::kube {

std::string_view platform() {
#if defined(__x86_64__)
  return "linux/amd64";
#elif defined(__aarch64__)
  return "linux/arm64";
#elif defined(__powerpc64__)
  return "linux/ppc64le";
#elif defined(__riscv)
  return "linux/riscv64";
#else
  return "linux/unknown";
#endif
}

std::string user_agent(std::string_view program, std::string_view version, std::string_view component) {
  std::string text = std::string(program) + "/" + std::string(version) + " (" + std::string(platform()) + ")";
  if (!component.empty()) text += " " + std::string(component);
  return text;
}

}  // namespace verl::kube
