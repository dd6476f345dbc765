// Our verdict on random (node, pod) pairs equals kube-scheduler's: all pairs live in one plane, each pod pinned to its
// own node, so that no pair disturbs another. VERL_ORACLE_FIRST and VERL_ORACLE_PAIRS choose the seeds.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <map>
#include <thread>

#include "cases.h"
#include "codec/decode.h"
#include "kubectl.h"
#include "operator/core/fit/fit.h"

namespace verl::oracle {
namespace {

using core::fit::Misfit;

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

template <class T>
std::map<std::string, T> listed(const std::string& arguments) {
  const Output output = kubectl("get " + arguments + " -o json");
  const auto page = codec::decode_list<T>(output.text);
  std::map<std::string, T> objects;
  if (output.exit_code != 0 || !page) {
    ADD_FAILURE() << "get " << arguments << ": " << (page ? "kubectl failed" : page.error().message);
    return objects;
  }
  for (const T& object : page->items) {
    objects.emplace(object.meta.name, object);
  }
  return objects;
}

// Polls until `done`, at most `limit`.
bool eventually(std::chrono::seconds limit, const std::function<bool()>& done) {
  const auto until = std::chrono::steady_clock::now() + limit;
  while (!done()) {
    if (testing::Test::HasFailure() || std::chrono::steady_clock::now() > until) {
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }
  return true;
}

bool node_is_settled(const api::Node& node) {
  bool cordon_taint = false;
  for (const api::Taint& taint : node.taints) {
    if (taint.key == "node.kubernetes.io/not-ready") {
      return false;
    }
    cordon_taint = cordon_taint || taint.key == "node.kubernetes.io/unschedulable";
  }
  return node.ready == api::ConditionStatus::True && cordon_taint == node.unschedulable;
}

bool occupant_is_settled(const api::Pod& pod) {
  const std::string& life = pod.meta.labels.at("life");
  if (life == "ends") {
    return pod.phase == "Succeeded" || pod.phase == "Failed";
  }
  return pod.phase == "Running" && (life == "runs" || pod.meta.deleted.has_value());
}

enum class Verdict { None, Fits, Misfits };

Verdict scheduler_verdict(const api::Pod& pod) {
  if (!pod.node_name.empty()) {
    return Verdict::Fits;
  }
  const api::Condition* scheduled = api::find_condition(pod.conditions, "PodScheduled");
  const bool refused = scheduled != nullptr && scheduled->status == api::ConditionStatus::False && scheduled->reason == "Unschedulable";
  return refused ? Verdict::Misfits : Verdict::None;
}

std::string why(const std::vector<Misfit>& misfits) {
  std::string text;
  for (const Misfit& misfit : misfits) {
    text += (text.empty() ? "" : "; ") + misfit.reason + ": " + misfit.message;
  }
  return text.empty() ? "fits" : text;
}

TEST(Fit, IsTheSchedulers) {
  if (std::getenv("VERL_PLANE_DIR") == nullptr) {
    FAIL() << "needs a control plane: scripts/control-plane run --with scheduler,controller-manager,kwok -- this program";
  }
  const std::uint64_t first = setting("VERL_ORACLE_FIRST", 1);
  const std::uint64_t pairs = setting("VERL_ORACLE_PAIRS", 500);
  std::vector<Case> cases;
  std::vector<nlohmann::json> nodes;
  std::vector<nlohmann::json> occupants;
  std::vector<nlohmann::json> pods;
  for (std::uint64_t seed = first; seed < first + pairs; ++seed) {
    cases.push_back(make_case(seed));
    nodes.push_back(cases.back().node);
    occupants.insert(occupants.end(), cases.back().occupants.begin(), cases.back().occupants.end());
    pods.push_back(cases.back().pod);
  }
  ASSERT_TRUE(create_all(surroundings()["items"].get<std::vector<nlohmann::json>>(), "surroundings"));
  ASSERT_TRUE(create_all(nodes, "nodes"));
  const std::string in = " -n " + kNamespace;
  ASSERT_TRUE(eventually(std::chrono::seconds(30), [&] { return kubectl("get serviceaccount default --ignore-not-found -o name" + in).text != ""; }));
  ASSERT_TRUE(create_all(occupants, "occupants"));
  ASSERT_EQ(kubectl("delete pods --wait=false -l life=terminates -o name" + in).exit_code, 0);

  std::map<std::string, api::Node> seen_nodes;
  ASSERT_TRUE(eventually(std::chrono::seconds(60), [&] {
    seen_nodes = listed<api::Node>("nodes");
    return seen_nodes.size() == pairs &&
           std::all_of(seen_nodes.begin(), seen_nodes.end(), [](const auto& node) { return node_is_settled(node.second); });
  })) << "nodes do not settle";
  std::map<std::string, api::Pod> seen_occupants;
  ASSERT_TRUE(eventually(std::chrono::seconds(90), [&] {
    seen_occupants = listed<api::Pod>("pods" + in);
    return seen_occupants.size() == occupants.size() &&
           std::all_of(seen_occupants.begin(), seen_occupants.end(), [](const auto& pod) { return occupant_is_settled(pod.second); });
  })) << "occupants do not settle";

  ASSERT_TRUE(create_all(pods, "pods"));
  std::map<std::string, api::Pod> judged;
  ASSERT_TRUE(eventually(std::chrono::seconds(120), [&] {
    judged = listed<api::Pod>("pods -l verl.run/job-name" + in);
    return judged.size() == pairs &&
           std::all_of(judged.begin(), judged.end(), [](const auto& pod) { return scheduler_verdict(pod.second) != Verdict::None; });
  })) << "the scheduler did not judge every pod";

  std::vector<std::shared_ptr<const api::Pod>> holders;
  for (const auto& [name, pod] : seen_occupants) {
    holders.push_back(std::make_shared<api::Pod>(pod));
  }
  const core::fit::UseByNode uses = core::fit::use_by_node(holders);
  std::map<std::string, int> tally;
  for (const Case& the : cases) {
    const api::Pod& pod = judged.at(pod_name(the.seed));
    const api::Node& node = seen_nodes.at(node_name(the.seed));
    const auto use = uses.find(node.meta.name);
    const std::vector<Misfit> misfits =
        core::fit::misfits(node, use == uses.end() ? core::fit::NodeUse{} : use->second,
                           {.requests = pod.requests, .host_ports = pod.host_ports, .tolerations = the.tolerations, .node_selector = the.node_selector});
    const bool scheduler_fits = scheduler_verdict(pod) == Verdict::Fits;
    ++tally[misfits.empty() ? "Fits" : misfits.size() > 1 ? "several" : misfits.front().reason];
    const api::Condition* scheduled = api::find_condition(pod.conditions, "PodScheduled");
    EXPECT_EQ(misfits.empty(), scheduler_fits)
        << "seed " << the.seed << "\nours: " << why(misfits)
        << "\nscheduler: " << (scheduler_fits || scheduled == nullptr ? "bound" : scheduled->message) << "\nnode: " << the.node.dump()
        << "\noccupants: " << nlohmann::json(the.occupants).dump() << "\npod: " << the.pod.dump();
  }
  for (const auto& [word, count] : tally) {
    std::cout << word << ": " << count << "\n";
    RecordProperty(word, count);
  }
  if (pairs >= 500) {  // a generator that only makes easy pairs would prove little
    for (const char* word : {"NodeSelectorMismatch", "NodeCordoned", "UntoleratedTaint", "TooManyPods", "InsufficientResource", "HostPortTaken"}) {
      EXPECT_GE(tally[word], 3) << "pairs that fail for this reason alone: " << word;
    }
    EXPECT_GE(tally["Fits"], 100);
  }
}

}  // namespace
}  // namespace verl::oracle
