// Broken text of every kind: no crash, no hang, and either a value or an error.
#include <gtest/gtest.h>

#include "codec/decode.h"
#include "codec/encode.h"
#include "yaml/yaml.h"
#include "values.h"

namespace verl::codec {
namespace {

std::string mutated(std::string text, Random& random) {
  const auto pick = [&](size_t below) { return static_cast<size_t>(random() % below); };
  static constexpr std::string_view kBytes = "{}[]\",:\\0123456789-+eE.ntf \n\x00\x7f\x80\xff&*!<|>#";
  for (size_t changes = 1 + pick(4); changes > 0 && !text.empty(); --changes) {
    const size_t at = pick(text.size());
    switch (pick(4)) {
      case 0: text[at] = kBytes[pick(kBytes.size())]; break;
      case 1: text.erase(at, 1 + pick(8)); break;
      case 2: text.insert(at, 1, kBytes[pick(kBytes.size())]); break;
      default: text.insert(at, text.substr(pick(text.size()), pick(64))); break;
    }
  }
  return text;
}

template <class T>
void survive(const std::string& text) {
  (void)decode_object<T>(text);
  (void)decode_list<T>(text);
  (void)decode_event<T>(text);
}

TEST(Mutation, OfAnyTextIsSurvived) {
  const std::string pod = R"({"kind":"Pod","metadata":{"labels":{"verl.run/job-name":"j"},"ownerReferences":[{"uid":"u","controller":true}]},
    "spec":{"hostNetwork":true,"containers":[{"name":"a","ports":[{"containerPort":1}],"resources":{"requests":{"cpu":"1"}}}],"initContainers":[{"restartPolicy":"Always"}]},
    "status":{"containerStatuses":[{"name":"a","state":{"terminated":{"exitCode":1}},"resources":{"requests":{"cpu":"2"}}}]}})";
  for (unsigned seed = 0; seed < 400; ++seed) {
    Random random(seed);
    survive<api::VerlJob>(mutated(encode(random_job(random)), random));
    survive<api::NodeReadiness>(mutated(encode(random_report(random)), random));
    survive<api::ReadinessPolicy>(mutated(encode(random_policy(random)), random));
    survive<api::Pod>(mutated(pod, random));
    survive<api::Node>(mutated(pod, random));
    survive<api::Heartbeat>(mutated(pod, random));
    (void)yaml_documents_to_json(mutated(encode(random_policy(random)), random));
    (void)yaml_documents_to_json(mutated("a: &x [1, {b: *x}]\n---\n? c\n: |\n  text\n<<: {d: 0x1f}\n", random));
  }
}

}  // namespace
}  // namespace verl::codec
