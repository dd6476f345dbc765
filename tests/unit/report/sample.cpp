#include "sample.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace verl::report {

Finding finding(Verdict verdict, std::string check, std::string subject, std::string seen, std::string wanted, std::string remedy) {
  return {.check = std::move(check), .verdict = verdict, .subject = std::move(subject), .seen = std::move(seen), .wanted = std::move(wanted),
          .remedy = std::move(remedy)};
}

NodeLine ready_node(const std::string& name, const std::string& block, const std::string& rack) {
  NodeLine node{.name = name, .word = Word::Ready, .reason = "Ready", .message = "every check that blocks has passed", .gpus = 8, .domains = {block, rack},
                .policy = "h100-roce", .believed = true};
  node.findings = {finding(Verdict::Pass, "mtu-interface", "ens3f0", "9000", ">= 9000"), finding(Verdict::Pass, "clock-sync", "chronyd", "10.0.0.1"),
                   finding(Verdict::Skipped, "gpu-count")};
  return node;
}

ReportInput sample() {
  ReportInput input{.time = parse_rfc3339("2026-11-30T10:42:07Z"), .source = "context kind of /home/a/.kube/config", .levels = {"block", "rack"},
                    .docs_url = "https://docs.example/verl"};
  input.cluster = {{.verdict = Verdict::Pass, .title = "operator leads: verl-operator-7c9f"},
                   {.verdict = Verdict::Warn, .id = "NodeCordoned", .title = "no node is cordoned", .details = {"n03"}, .remedy = "kubectl uncordon n03"}};
  for (int i = 0; i < 12; ++i) {
    input.nodes.push_back(ready_node((i < 10 ? "n0" : "n") + std::to_string(i), i < 8 ? "b1" : "b2", "r" + std::to_string(i / 4)));
  }
  const auto spoil = [](NodeLine& node, Word word, std::string reason, std::vector<Finding> findings) {
    node.word = word;
    node.reason = std::move(reason);
    node.message = "see the findings";
    node.findings = std::move(findings);
  };
  const auto short_mtu = [](const std::string& port) {
    return finding(Verdict::Fail, "mtu-interface", port, "1500", ">= 9000", "ip link set " + port + " mtu 9000, and in the switch port");
  };
  input.nodes[3].held_back = "cordoned";
  for (const size_t i : {1U, 2U}) {
    spoil(input.nodes[i], Word::NotReady, "MTUInterface", {short_mtu("ens3f0"), short_mtu("ens3f1"), finding(Verdict::Pass, "clock-sync", "chronyd")});
  }
  spoil(input.nodes[5], Word::Unknown, "ClockSync", {finding(Verdict::Pass, "mtu-interface", "ens3f0", "9000"), finding(Verdict::Unknown, "clock-sync", "chronyd", "no answer", "a reply", "systemctl status chronyd")});
  input.nodes[6].findings.push_back(finding(Verdict::Warn, "packet-drops", "ens3f1", "1204 rx_discards_phy"));
  input.nodes[7] = {.name = "n07", .word = Word::Unknown, .reason = "AgentSilent", .message = "the node agent was not heard of for more than 90 s", .gpus = 8,
                    .domains = {"b1", "r1"}, .policy = "h100-roce"};
  input.nodes[8].findings.push_back(finding(Verdict::Fail, "a-check-of-tomorrow", "", "\x1b[2Jbad", "good"));
  input.nodes[8].word = Word::NotReady;
  input.nodes[8].reason = "ACheckOfTomorrow";
  return input;
}

std::string golden(const std::string& name, const std::string& actual) {
  const char* source = std::getenv("VERL_SOURCE");
  const std::string path = std::string(source == nullptr ? "." : source) + "/tests/unit/report/golden/" + name;
  if (std::getenv("VERL_UPDATE_GOLDENS") != nullptr) std::ofstream(path) << actual;
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace verl::report
