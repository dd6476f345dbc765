// The ceiling: posts ready-made pods with a number of requests in flight and does nothing else. Same client as the operator.
//
//   pod_loader NAMESPACE IN_FLIGHT < one manifest a line        uses $KUBECONFIG
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "kube/client/http_api.h"
#include "kube/client/load_config.h"
#include "kube/client/sigpipe.h"
#include "kube/protocol/api_status.h"
#include "kube/protocol/verbs.h"

extern char** environ;

int main(int argc, char** argv) {
  using namespace verl;
  const int width = argc == 3 ? std::atoi(argv[2]) : 0;
  if (width < 1 || width > 1024) {
    fmt::print(stderr, "usage: pod_loader NAMESPACE IN_FLIGHT < manifests, one a line\n");
    return 64;
  }
  kube::ignore_sigpipe();
  std::vector<std::string> manifests;
  for (std::string line; std::getline(std::cin, line);) manifests.push_back(line);
  const auto config = kube::load_client_config({}, kube::client_environment(environ));
  auto api = config ? kube::connect(*config, {.user_agent = kube::user_agent("pod-loader", "0")}) : tl::unexpected<Error>(config.error());
  if (!api) {
    fmt::print(stderr, "connecting: {}\n", api.error().message);
    return 1;
  }
  const kube::Target pods{.resource = {.group = "", .version = "v1", .kind = "Pod", .plural = "pods"}, .name_space = argv[1]};
  std::atomic<std::size_t> next{0};
  std::atomic<int> failed{0};
  const auto post = [&] {
    for (std::size_t i = next++; i < manifests.size(); i = next++) {
      const auto reply = (*api)->send(kube::create_request(pods, manifests[i], {.field_manager = "pod-loader"}), {});
      if (reply && kube::is_success(*reply)) continue;
      if (failed++ == 0) fmt::print(stderr, "posting: {}\n", reply ? kube::summary(kube::decode_status(*reply)) : reply.error().message);
    }
  };
  const auto began = std::chrono::steady_clock::now();
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < width; ++i) threads.emplace_back(post);
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  fmt::print("{{\"pods\": {}, \"failed\": {}, \"seconds\": {:.4f}}}\n", manifests.size(), failed.load(), took.count());
  return failed == 0 ? 0 : 1;
}
