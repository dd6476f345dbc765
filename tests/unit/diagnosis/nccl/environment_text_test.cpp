#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "diagnosis/diagnose.h"
#include "diagnosis/nccl/shell_words.h"

namespace verl::nccl {
namespace {

using diagnosis::ReadDocument;
using testing::ElementsAre;
using testing::IsEmpty;

ReadDocument read(std::string_view text, std::string_view format = "") { return diagnosis::read_document("doc", "", text, format, {}); }

std::vector<std::string> settings(const ReadDocument& document, const std::string& node = "") {
  std::vector<std::string> found;
  for (const auto& [name, facts] : document.reading.nodes) {
    if (name != node) continue;
    for (const Environment& environment : facts.nccl.environments) {
      for (const SettingAt& at : environment.settings) found.push_back(std::to_string(at.line) + ":" + at.setting.name + "=" + at.setting.value);
    }
  }
  return found;
}

EnvironmentKind kind(const ReadDocument& document) { return document.reading.nodes.at(0).second.nccl.environments.at(0).kind; }

TEST(NcclEnvironmentText, KeepsQuotesOfAnEnvFile) {
  const auto document = read("# job\n\nNCCL_IB_HCA=\"mlx5_0\"\nGLOO_SOCKET_IFNAME=eth0\n");
  EXPECT_EQ(document.format, "environment");
  EXPECT_THAT(settings(document), ElementsAre("3:NCCL_IB_HCA=\"mlx5_0\"", "4:GLOO_SOCKET_IFNAME=eth0"));
  EXPECT_EQ(kind(document), EnvironmentKind::EnvFile);
}

TEST(NcclEnvironmentText, KnowsAValueWithBlanksFromACommand) {
  const auto document = read("NCCL_NET=AWS Libfabric\nNCCL_IB_HCA=\"mlx5_0, mlx5_1\"\n");
  EXPECT_THAT(settings(document), ElementsAre("1:NCCL_NET=AWS Libfabric", "2:NCCL_IB_HCA=\"mlx5_0, mlx5_1\""));
  EXPECT_THAT(settings(read("NCCL_DEBUG='INFO' python3 train.py --x=1\n")), ElementsAre("1:NCCL_DEBUG=INFO"));
}

TEST(NcclEnvironmentText, NeverKeepsASecret) {
  const std::string text = "PATH=/bin\nHOME=/root\nHF_TOKEN=hf_secret\nKEY=-----BEGIN\nsecretline\n-----END\nNCCL_DEBUG=WARN\n";
  const auto document = read(text);
  EXPECT_EQ(kind(document), EnvironmentKind::Process);
  EXPECT_THAT(settings(document), ElementsAre("2:HOME=/root", "7:NCCL_DEBUG=WARN"));
  std::string all;
  for (const auto& value : document.reading.values) {
    if (const auto* one = std::get_if<std::string>(&value.value)) all += value.name + *one;
  }
  for (const auto& line : document.reading.unread) all += line.text + line.why;
  for (const auto& part : document.reading.skipped) all += part;
  EXPECT_EQ(all.find("secret"), std::string::npos) << all;
  EXPECT_EQ(document.reading.unread.size(), 2u);
}

TEST(NcclEnvironmentText, ReadsProcEnviron) {
  const std::string text("PATH=/bin\0NCCL_SOCKET_IFNAME=eth0\0NCCL_DEBUG=INFO\0", 50);
  const auto document = read(text);
  EXPECT_EQ(document.format, "environment");
  EXPECT_EQ(kind(document), EnvironmentKind::Process);
  EXPECT_THAT(settings(document), ElementsAre("2:NCCL_SOCKET_IFNAME=eth0", "3:NCCL_DEBUG=INFO"));
}

TEST(NcclEnvironmentText, TakesQuotesOffWhatAShellReads) {
  const auto document = read("#!/bin/bash\nset -e\nexport NCCL_IB_HCA=\"=mlx5_0,mlx5_1\"  # rails\nNCCL_DEBUG='WARN'\ntorchrun train.py\n");
  EXPECT_EQ(document.format, "environment");
  EXPECT_THAT(settings(document), ElementsAre("3:NCCL_IB_HCA==mlx5_0,mlx5_1", "4:NCCL_DEBUG=WARN"));
  EXPECT_THAT(document.reading.unread, IsEmpty());
}

TEST(NcclEnvironmentText, ReadsCommandLines) {
  const auto document = read("NCCL_DEBUG=INFO mpirun -np 4 \\\n  -x NCCL_IB_HCA==mlx5_0 -x LD_LIBRARY_PATH -x NCCL_SOCKET_IFNAME -genv NCCL_ALGO Ring \\\n"
                             "  -x NCCL_NET_PLUGIN=a\\,b ./all_reduce_perf -e 1G\n");
  EXPECT_EQ(document.format, "environment");
  EXPECT_THAT(settings(document), ElementsAre("1:NCCL_DEBUG=INFO", "1:NCCL_IB_HCA==mlx5_0", "1:NCCL_ALGO=Ring", "1:NCCL_NET_PLUGIN=a,b"));
  ASSERT_EQ(document.reading.unread.size(), 1u);
  EXPECT_EQ(document.reading.unread[0].text, "NCCL_SOCKET_IFNAME");
}

TEST(NcclEnvironmentText, ReadsSeveralNodesFromPdsh) {
  const auto document = read("gpu-1: NCCL_ALGO=Ring\ngpu-2: NCCL_ALGO=Tree\ngpu-2: NCCL_DEBUG=WARN\n");
  EXPECT_EQ(document.format, "environment");
  EXPECT_THAT(settings(document, "gpu-1"), ElementsAre("1:NCCL_ALGO=Ring"));
  EXPECT_THAT(settings(document, "gpu-2"), ElementsAre("2:NCCL_ALGO=Tree", "3:NCCL_DEBUG=WARN"));
}

TEST(NcclConfText, IsToldFromAnEnvFileByItsComments) {
  const auto document = read("# for all pods\nNCCL_ALGO = Ring\nnonsense\nNCCL_SOCKET_IFNAME==eth0\n", "nccl-conf");
  EXPECT_THAT(settings(document), ElementsAre("2:NCCL_ALGO = Ring", "4:NCCL_SOCKET_IFNAME==eth0"));
  EXPECT_EQ(kind(document), EnvironmentKind::Conf);
  ASSERT_EQ(document.reading.unread.size(), 1u);
  EXPECT_EQ(document.reading.unread[0].line, 3);
  EXPECT_EQ(read("# for all pods\nNCCL_ALGO=Ring\n").format, "nccl-conf");
  EXPECT_EQ(read("# for all pods\nexport NCCL_ALGO=Ring\n").format, "environment");
}

TEST(NcclEnvironmentText, LeavesOtherTextsAlone) {
  for (const char* text : {"", "hello world\n", "gpu-a:1:2 [0] NCCL INFO NCCL_DEBUG set by environment to INFO\n", "Timezone=UTC\nLocalRTC=no\n",
                           "apiVersion: v1\nkind: Pod\n", "{\"NCCL_DEBUG\": \"INFO\"}\n"}) {
    const std::string format = read(text).format;
    EXPECT_TRUE(format != "environment" && format != "nccl-conf") << text << format;
  }
}

TEST(NcclShellWords, AreThoseOfAShell) {
  const auto words = shell_words("A='x y' \"b\\\"c\" d\\ e; f$G # h");
  std::vector<std::string> texts;
  for (const ShellWord& one : words) texts.push_back(one.text);
  EXPECT_THAT(texts, ElementsAre("A=x y", "b\"c", "d e", ";", "f$G"));
  EXPECT_TRUE(words.back().expands);
  EXPECT_THAT(shell_settings("srun --export=ALL,NCCL_DEBUG=WARN docker run -e NCCL_ALGO=Ring -e NCCL_PROTO=$P env_vars.NCCL_NET=IB"),
              ElementsAre(ShellSetting{"NCCL_DEBUG", "WARN"}, ShellSetting{"NCCL_ALGO", "Ring"}, ShellSetting{"NCCL_PROTO", std::nullopt}, ShellSetting{"NCCL_NET", "IB"}));
}

}  // namespace
}  // namespace verl::nccl
