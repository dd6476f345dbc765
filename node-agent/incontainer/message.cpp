#include "node-agent/incontainer/message.h"

namespace verl::incontainer {
namespace {

constexpr size_t kLongestSentence = 700;

// Whatever is not printable ASCII becomes a question mark: paths and values come from a machine that may be broken.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += std::string("\\") + c;
    } else if (c >= ' ' && c <= '~') {
      out += c;
    } else {
      out += '?';
    }
  }
  return out;
}

}  // namespace

std::string termination_message(std::string_view reason, const std::vector<std::string>& sentences) {
  std::string message;
  for (size_t i = 0; i < sentences.size(); ++i) {
    std::string sentence = sentences[i];
    if (sentence.size() > kLongestSentence) sentence = sentence.substr(0, kLongestSentence) + "...";
    const std::string next = (message.empty() ? "" : ". ") + escaped(sentence);
    constexpr size_t kRoomForTheRest = 100;  // the braces, the reason and "and 1000 more"
    if (message.size() + next.size() + kRoomForTheRest > kLongestMessage) {
      message += ". And " + std::to_string(sentences.size() - i) + " more";
      break;
    }
    message += next;
  }
  return "{\"verl.run/ray\":\"" + escaped(reason) + "\",\"message\":\"" + message + "\"}\n";
}

}  // namespace verl::incontainer
