// The commands over exported files, compared with golden files; VERL_UPDATE_GOLDENS writes these first.
#include "kubectl-verl/commands.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "codec/encode.h"
#include "kubectl-verl/files.h"
#include "kubectl-verl/plan.h"
#include "kubectl-verl/source.h"

namespace verl::cli {
namespace {

using nlohmann::json;

std::string folder() {
  const char* source = std::getenv("VERL_SOURCE");
  return std::string(source == nullptr ? "." : source) + "/tests/unit/kubectl-verl/";
}

std::string read(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::string golden(const std::string& name, const std::string& actual) {
  const std::string path = folder() + "golden/" + name;
  if (std::getenv("VERL_UPDATE_GOLDENS") != nullptr) std::ofstream(path) << actual;
  return read(path);
}

struct Outcome {
  int code{-1};
  std::string out{};
  std::string err{};
};

using Command = int (*)(const Options&, const Edges&);

Outcome run(Command command, const Options& options) {
  std::ostringstream out;
  std::ostringstream err;
  const kube::ClientEnvironment environment{};
  const int code = command(options, {.out = out, .err = err, .environment = environment});
  return {code, out.str(), err.str()};
}

Options twelve() { return {.from = {folder() + "exports/twelve.json"}}; }

class Written {  // a file for one test
 public:
  explicit Written(const std::string& text) {
    static int count = 0;
    path_ = std::filesystem::temp_directory_path() / ("verl-cli-test-" + std::to_string(::getpid()) + "-" + std::to_string(count++));
    std::ofstream(path_) << text;
  }
  ~Written() { std::filesystem::remove(path_); }
  Written(const Written&) = delete;
  Written& operator=(const Written&) = delete;
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_{};
};

json twelve_json() { return json::parse(read(folder() + "exports/twelve.json")); }

json& item(json& document, const std::string& kind, const std::string& name) {
  for (json& one : document["items"]) {
    if (one["kind"] == kind && one["metadata"]["name"] == name) return one;
  }
  ADD_FAILURE() << "no " << kind << " " << name;
  return document;
}

TEST(ReportCommand, PrintsTheTableOfTheGolden) {
  const Outcome outcome = run(run_report, twelve());
  EXPECT_EQ(outcome.out, golden("report.txt", outcome.out));
  EXPECT_EQ(outcome.code, kExitFindings);
  EXPECT_EQ(outcome.err, "");
}

TEST(ReportCommand, LooksOnNodesOfAllSortsInJson) {
  Options options = twelve();
  options.format = report::Format::Json;
  const json document = json::parse(run(run_report, options).out);
  EXPECT_EQ(document["counts"], (json{{"errors", 1}, {"warnings", 1}, {"unknown", 3}}));
  EXPECT_EQ(document["time"], "2026-11-30T10:42:07Z");
  EXPECT_EQ(document["nodes"].size(), 12U);
  EXPECT_EQ(document["nodes"][0]["name"], "n05");
}

TEST(ReportCommand, ExitsWellOnlyWhenNothingIsUnknown) {
  json document = twelve_json();
  json kept = json::array();
  for (const json& one : document["items"]) {
    const std::string name = one["metadata"]["name"];
    if (name != "n05" && name != "n06" && name != "n07" && name != "n09") kept.push_back(one);
  }
  document["items"] = kept;
  const Written well(document.dump());
  Options options{.from = {well.path()}};
  EXPECT_EQ(run(run_report, options).code, kExitWell) << run(run_report, options).out;
  options.fail_on = report::FailOn::Warning;
  EXPECT_EQ(run(run_report, options).code, kExitFindings);
  document["notRead"] = json::array({{{"resource", "leases.coordination.k8s.io"}, {"why", "forbidden"}}});
  const Written unread_file(document.dump());
  const Outcome outcome = run(run_report, {.from = {unread_file.path()}});
  EXPECT_EQ(outcome.code, kExitFindings);
  EXPECT_NE(outcome.out.find("the heartbeats could not be read: forbidden"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("Largest ready set: 0 nodes / 0 GPUs"), std::string::npos) << outcome.out;
}

TEST(ReportCommand, KnowsNothingOfFreshnessOnAPlainListUnlessToldToAssumeIt) {
  json list{{"apiVersion", "v1"}, {"kind", "List"}, {"items", twelve_json()["items"]}};
  const Written plain(list.dump());
  Options options{.from = {plain.path()}, .levels = {"rack=verl.run/rack"}};
  const Outcome unknown = run(run_report, options);
  EXPECT_EQ(unknown.code, kExitFindings);
  EXPECT_NE(unknown.out.find("FreshnessUnknown"), std::string::npos);
  EXPECT_NE(unknown.out.find("Largest ready set: 0 nodes"), std::string::npos);
  options.assume_fresh = true;
  const Outcome assumed = run(run_report, options);
  EXPECT_NE(assumed.out.find("assumed by --assume-fresh"), std::string::npos);
  EXPECT_NE(assumed.out.find("Largest ready set: 9 nodes / 72 GPUs; in one rack 4 / 32 (r0)"), std::string::npos) << assumed.out;
}

TEST(ReportCommand, DoesNotTakeALeaseElsewhereForAHeartbeat) {
  json document = twelve_json();
  for (json& one : document["items"]) {
    if (one["kind"] == "Lease") one["metadata"]["namespace"] = "attacker";
  }
  const Written file(document.dump());
  EXPECT_NE(run(run_report, {.from = {file.path()}}).out.find("Largest ready set: 0 nodes"), std::string::npos);
}

TEST(ReportCommand, SaysThatNoOperatorLeadsWhenItsLeaseRanOut) {
  json document = twelve_json();
  item(document, "Lease", "verl-operator")["metadata"]["managedFields"][0]["time"] = "2026-11-30T10:41:00Z";
  const Written file(document.dump());
  const Outcome outcome = run(run_report, {.from = {file.path()}});
  EXPECT_NE(outcome.out.find("verl-operator-0_ab last renewed its lease at 2026-11-30T10:41:00Z, for 15 s"), std::string::npos) << outcome.out;
}

TEST(PlanCommand, PrintsWhereAJobWouldGo) {
  Options options = twelve();
  options.file = folder() + "exports/job.yaml";
  const Outcome outcome = run(run_plan, options);
  EXPECT_EQ(outcome.out, golden("plan.txt", outcome.out));
  EXPECT_EQ(outcome.code, kExitWell);
}

TEST(PlanCommand, PrintsWhyAJobDoesNotFit) {
  const Written job(read(folder() + "exports/job.yaml").replace(read(folder() + "exports/job.yaml").find("nodes: 2"), 8, "nodes: 4"));
  Options options = twelve();
  options.file = job.path();
  const Outcome outcome = run(run_plan, options);
  EXPECT_EQ(outcome.out, golden("plan-short.txt", outcome.out));
  EXPECT_EQ(outcome.code, kExitFindings);
}

TEST(PlanCommand, GivesThePlacementInTheWordsOfTheOperator) {
  Options options = twelve();
  options.job = "rl/waits";
  options.format = report::Format::Json;
  const Outcome outcome = run(run_plan, options);
  const json document = json::parse(outcome.out);
  const auto source = load_source(options, {.out = std::cout, .err = std::cerr, .environment = kube::ClientEnvironment{}}, Extent::Everything);
  ASSERT_TRUE(source.has_value());
  const auto job = find_job(*source, "rl/waits");
  ASSERT_TRUE(job.has_value());
  const PlanAnswer answer = plan_of(*source, job->meta.uid);
  ASSERT_TRUE(answer.placement.has_value());
  const std::string written = codec::encode_status(job->meta, {.placement = answer.placement});
  EXPECT_NE(written.find("\"placement\":" + document["placement"].dump()), std::string::npos) << written;
  EXPECT_EQ(document["fits"], true);
}

TEST(PlanCommand, SaysTheSameOfAPlainListInAnyOrder) {
  json document = twelve_json();
  std::reverse(document["items"].begin(), document["items"].end());
  const Written reversed(document.dump());
  Options options = twelve();
  options.job = "rl/waits";
  const std::string wanted = run(run_plan, options).out;
  options.from = {reversed.path()};
  EXPECT_EQ(run(run_plan, options).out, wanted);
}

TEST(PlanCommand, RefusesToGuessWhenAKindCouldNotBeRead) {
  json document = twelve_json();
  document["notRead"] = json::array({{{"resource", "pods"}, {"why", "list pods: 403 Forbidden: cannot list resource \"pods\""}}});
  const Written file(document.dump());
  const Outcome outcome = run(run_plan, {.from = {file.path()}, .job = "rl/waits"});
  EXPECT_EQ(outcome.code, kExitNoReport);
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find("cannot list resource \"pods\""), std::string::npos) << outcome.err;
}

TEST(PlanCommand, TakesTheJobOfThatNameForTheSameJob) {
  const Written job(read(folder() + "exports/job.yaml").replace(read(folder() + "exports/job.yaml").find("qwen-grpo"), 9, "waits"));
  Options options = twelve();
  options.file = job.path();
  const Outcome outcome = run(run_plan, options);
  // Had it stood in the queue behind itself, rack r0 would be taken.
  EXPECT_NE(outcome.out.find("0 (proven fewest)"), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.out.find("InsufficientResource"), std::string::npos) << outcome.out;
}

TEST(PlanCommand, DoesNotCallAJobPlacedThatHasEnded) {
  json document = twelve_json();
  item(document, "VerlJob", "waits")["status"] = {
      {"phase", "Succeeded"},
      {"reason", "Completed"},
      {"finishedAt", "2026-11-30T10:41:00Z"},
      {"placement", {{"attempt", 1}, {"ranks", json::array({{{"rank", 0}, {"node", "n01"}, {"address", "10.0.0.1"}}})}}},
      {"conditions", json::array({{{"type", "Ready"}, {"status", "False"}, {"reason", "Completed"}, {"message", "the trainer exited 0"}, {"lastTransitionTime", "2026-11-30T10:41:00Z"}}})}};
  const Written file(document.dump());
  Options options{.from = {file.path()}, .job = "rl/waits"};
  const Outcome table = run(run_plan, options);
  EXPECT_EQ(table.code, kExitFindings);
  EXPECT_TRUE(table.out.starts_with("VerlJob rl/waits: has ended: ")) << table.out;
  EXPECT_NE(table.out.find("delete it first, or take another name"), std::string::npos) << table.out;
  options.format = report::Format::Json;
  const json answer = json::parse(run(run_plan, options).out);
  EXPECT_EQ(answer["fits"], false);
  EXPECT_EQ(answer["ended"], true);
  EXPECT_EQ(answer["placedBefore"], false);
  EXPECT_EQ(answer["placement"], nullptr);
  EXPECT_EQ(run(run_explain, options).code, kExitWell);
}

TEST(Files, AreNotWrittenThroughALinkOfSomebodyElse) {
  const Written target("untouched");
  const std::string path = target.path() + "-snapshot";
  std::filesystem::create_symlink(target.path(), path + ".unfinished");
  const auto written = write_whole(path, "text");
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_EQ(read(target.path()), "untouched");
  EXPECT_EQ(read(path), "text");
  EXPECT_FALSE(std::filesystem::is_symlink(path));
  EXPECT_FALSE(std::filesystem::exists(path + ".unfinished"));
  std::filesystem::remove(path);
}

struct Folder {  // for one test
  Folder() { std::filesystem::create_directory(path = std::filesystem::temp_directory_path() / ("verl-cli-files-" + std::to_string(::getpid()))); }
  ~Folder() { std::filesystem::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string at(const char* name) const { return (path / name).string(); }
  std::filesystem::path path{};
};

TEST(Files, OfAnotherKindAreWrittenToAndNeverReplaced) {
  const Folder folder;
  const std::string pipe = folder.at("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::filesystem::create_symlink("pipe", folder.at("link"));
  for (const char* name : {"pipe", "link"}) {
    const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
    ASSERT_GE(reader, 0);
    const auto written = write_whole(folder.at(name), "text");
    ASSERT_TRUE(written) << written.error().message;
    char got[8] = {};
    EXPECT_EQ(::read(reader, got, sizeof got), 4) << name;
    EXPECT_STREQ(got, "text");
    ::close(reader);
    EXPECT_TRUE(std::filesystem::is_fifo(pipe)) << name;
  }
  EXPECT_TRUE(std::filesystem::is_symlink(folder.at("link")));
}

TEST(Files, ThroughALinkReplaceWhatItLeadsTo) {
  const Folder folder;
  std::filesystem::create_directory(folder.at("deep"));
  std::ofstream(folder.at("deep/file")) << "a longer text than the new one";
  std::filesystem::create_symlink("deep/file", folder.at("link"));
  std::filesystem::create_symlink("link", folder.at("link-to-link"));
  std::filesystem::create_symlink("deep/new", folder.at("dangling"));
  ASSERT_TRUE(write_whole(folder.at("link-to-link"), "text"));
  ASSERT_TRUE(write_whole(folder.at("dangling"), "fresh"));
  EXPECT_EQ(read(folder.at("deep/file")), "text");
  EXPECT_EQ(read(folder.at("deep/new")), "fresh");
  for (const char* name : {"link", "link-to-link", "dangling"}) EXPECT_TRUE(std::filesystem::is_symlink(folder.at(name))) << name;
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.at("deep")), std::filesystem::directory_iterator{}), 2);
}

TEST(Files, ThatCannotBeWrittenSayWhy) {
  const Folder folder;
  const std::vector<std::pair<std::string, std::string>> cases{{folder.at(""), "is a directory"}, {folder.at("no/where"), "No such file"}};
  for (const auto& one : cases) {
    const auto written = write_whole(one.first, "text");
    ASSERT_FALSE(written) << one.first;
    EXPECT_NE(written.error().message.find(one.second), std::string::npos) << written.error().message;
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path));
}

TEST(PlanCommand, NamesTheNamespaceOfAJobThatLiesElsewhere) {
  Options options = twelve();
  options.job = "waits";
  const Outcome outcome = run(run_plan, options);
  EXPECT_EQ(outcome.code, kExitNoReport);
  EXPECT_EQ(outcome.err, "kubectl-verl: finding the job: there is no VerlJob waits in namespace default; there is one in rl: use -n\n");
}

TEST(ExplainCommand, PrintsEveryNodesReason) {
  json document = twelve_json();
  json& job = item(document, "VerlJob", "waits");
  job["spec"]["pools"][0]["nodes"] = 5;
  job["status"] = {{"phase", "Recovering"},
                   {"ready", "0/5"},
                   {"conditions", json::array({{{"type", "Ready"}, {"status", "False"}, {"reason", "ShortOfNodesInRack"}, {"message", "needs 5"}, {"lastTransitionTime", "2026-11-30T10:40:00Z"}}})},
                   {"attempts", {{"started", 1}, {"infrastructureRestarts", 1}, {"lastReason", "NodeLost"}, {"lastMessage", "node n03 \u001b[2J"}}},
                   {"rejectedNodes", json::array({{{"node", "n03"}, {"reason", "NodeLost"}, {"times", 1}, {"until", "2026-11-30T10:43:00Z"}}})}};
  const Written file(document.dump());
  Options options{.from = {file.path()}, .job = "rl/waits"};
  const Outcome outcome = run(run_explain, options);
  EXPECT_EQ(outcome.out, golden("explain.txt", outcome.out));
  EXPECT_EQ(outcome.code, kExitWell);
  options.format = report::Format::Json;
  EXPECT_EQ(json::parse(run(run_explain, options).out)["rejectedNodes"].size(), 1U);
}

TEST(ExplainCommand, HasWordsForAJobWithoutStatusOrPools) {
  json document = twelve_json();
  item(document, "VerlJob", "waits")["spec"] = json::object();
  const Written file(document.dump());
  const Outcome outcome = run(run_explain, {.from = {file.path()}, .job = "rl/waits"});
  EXPECT_EQ(outcome.code, kExitWell);
  EXPECT_TRUE(outcome.out.starts_with("VerlJob rl/waits: NotDecided")) << outcome.out;
  EXPECT_NE(outcome.out.find("it is not placed: InvalidSpec"), std::string::npos) << outcome.out;
}

json condition(const char* type, const char* status, const std::string& reason, const std::string& message, const char* since) {
  return {{"type", type}, {"status", status}, {"reason", reason}, {"message", message}, {"lastTransitionTime", since}};
}

TEST(ExplainCommand, OpensWithTheJobsOwnWordsAndNotWithThePlan) {
  json document = twelve_json();
  json& job = item(document, "VerlJob", "waits");
  job["metadata"]["generation"] = 2;
  job["status"] = {{"phase", "Queued"},
                   {"reason", "PodRefused"},
                   {"observedGeneration", 2},
                   {"conditions", json::array({condition("Ready", "False", "PodRefused", "pool main: exceeded", "2026-11-30T09:00:00Z")})},
                   {"rejectedNodes", json::array({{{"node", "n10"}, {"reason", "NodeLost"}, {"times", 1}, {"until", "2026-11-30T10:42:07Z"}},
                                                  {{"node", "n11"}, {"reason", "NodeLost"}, {"times", 2}, {"until", "2026-11-30T10:42:08Z"}}})}};
  const Written file(document.dump());
  Options options{.from = {file.path()}, .job = "rl/waits"};
  const std::string table = run(run_explain, options).out;
  EXPECT_TRUE(table.starts_with("VerlJob rl/waits: Queued: PodRefused\n  pool main: exceeded\n\nwhat would be decided now\n  it has nodes, but its pods are not taken, for the same reason\n")) << table;
  EXPECT_NE(table.find("  Ready            False   since 2026-11-30T09:00:00Z\n"), std::string::npos) << table;
  EXPECT_NE(table.find("n11  NodeLost, 2 times"), std::string::npos) << table;
  EXPECT_EQ(table.find("n10  NodeLost"), std::string::npos) << table;  // its time ran out
  EXPECT_EQ(table.find("exceeded"), table.rfind("exceeded")) << table;
  options.format = report::Format::Json;
  const json answer = json::parse(run(run_explain, options).out);
  EXPECT_EQ(answer["reason"], "PodRefused");
  EXPECT_EQ(answer["plan"]["fits"], false);
  EXPECT_EQ(answer["rejectedNodes"].size(), 1U);

  const Outcome plan = run(run_plan, {.from = {file.path()}, .job = "rl/waits"});
  EXPECT_EQ(plan.code, kExitFindings) << plan.out;
  EXPECT_TRUE(plan.out.starts_with("VerlJob rl/waits: has nodes, but its pods are not taken: PodRefused\n  pool main: exceeded\n")) << plan.out;
  // A corrected spec has not been refused.
  job["metadata"]["generation"] = 3;
  const Written corrected(document.dump());
  EXPECT_EQ(run(run_plan, {.from = {corrected.path()}, .job = "rl/waits"}).code, kExitWell);
  EXPECT_NE(run(run_explain, {.from = {corrected.path()}, .job = "rl/waits"}).out.find("has not looked at the latest change"), std::string::npos);
}

TEST(PlanCommand, NamesAPathThatSeveralPoliciesAllowOnce) {
  json document = twelve_json();
  item(document, "VerlJob", "waits")["spec"]["pools"][0]["template"] = {{"spec", {{"volumes", json::array({{{"name", "v"}, {"hostPath", {{"path", "/etc"}}}}})}}}};
  json& policy = item(document, "ReadinessPolicy", "on-prem");
  policy["spec"]["allowedHostPaths"] = {"/data"};
  json other = policy;
  other["metadata"]["name"] = "other";
  other["metadata"]["uid"] = "other";
  other["spec"]["priority"] = -1;
  document["items"].push_back(other);
  const Written file(document.dump());
  const Outcome outcome = run(run_plan, {.from = {file.path()}, .job = "rl/waits"});
  EXPECT_NE(outcome.out.find("/etc is not below one of the policy's allowed paths: /data\n"), std::string::npos) << outcome.out << outcome.err;
}

TEST(ExplainCommand, CallsARecoveringJobRecovering) {
  json document = twelve_json();
  const std::string message = "1 pod of an earlier attempt is still there";
  item(document, "VerlJob", "waits")["status"] = {
      {"phase", "Recovering"}, {"reason", "WaitingForPodsToEnd"}, {"conditions", json::array({condition("Ready", "False", "WaitingForPodsToEnd", message, "2026-11-30T09:00:00Z")})}};
  const Written file(document.dump());
  const std::string out = run(run_explain, {.from = {file.path()}, .job = "rl/waits"}).out;
  EXPECT_TRUE(out.starts_with("VerlJob rl/waits: Recovering: WaitingForPodsToEnd\n  " + message + "\n")) << out;
}

struct HostileCase {
  std::string name{};
  std::string text{};
  std::string says{};  // in the error
};

TEST(Exports, AreRefusedWithAReasonWhenTheyCannotBeRight) {
  json twice = twelve_json();
  twice["items"].push_back(twice["items"][0]);
  json ports = twelve_json();
  ports["config"]["ports"] = {{"first", 99999999999}, {"last", -1}};
  json heartbeat = twelve_json();
  heartbeat["config"]["heartbeat"] = {{"idleSeconds", 9223372036854775807}};
  json timeless = twelve_json();
  timeless.erase("serverTime");
  const std::vector<HostileCase> cases{{"empty", "", "no JSON object"},
                                       {"a list", "[]", "no JSON object"},
                                       {"cut off", twelve_json().dump().substr(0, 5000), "no JSON object"},
                                       {"deep", std::string(5'000'000, '['), "nested more than 64"},
                                       {"deep in an item", "{\"items\":[{\"kind\":\"Pod\",\"x\":" + std::string(100000, '[') + "]}", "nested more than 64"},
                                       {"the same node twice", twice.dump(), "the same object twice: Node n00"},
                                       {"ports out of range", ports.dump(), "config.ports.first: must be a whole number from 1024 to 32767"},
                                       {"a heartbeat without end", heartbeat.dump(), "config.heartbeat.idleSeconds"},
                                       {"without a time", timeless.dump(), "names no serverTime"}};
  for (const HostileCase& one : cases) {
    const Written file(one.text);
    const Outcome outcome = run(run_report, {.from = {file.path()}});
    EXPECT_EQ(outcome.code, kExitNoReport) << one.name;
    EXPECT_NE(outcome.err.find(one.says), std::string::npos) << one.name << ": " << outcome.err.substr(0, 400);
  }
}

// Whatever stands in a field, no command crashes, and none says that all is well.
TEST(Exports, OfAnyShapeCrashNothing) {
  const json values = json::array({nullptr, true, -1, 1e300, "", "\u001b[2J\u202e", json::array({1}), json::object({{"a", 1}}), std::string(5000, 'x')});
  const json good = twelve_json();
  const std::vector<std::string> places{"/items/0",       "/items/0/kind",   "/items/0/metadata",        "/items/0/metadata/name",        "/items/0/metadata/labels",
                                        "/items/0/status", "/items/0/status/allocatable", "/items/0/status/allocatable/nvidia.com~1gpu", "/items/0/status/nodeInfo/bootID", "/items/12/status",
                                        "/items/12/status/findings", "/items/12/status/findings/0", "/items/12/spec", "/items/12/spec/policyGeneration", "/items",
                                        "/config", "/config/levels", "/config/levels/0", "/config/namespace", "/serverTime"};
  for (const std::string& place : places) {
    for (const json& value : values) {
      json document = good;
      document[json::json_pointer(place)] = value;
      const Written file(document.dump());
      EXPECT_NE(run(run_report, {.from = {file.path()}}).code, kExitWell) << place << " " << value;
      const int plan = run(run_plan, {.from = {file.path()}, .job = "rl/waits"}).code;
      EXPECT_TRUE(plan == kExitWell || plan == kExitFindings || plan == kExitNoReport);
    }
  }
}

TEST(Exports, OfJobsOfAnyShapeCrashNothing) {
  const json values = json::array({nullptr, 2147483647, -5, "", json::array({1}), json::object({{"a", 1}}), "x\u001b"});
  json good = twelve_json();
  size_t at = 0;
  while (good["items"][at]["kind"] != "VerlJob") ++at;
  good["items"][at]["status"] = {{"placement", {{"attempt", 1}, {"ranks", json::array({{{"rank", 0}, {"node", "n00"}}})}}}, {"conditions", json::array({{{"type", "Ready"}}})}};
  const std::string root = "/items/" + std::to_string(at);
  for (const char* place : {"/spec", "/spec/pools", "/spec/pools/0/nodes", "/spec/pools/0/gpusPerNode", "/spec/topology", "/spec/topology/level", "/status/placement", "/status/placement/ranks",
                            "/status/placement/ranks/0/node", "/status/conditions", "/status/rejectedNodes", "/status/attempts", "/metadata/uid", "/metadata/creationTimestamp"}) {
    for (const json& value : values) {
      json document = good;
      document[json::json_pointer(root + place)] = value;
      const Written file(document.dump());
      const Outcome outcome = run(run_explain, {.from = {file.path()}, .job = "rl/waits"});
      EXPECT_TRUE(outcome.code == kExitWell || outcome.code == kExitNoReport) << place << " " << value;
      EXPECT_EQ(outcome.out.find('\x1b'), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace verl::cli
