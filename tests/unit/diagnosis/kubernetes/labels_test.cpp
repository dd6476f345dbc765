#include "diagnosis/kubernetes/topology_labels.h"
#include "diagnosis/kubernetes/version_skew.h"
#include "tests/unit/diagnosis/kubernetes/read_kubernetes.h"

namespace verl::diagnosis {
namespace {

using kubernetes::topology_of;

TEST(TopologyLabels, TheNearestLevelIsTheRack) {
  EXPECT_EQ(topology_of({{"topology.k8s.aws/network-node-layer-2", "b"}, {"topology.k8s.aws/network-node-layer-10", "c"}}).rack.value, "c");  // by number, not by text
  EXPECT_EQ(topology_of({{"fabric.topograph.run/tier-1", "spine"}}).rack.value, "");  // the leaf is not known
  EXPECT_EQ(topology_of({{"topology.nebius.com/tier-1", "sw"}, {"topology.nebius.com/gpu-cluster-id", "g"}}).levels.front().value, "g");
  EXPECT_EQ(topology_of({{"unrelated", "x"}}).provider, "");
}

TEST(TopologyLabels, UnknownIsEqualToNobody) {
  EXPECT_FALSE(same_rack(topology_of({}), topology_of({})));
  const auto leaf = topology_of({{"fabric.topograph.run/tier-0", "l"}});
  EXPECT_TRUE(same_rack(leaf, leaf));
  EXPECT_FALSE(same_rack(leaf, topology_of({})));
}

TEST(TopologyLabels, TheNvlinkDomainStandsBeforeTheFabric) {
  const auto a = topology_of({{"nvidia.com/gpu.clique", "u-1.0"}, {"fabric.topograph.run/tier-0", "l"}});
  const auto b = topology_of({{"nvidia.com/gpu.clique", "u-2.0"}, {"fabric.topograph.run/tier-0", "l"}});
  EXPECT_FALSE(same_rack(a, b));
  EXPECT_EQ(a.nvlink_domain, "u-1");
  EXPECT_EQ(a.nvlink_partition, "0");
}

TEST(TopologyLabels, LongNamesBecomeHashes) {
  EXPECT_EQ(kubernetes::label_value(std::string(63, 'q')), std::string(63, 'q'));
  EXPECT_EQ(kubernetes::label_value(std::string(64, 's')), "x322a0e50944b43e5");
}

TEST(VersionSkew, ThreeMinorsOlderNeverNewer) {
  using kubernetes::kubelet_skew;
  using kubernetes::Skew;
  EXPECT_EQ(kubelet_skew("v1.33.1", "v1.30.9-eks-1a2b"), Skew::Fine);
  EXPECT_EQ(kubelet_skew("v1.33.1", "v1.29.9"), Skew::TooOld);
  EXPECT_EQ(kubelet_skew("v1.33.1", "v1.34.0"), Skew::Newer);
  EXPECT_EQ(kubelet_skew("v1.33.1", "v1.33.9"), Skew::Fine);
  EXPECT_EQ(kubelet_skew("v1.33.1", "unknown"), Skew::Unknown);
}

TEST(GpuLabels, TellMigAndSharing) {
  const std::string head = "nvidia.com/gpu.count=8\nnvidia.com/mig.capable=true\nnvidia.com/mig.strategy=mixed\n";
  EXPECT_EQ(found(read_text(head)), Found{});
  EXPECT_EQ(found(read_text(head + "nvidia.com/mig-1g.10gb.count=7\n")), Found{"gpu-mig GPU error"});
  EXPECT_EQ(found(read_text(head + "nvidia.com/gpu.sharing-strategy=mps\n")), Found{"gpu-shared GPU error"});
  EXPECT_EQ(found(read_text(head + "nvidia.com/gpu.machine=Google-Compute-Engine\n")), Found{"node-virtual-machine Google-Compute-Engine info"});
}

}  // namespace
}  // namespace verl::diagnosis
