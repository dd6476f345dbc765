// The program itself, over made-up and recorded host trees, judged by the presets that the chart ships.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/unit/host/scratch.h"

namespace verl {
namespace {

using host::Scratch;

struct Ran {
  int code{-1};
  std::string out{};
};

Ran run(const std::string& command) {
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return {};
  Ran ran;
  std::array<char, 4096> piece{};
  for (size_t got = 0; (got = std::fread(piece.data(), 1, piece.size(), pipe)) > 0;) ran.out.append(piece.data(), got);
  const int status = ::pclose(pipe);
  ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return ran;
}

std::string agent() { return std::string(std::getenv("VERL_BIN") == nullptr ? "build/bin" : std::getenv("VERL_BIN")) + "/verl-node-agent "; }

const char* const kPreset = " --policy helm/verl-operator/files/presets/h100-roce.yaml";

std::vector<std::string> complaints(const std::string& json) {
  std::vector<std::string> out;
  const auto report = nlohmann::json::parse(json, nullptr, false);
  if (!report.is_object()) return {"no JSON: " + json.substr(0, 200)};
  for (const auto& finding : report["findings"]) {
    if (finding["verdict"] == "Pass" || finding["verdict"] == "Skipped") continue;
    out.push_back(finding["check"].get<std::string>() + " " + finding.value("subject", "") + " " + finding["verdict"].get<std::string>());
  }
  return out;
}

TEST(Program, JudgesHostTreesByAPreset) {
  struct Row {
    const char* options;
    int code;
    std::vector<std::string> wanted;
  };
  const Row rows[] = {
      {"", 0, {}},
      {"--mtu-of ens3f0=1500", 79, {"mtu-interface ens3f0 Fail", "mtu-roce-active mlx5_3/1 Fail"}},
      {"--clock unsynchronised", 79, {"clock-sync clock Fail", "clock-error clock Unknown"}},
      {"--clock lost", 79, {"clock-sync clock Fail", "clock-error clock Unknown"}},
      {"--clock local", 79, {"clock-sync clock Fail", "clock-error clock Unknown"}},
      {"--clock absent", 79, {"clock-sync clock Unknown", "clock-error clock Unknown"}},
      {"--clock-offset 0.2", 79, {"clock-error clock Fail"}},
      {"--gpus 7", 79, {"gpu-count  Fail"}},
      {"--rails 7", 79, {"rdma-device-count  Fail"}},
      {"--port-state mlx5_2=DOWN", 79, {"rdma-port-state mlx5_2/1 Fail", "rdma-port-rate mlx5_2/1 Unknown"}},
      {"--gbps 200", 79, {"link-speed ens0f0 Fail", "link-speed ens1f0 Fail", "link-speed ens2f0 Fail", "link-speed ens3f0 Fail", "link-speed ens4f0 Fail",
                          "link-speed ens5f0 Fail", "link-speed ens6f0 Fail", "link-speed ens7f0 Fail", "rdma-port-rate mlx5_0/1 Fail",
                          "rdma-port-rate mlx5_1/1 Fail", "rdma-port-rate mlx5_2/1 Fail", "rdma-port-rate mlx5_3/1 Fail", "rdma-port-rate mlx5_4/1 Fail",
                          "rdma-port-rate mlx5_5/1 Fail", "rdma-port-rate mlx5_6/1 Fail", "rdma-port-rate mlx5_7/1 Fail"}},
      {"--nccl NCCL_ALGO=Ring", 0, {"nccl-env /etc/nccl.conf Warn"}},
      {"--nccl NCCL_IB_DISABLE=1", 79, {"nccl-env /etc/nccl.conf Warn", "nccl-env /etc/nccl.conf Fail"}},
  };
  for (const Row& row : rows) {
    const Scratch scratch;
    const Ran made = run("python3 tests/agent/make-host-tree " + scratch.path("/tree") + " " + row.options);
    ASSERT_EQ(made.code, 0) << row.options;
    const Ran ran = run(agent() + "check -o json --root " + scratch.path("/tree") + kPreset);
    EXPECT_EQ(complaints(ran.out), row.wanted) << row.options;
    EXPECT_EQ(ran.code, row.code) << row.options;
  }
}

TEST(Program, RecordedMachineJudgesAsItself) {
  const Scratch scratch;
  const Ran recorded = run(agent() + "record " + scratch.path("/tree") + " 2>/dev/null");
  ASSERT_EQ(recorded.code, 0);
  const auto strip = [](const std::string& text) {
    auto json = nlohmann::json::parse(text, nullptr, false);
    if (json.is_object()) json["status"].erase("observedAt");
    return json;
  };
  for (const char* policy : {"", kPreset}) {
    const Ran live = run(agent() + "check -o json" + policy);
    const Ran tree = run(agent() + "check -o json --root " + scratch.path("/tree") + policy);
    EXPECT_EQ(strip(live.out), strip(tree.out)) << policy;
    EXPECT_EQ(live.code, tree.code);
    EXPECT_NE(strip(live.out)["status"]["topology"]["cpus"], 0);
  }
}

TEST(Program, RecordingOfARecordingIsTheSame) {
  const Scratch scratch;
  ASSERT_EQ(run("python3 tests/agent/make-host-tree " + scratch.path("/one") + " --nccl NCCL_ALGO=Tree").code, 0);
  ASSERT_EQ(run(agent() + "record --root " + scratch.path("/one") + " " + scratch.path("/two") + " 2>/dev/null").code, 0);
  const Ran one = run(agent() + "check -o json --root " + scratch.path("/one") + kPreset);
  const Ran two = run(agent() + "check -o json --root " + scratch.path("/two") + kPreset);
  EXPECT_EQ(one.out, two.out);
  EXPECT_EQ(two.code, 0);
}

TEST(Program, WrongUsageIs64AndNoReportIs1) {
  for (const char* arguments : {"", "nonsense", "check --output xml", "check --fail-on never", "check --fail-on unknown", "record", "run --node-name n1"}) {
    EXPECT_EQ(run(agent() + arguments + " >/dev/null 2>&1").code, 64) << arguments;
  }
  for (const char* arguments : {"check --root /nowhere", "check --policy /nowhere.yaml", "check --policy README.md", "check -o json >/dev/full"}) {
    EXPECT_EQ(run(agent() + arguments + " 2>/dev/null" + (std::string(arguments).find('>') == std::string::npos ? " >/dev/null" : "")).code, 1) << arguments;
  }
  EXPECT_EQ(run(agent() + "version").code, 0);
  EXPECT_EQ(run(agent() + "--help").code, 0);
}

TEST(Program, ListsItsChecks) {
  const Ran ran = run(agent() + "checks");
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.out.rfind("link-state ", 0), 0u);
  EXPECT_EQ(std::count(ran.out.begin(), ran.out.end(), '\n'), 15);
}

TEST(Program, YamlAndTableAreComplete) {
  const Scratch scratch;
  ASSERT_EQ(run("python3 tests/agent/make-host-tree " + scratch.path("/tree") + " --mtu-of ens3f0=1500").code, 0);
  const std::string check = agent() + "check --root " + scratch.path("/tree") + kPreset;
  const Ran yaml = run(check + " -o yaml");
  const Ran json = run(check + " -o json");
  const Ran same = run(check + " -o yaml | python3 -c 'import json, sys, yaml; print(json.dumps(yaml.safe_load(sys.stdin)))'");
  EXPECT_EQ(nlohmann::json::parse(same.out, nullptr, false), nlohmann::json::parse(json.out, nullptr, false)) << yaml.out;
  const Ran table = run(check);
  EXPECT_NE(table.out.find("ens3f0 1500, wants >= 9000"), std::string::npos) << table.out;
  EXPECT_NE(table.out.find("fix: ip link set ens3f0 mtu 9000"), std::string::npos);
  EXPECT_EQ(table.code, 79);
}

}  // namespace
}  // namespace verl
