// The termination message by which a container says why it ended; the operator shows it in the job's conditions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace verl::incontainer {

constexpr size_t kLongestMessage = 3400;  // bytes; the kubelet keeps 4096 of a termination message

// {"verl.run/ray":REASON,"message":"SENTENCE. SENTENCE"} and a line feed, always one whole JSON object of printable ASCII. Sentences
// that do not fit are counted.
std::string termination_message(std::string_view reason, const std::vector<std::string>& sentences);

}  // namespace verl::incontainer
