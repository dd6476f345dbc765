#include "diagnosis/log/facts.h"

#include <iterator>
#include <utility>

namespace verl::log {
namespace {

template <class T>
void append(std::vector<T>& into, std::vector<T>&& more) {
  std::move(more.begin(), more.end(), std::back_inserter(into));
}

}  // namespace

void merge(Facts& into, Facts more) {
  append(into.processes, std::move(more.processes));
  append(into.communicators, std::move(more.communicators));
  append(into.echoes, std::move(more.echoes));
  append(into.registrations, std::move(more.registrations));
  into.local_net += more.local_net;
  if (into.local_net_at.line == 0) into.local_net_at = std::move(more.local_net_at);
}

bool is_socket(const std::string& network) { return network == "Socket" || network == "FastSocket"; }

}  // namespace verl::log
