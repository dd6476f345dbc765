// NCCL and Gloo environments: what one environment says of itself, and the same on several nodes.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>

#include "base/text.h"
#include "diagnosis/nccl/settings.h"
#include "tests/corpus/harness.h"

namespace verl::corpus {
namespace {

using diagnosis::Finding;
using diagnosis::NodeFacts;
using diagnosis::ReadDocument;
using diagnosis::Severity;

bool mentions(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

bool names(const Finding& finding, const std::string& node) { return std::find(finding.nodes.begin(), finding.nodes.end(), node) != finding.nodes.end(); }

// Findings on that variable at or above the severity, of any rule.
std::vector<std::string> about(const Outcome& outcome, std::string_view subject, Severity least) {
  std::vector<std::string> found;
  for (const Finding& one : outcome.diagnosis.findings) {
    if (one.subject == subject && one.severity >= least) found.push_back(one.id);
  }
  return found;
}

// A node of which only the loaded library is known.
ReadDocument loaded(const std::string& node, const std::string& version) {
  ReadDocument document;
  document.name = node + "/versions";
  document.node = node;
  document.format = "nccl-log";
  own_node(document.reading).nccl.loaded_version = version;
  return document;
}

ReadDocument with_environment(nccl::Setting setting) {
  ReadDocument document;
  document.name = "values";
  document.format = "environment";
  nccl::SettingAt at;
  at.setting = std::move(setting);
  auto& environments = own_node(document.reading).nccl.environments;
  environments.emplace_back().settings.push_back(at);
  environments.front().kind = nccl::EnvironmentKind::EnvFile;
  return document;
}

}  // namespace

CORPUS(a02, {{"ens10f0", "enq77g3"}, {"eth2", "nic7"}, {"node-a", "host-x"}, {"node-b", "host-y"}}) {
  const std::string a = c.as("node-a");
  const std::string b = c.as("node-b");
  const auto differ = c.diagnose({{.node = "node-a", .file = "a-nccl-env/a02-node-a.env"}, {.node = "node-b", .file = "a-nccl-env/a02-node-b.env"}});
  EXPECT_EQ(differ.text(0, "NCCL_SOCKET_IFNAME"), c.as("ens10f0"));
  EXPECT_EQ(differ.text(1, "NCCL_SOCKET_IFNAME"), c.as("eth2"));
  EXPECT_THAT(differ.at_least(Severity::Warning), testing::IsEmpty());

  const auto common = c.diagnose({{.node = "node-a", .file = "a-nccl-env/a02-common-list.env"}, {.node = "node-b", .file = "a-nccl-env/a02-common-list.env"}});
  EXPECT_EQ(common.text(0, "NCCL_SOCKET_IFNAME"), c.as("ens10f0,eth2"));
  EXPECT_THAT(common.at_least(Severity::Warning), testing::IsEmpty());
  for (const char* name : {"NCCL_SOCKET_IFNAME", "NCCL_IB_HCA", "NCCL_IB_GID_INDEX", "NCCL_TOPO_FILE"}) EXPECT_EQ(nccl::match_of(name), nccl::Match::PerNode) << name;

  const auto bad = c.diagnose({{.file = "a-nccl-env/a02-bad-lo.env"}});
  EXPECT_EQ(bad.text(0, "NCCL_SOCKET_IFNAME"), "lo");
  EXPECT_EQ(bad.finding("NCCL311", "NCCL_SOCKET_IFNAME").severity, Severity::Error);

  const std::string table = c.text("a-nccl-env/a02-versions.tsv");
  std::vector<ReadDocument> documents;
  for (const std::string_view line : split(table, '\n')) {
    const auto cells = split(line, '\t');
    if (cells.size() == 2 && cells[0] != "node") documents.push_back(loaded(std::string(cells[0]), std::string(cells[1])));
  }
  ASSERT_EQ(documents.size(), 2u);
  Outcome versions;
  versions.documents = documents;
  versions.diagnosis = diagnosis::diagnose(documents, {});
  const Finding finding = versions.finding("NCCL405");
  EXPECT_EQ(finding.severity, Severity::Error);
  EXPECT_TRUE(names(finding, a) && names(finding, b));
  const std::string said = finding.seen + finding.message;
  EXPECT_TRUE(mentions(said, "2.21.5") && mentions(said, "2.22.3")) << said;
}

CORPUS(a03, {{"veth", "calq"}}) {
  const auto forgotten = c.diagnose({{.file = "a-nccl-env/a03.env"}});
  EXPECT_EQ(forgotten.text(0, "NCCL_SOCKET_IFNAME"), c.as("^docker0,veth"));
  const Finding finding = forgotten.finding("NCCL312", "NCCL_SOCKET_IFNAME");
  EXPECT_EQ(finding.severity, Severity::Warning);
  EXPECT_TRUE(mentions(finding.message, "does not exclude lo")) << finding.message;
  EXPECT_EQ(finding.wanted, c.as("^lo,docker0,veth"));
  EXPECT_TRUE(mentions(finding.remedy, finding.wanted));

  const auto good = c.diagnose({{.file = "a-nccl-env/a03-ok.env"}});
  EXPECT_EQ(good.text(0, "NCCL_SOCKET_IFNAME"), c.as("^lo,docker,veth"));
  EXPECT_THAT(good.at_least(Severity::Warning), testing::IsEmpty());

  const auto unset = c.diagnose({{.file = "a-nccl-env/a03-unset.env"}});
  EXPECT_THAT(unset.at_least(Severity::Info), testing::IsEmpty());  // the default filter skips lo
}

CORPUS(a06, {{"rocep65s0f0", "rocep77s4f1"}, {"rocep66s0f0", "rocep78s4f1"}}) {
  const auto head = c.diagnose({{.file = "a-nccl-env/a06-head.env"}});
  EXPECT_EQ(head.text(0, "NCCL_IB_GID_INDEX"), "3,3");
  EXPECT_EQ(head.number(0, "NCCL_IB_GID_INDEX.used"), 3);
  const Finding list = head.finding("NCCL001", "NCCL_IB_GID_INDEX");
  EXPECT_EQ(list.severity, Severity::Error);
  EXPECT_TRUE(mentions(list.message, "is not an integer") && mentions(list.message, "uses 3 for every HCA")) << list.message;
  EXPECT_THAT(head.at_least(Severity::Error), testing::ElementsAre("NCCL001 NCCL_IB_GID_INDEX"));

  const auto worker = c.diagnose({{.file = "a-nccl-env/a06-worker.env"}});
  EXPECT_EQ(worker.number(0, "NCCL_IB_GID_INDEX.used"), 0);
  const Finding quoted = worker.finding("NCCL002", "NCCL_IB_GID_INDEX");
  EXPECT_EQ(quoted.severity, Severity::Error);
  EXPECT_TRUE(mentions(quoted.message, "quotes") && mentions(quoted.message, "uses 0")) << quoted.message;

  const std::string table = c.text("a-nccl-env/a06-values.tsv");
  int rows = 0;
  for (const std::string_view line : split(table, '\n')) {
    const auto cells = split(line, '\t');
    if (cells.size() != 2 || cells[0] == "value_json") continue;
    ++rows;
    const std::string value = nlohmann::json::parse(cells[0]).get<std::string>();
    const auto found = diagnosis::diagnose({with_environment({"NCCL_IB_GID_INDEX", value})}, {}).findings;
    const auto grave = std::find_if(found.begin(), found.end(), [](const Finding& one) { return one.subject == "NCCL_IB_GID_INDEX" && one.id < "NCCL006"; });
    const std::string used(cells[1]);
    const auto plain = parse_int(value.substr(value.starts_with('+') ? 1 : 0));
    const bool octal_or_hex = value == "010" || value == "0x10";  // 8 and 16
    if (octal_or_hex) {
      ASSERT_NE(grave, found.end()) << value;
      EXPECT_LT(grave->severity, Severity::Error);
      EXPECT_EQ(grave->wanted, used);
      EXPECT_TRUE(mentions(grave->message, value == "010" ? "8" : "16"));
    } else if (value == "08") {
      ASSERT_NE(grave, found.end());
      EXPECT_TRUE(mentions(grave->message, "uses 0")) << grave->message;
    } else if (value.empty() || value == " 3" || plain) {
      if (used == "default" && !value.empty()) {
        ASSERT_NE(grave, found.end()) << value;
        EXPECT_TRUE(mentions(grave->message, "the default")) << grave->message;
      } else {
        EXPECT_EQ(grave, found.end()) << value;
      }
    } else {
      ASSERT_NE(grave, found.end()) << value;
      EXPECT_TRUE(mentions(grave->message, used == "default" ? "uses the default" : "uses " + used)) << value << ": " << grave->message;
    }
  }
  EXPECT_EQ(rows, 18);
}

CORPUS(a08, {{"eni", "wxq"}}) {
  const auto outcome = c.diagnose({{.file = "a-nccl-env/a08.env"}});
  EXPECT_EQ(outcome.text(0, "NCCL_SOCKET_IFNAME"), c.as("^lo,docker,eni,pod"));
  EXPECT_THAT(about(outcome, "NCCL_SOCKET_IFNAME", Severity::Warning), testing::IsEmpty());
  const Finding finding = outcome.finding("NCCL511", "GLOO_SOCKET_IFNAME");
  EXPECT_EQ(finding.severity, Severity::Error);
  EXPECT_TRUE(mentions(finding.message, "\"^\"") && mentions(finding.message, "only concrete interface names of the node") &&
              mentions(finding.message, "commas"))
      << finding.message;
  EXPECT_THAT(outcome.at_least(Severity::Warning), testing::ElementsAre("NCCL511 GLOO_SOCKET_IFNAME"));
  for (const char* list : {"=eth0", "eth0,=eth1"}) {  // "^" and "=" are not supported there
    const auto found = diagnosis::diagnose({with_environment({"GLOO_SOCKET_IFNAME", list})}, {}).findings;
    EXPECT_TRUE(std::any_of(found.begin(), found.end(), [](const Finding& one) { return one.id == "NCCL511"; })) << list;
  }
  EXPECT_TRUE(diagnosis::diagnose({with_environment({"GLOO_SOCKET_IFNAME", "eth0,eth1"})}, {}).findings.empty());
}

CORPUS(a11, {{"mlx5", "hfi7"}, {"ens3f0", "enq9g1"}}) {
  const auto verl = c.diagnose({{.file = "a-nccl-env/a11-verl.env"}});
  EXPECT_THAT(verl.at_least(Severity::Warning), testing::IsEmpty());
  const Finding unread = verl.finding("NCCL103", "NCCL_DETERMINISTIC");
  EXPECT_EQ(unread.severity, Severity::Info);
  EXPECT_TRUE(mentions(unread.message, "does not read") && mentions(unread.message, "verl sets it")) << unread.message;
  EXPECT_EQ(verl.text(0, "NCCL_IBEXT_DISABLE.read_by"), "RDMA plugin");
  EXPECT_EQ(verl.text(0, "TORCH_NCCL_ASYNC_ERROR_HANDLING.read_by"), "PyTorch");
  EXPECT_EQ(verl.text(0, "TORCH_NCCL_AVOID_RECORD_STREAMS.read_by"), "PyTorch") << "TORCH_NCCL_*";
  EXPECT_EQ(verl.text(0, "NCCL_DETERMINISTIC.read_by"), "nobody");

  const auto typos = c.diagnose({{.file = "a-nccl-env/a11-typos.env"}});
  const std::vector<std::pair<const char*, const char*>> wanted{{"NCCL_SOCKET_IFNMAE", "NCCL_SOCKET_IFNAME"}, {"NCCL_IB_HCAS", "NCCL_IB_HCA"},
                                                                {"NCCL_IB_GID_IDNEX", "NCCL_IB_GID_INDEX"}};
  for (const auto& [wrong, right] : wanted) {
    const Finding finding = typos.finding("NCCL101", wrong);
    EXPECT_EQ(finding.severity, Severity::Error);
    EXPECT_EQ(finding.wanted, right);
  }
  EXPECT_EQ(typos.at_least(Severity::Warning).size(), 3u);
}

CORPUS(a12, {{"2.17.1-1", "2.16.1-1"}}) {
  for (const char* pod : {"a", "b", "c"}) {
    const auto alone = c.diagnose({{.file = std::string("a-nccl-env/a12-pod-") + pod + ".env"}});
    EXPECT_EQ(alone.text(0, "NCCL_VERSION"), pod[0] == 'b' ? "2.19.3-1" : c.as("2.17.1-1"));
    EXPECT_THAT(alone.at_least(Severity::Info), testing::IsEmpty()) << pod << ": NCCL_VERSION and NV_LIBNCCL_* give no finding";
  }
  const std::vector<Given> equal{{.node = "pod-a", .file = "a-nccl-env/a12-pod-a.env"}, {.node = "pod-a", .file = "a-nccl-env/a12-pod-a.log"},
                                 {.node = "pod-b", .file = "a-nccl-env/a12-pod-b.env"}, {.node = "pod-b", .file = "a-nccl-env/a12-pod-b.log"}};
  const auto accepted = c.diagnose(equal);
  EXPECT_THAT(accepted.findings("NCCL405"), testing::IsEmpty());
  EXPECT_THAT(accepted.at_least(Severity::Warning), testing::IsEmpty());
  EXPECT_EQ(accepted.facts(1).nccl.loaded_version, "2.26.2") << "the loaded library's banner: NCCL version X.Y.Z+cudaA.B";

  std::vector<Given> all = equal;
  all.push_back({.node = "pod-c", .file = "a-nccl-env/a12-pod-c.env"});
  all.push_back({.node = "pod-c", .file = "a-nccl-env/a12-pod-c.log"});
  const auto differ = c.diagnose(all);
  const Finding finding = differ.finding("NCCL405");
  EXPECT_EQ(finding.severity, Severity::Error);
  const std::string said = finding.seen + finding.wanted + finding.message;
  EXPECT_TRUE(mentions(said, "2.26.2") && mentions(said, "2.27.7")) << said;
}

CORPUS(a14, {{"ens3f0", "enq4g0"}, {"ens7f1", "enq8g1"}, {"node-a", "host-x"}, {"node-b", "host-y"}}) {
  const auto outcome = c.diagnose({{.node = "node-a", .file = "a-nccl-env/a14-node-a.env"}, {.node = "node-b", .file = "a-nccl-env/a14-node-b.env"}});
  const Finding finding = outcome.finding("NCCL401", "NCCL_BUFFSIZE");
  EXPECT_EQ(finding.severity, Severity::Error);
  EXPECT_TRUE(names(finding, c.as("node-a")) && names(finding, c.as("node-b")));
  const std::string said = finding.seen + finding.wanted + finding.message;
  EXPECT_TRUE(mentions(said, "4194304") && mentions(said, "8388608")) << said;
  EXPECT_EQ(outcome.number(0, "NCCL_BUFFSIZE.used"), 4194304);
  EXPECT_EQ(outcome.number(1, "NCCL_BUFFSIZE.used"), 8388608);
  EXPECT_EQ(outcome.text(0, "NCCL_ALGO"), "Ring");  // NCCL_ALGO=Ring on both
  for (const char* id : {"NCCL401", "NCCL402", "NCCL403"}) {
    EXPECT_THAT(outcome.findings(id, "NCCL_ALGO"), testing::IsEmpty());
    EXPECT_THAT(outcome.findings(id, "NCCL_SOCKET_IFNAME"), testing::IsEmpty());
  }
  EXPECT_THAT(about(outcome, "NCCL_SOCKET_IFNAME", Severity::Info), testing::IsEmpty());
  for (const char* name : {"NCCL_PROTO", "NCCL_NTHREADS", "NCCL_MAX_NCHANNELS", "NCCL_MIN_NCHANNELS", "NCCL_NVLS_ENABLE"}) {
    EXPECT_EQ(nccl::match_of(name), nccl::Match::Equal) << name;
  }
}

CORPUS(a16, {{"eth1,eth2,eth3,eth4", "nic1,nic2,nic3,nic4"}}) {
  const auto outcome = c.diagnose({{.file = "a-nccl-env/a16.env"}});
  for (const auto& [id, name] : {std::pair{"NCCL103", "NCCL_USE_DMA_BUF"}, std::pair{"NCCL102", "NCCL_GPUDIRECTTCPX_USE_DMABUF"}}) {
    const Finding finding = outcome.finding(id, name);
    EXPECT_EQ(finding.severity, Severity::Warning);
    EXPECT_TRUE(mentions(finding.message, "not known to upstream NCCL") && mentions(finding.message, "may belong to a vendor build") &&
                mentions(finding.message, "did you mean NCCL_DMABUF_ENABLE"))
        << finding.message;
  }
  EXPECT_EQ(outcome.at_least(Severity::Warning).size(), 2u);
  EXPECT_THAT(outcome.at_least(Severity::Error), testing::IsEmpty());
  EXPECT_THAT(about(outcome, "NCCL_GPUDIRECTTCPX_SOCKET_IFNAME", Severity::Info), testing::IsEmpty());
  EXPECT_THAT(about(outcome, "NCCL_FASTRAK_NUM_FLOWS", Severity::Info), testing::IsEmpty());
  EXPECT_EQ(outcome.text(0, "NCCL_GPUDIRECTTCPX_SOCKET_IFNAME.read_by"), "GPUDirect-TCPX plugin");
  EXPECT_EQ(outcome.text(0, "NCCL_FASTRAK_NUM_FLOWS.read_by"), "FasTrak plugin");
}

// The command line; the log of the same case is judged with the logs.
CORPUS(g19, {{"mlx5_3", "hfi7_5"}, {"eth0", "nic4"}}) {
  const auto outcome = c.diagnose({{.file = "g-output/g19-command.txt"}});
  EXPECT_EQ(outcome.text(0, "NCCL_IB_HCA"), "=" + c.as("mlx5_3"));  // NCCL_IB_HCA==mlx5_3
  EXPECT_EQ(outcome.text(0, "NCCL_SOCKET_IFNAME"), c.as("eth0"));
  EXPECT_THAT(outcome.at_least(Severity::Warning), testing::IsEmpty());
}

}  // namespace verl::corpus
