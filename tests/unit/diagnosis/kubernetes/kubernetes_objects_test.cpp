#include "tests/unit/diagnosis/kubernetes/read_kubernetes.h"

namespace verl::diagnosis {
namespace {

std::string pod(std::string_view more, std::string_view resources = "nvidia.com/gpu: 8, rdma/hca: 8", std::string_view spec = "") {
  return "apiVersion: v1\nkind: Pod\nmetadata: {name: solo}\nspec:\n  containers:\n  - name: trainer\n    image: demo/verl:1\n    resources: {limits: {" + std::string(resources) + "}}\n" +
         std::string(more) + std::string(spec);
}

constexpr std::string_view kShm = "    volumeMounts: [{name: shm, mountPath: /dev/shm}]\n";
constexpr std::string_view kVolume = "  volumes: [{name: shm, emptyDir: {medium: Memory, sizeLimit: 64Gi}}]\n";
constexpr std::string_view kLock = "    securityContext: {capabilities: {add: [IPC_LOCK]}}\n";

TEST(PodObject, NeedsMemoryAtDevShmAndTheRightToLock) {
  EXPECT_EQ(found(read_text(pod(std::string(kShm) + std::string(kLock), "nvidia.com/gpu: 8, rdma/hca: 8", kVolume))), Found{});
  EXPECT_EQ(found(read_text(pod("", "nvidia.com/gpu: 8, rdma/hca: 8"))), (Found{"pod-shm-missing container trainer warning", "pod-memlock container trainer warning"}));
  // A volume on disk is no shared memory.
  EXPECT_EQ(found(read_text(pod(std::string(kShm) + std::string(kLock), "nvidia.com/gpu: 8, rdma/hca: 8", "  volumes: [{name: shm, emptyDir: {}}]\n"))), Found{"pod-shm-missing container trainer warning"});
  EXPECT_EQ(found(read_text(pod("", "cpu: 1"))), Found{});  // no GPU, no rule
  EXPECT_EQ(found(read_text(pod(std::string(kShm) + std::string(kLock), "nvidia.com/gpu: 8", kVolume))), Found{"pod-no-rdma-resource container trainer info"});
}

TEST(PodObject, GivesItsEnvironmentWithLines) {
  const auto document = read_text(pod("    env:\n    - {name: NCCL_DEBUG, value: INFO}\n    - {name: SECRET, valueFrom: {secretKeyRef: {name: a, key: b}}}\n", "cpu: 1"));
  ASSERT_EQ(document.reading.nodes.size(), 1u);
  const auto& environments = document.reading.nodes[0].second.nccl.environments;
  ASSERT_EQ(environments.size(), 1u);
  EXPECT_EQ(environments[0].kind, nccl::EnvironmentKind::PodSpec);
  EXPECT_EQ(environments[0].origin, "container trainer");
  ASSERT_EQ(environments[0].settings.size(), 1u);
  EXPECT_EQ(environments[0].settings[0].setting.name, "NCCL_DEBUG");
  EXPECT_EQ(environments[0].settings[0].line, 10);
}

TEST(PodObject, IsNotAliveWhenItFailed) {
  const std::string status = "status: {phase: Failed, reason: Evicted, message: no room}\n";
  EXPECT_EQ(found(read_text(pod("", "cpu: 1", status))), Found{"pod-not-alive solo error"});
  EXPECT_EQ(found(read_text(pod("", "cpu: 1", "status: {phase: Running}\n"))), Found{});
}

std::string ray_cluster(std::string_view head_image, std::string_view worker_image) {
  return "apiVersion: ray.io/v1\nkind: RayCluster\nmetadata: {name: demo}\nspec:\n  headGroupSpec: {template: {spec: {containers: [{name: head, image: \"" + std::string(head_image) +
         "\"}]}}}\n  workerGroupSpecs:\n  - groupName: big\n    replicas: 3\n    template: {spec: {containers: [{name: w, image: \"" + std::string(worker_image) + "\", resources: {limits: {nvidia.com/gpu: 8}}}]}}\n";
}

TEST(RayObject, OneImageForAll) {
  const auto same = found(read_text(ray_cluster("demo/verl:1", "demo/verl:1")));
  EXPECT_EQ(std::count(same.begin(), same.end(), "ray-images-differ big error"), 0);
  const auto other = found(read_text(ray_cluster("demo/verl:1", "demo/verl:2")));
  EXPECT_EQ(std::count(other.begin(), other.end(), "ray-images-differ big error"), 1);
}

TEST(RayObject, CountsGpusOfReplicas) {
  const auto document = read_text(ray_cluster("demo/verl:1", "demo/verl:1"));
  EXPECT_EQ(std::get<std::int64_t>(*value_of(document, "objects[0].gpus")), 24);
  EXPECT_EQ(std::get<std::int64_t>(*value_of(document, "objects[0].gpu_nodes")), 3);
  const auto all = found(document);
  EXPECT_EQ(std::count(all.begin(), all.end(), "pod-no-rdma-resource worker group big container w warning"), 1);
  EXPECT_EQ(std::count(all.begin(), all.end(), "pod-host-network worker group big container w warning"), 1);
}

TEST(RayObject, NamesWhatAnImportWouldLose) {
  const auto all = found(read_text("apiVersion: ray.io/v1\nkind: RayJob\nmetadata: {generateName: j-}\nspec:\n  entrypoint: x\n  managedBy: kueue\n  rayClusterSpec: {rayVersion: \"2.50.0\", enableInTreeAutoscaling: true}\n"));
  EXPECT_EQ(std::count(all.begin(), all.end(), "ray-unsupported-field spec.managedBy warning"), 1);
  EXPECT_EQ(std::count(all.begin(), all.end(), "ray-unsupported-field spec.rayClusterSpec.enableInTreeAutoscaling warning"), 1);
}

TEST(RayObject, BoundsNamesWithTheirSuffixes) {
  const auto job = [](std::string name) { return found(read_text("apiVersion: ray.io/v1\nkind: RayJob\nmetadata: {name: " + std::move(name) + "}\nspec: {entrypoint: x}\n")); };
  const std::string fits(32, 'a');
  const auto good = job(fits);
  EXPECT_EQ(std::count(good.begin(), good.end(), "ray-name-length " + fits + " error"), 0);
  const auto bad = job(fits + "a");
  EXPECT_EQ(std::count(bad.begin(), bad.end(), "ray-name-length " + fits + "a error"), 1);
}

TEST(KubernetesObjects, NeverReadsSecretsAndNamesWhatItSkips) {
  const auto document = read_text("apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Secret, metadata: {name: s, namespace: ns1}, data: {token: c2VjcmV0}}\n- {apiVersion: x/v1, kind: Queue, metadata: {name: q}}\n");
  EXPECT_EQ(document.reading.skipped, (std::vector<std::string>{"Secret ns1/s: the data of a Secret is never read", "Queue q: nothing of it is judged"}));
  for (const Value& one : document.reading.values) {
    const auto* text = std::get_if<std::string>(&one.value);
    EXPECT_FALSE(text && text->find("c2Vj") != std::string::npos);
  }
}

TEST(KubernetesObjects, ReadsNcclConfOfAConfigMap) {
  const auto document = read_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: tuning}\ndata:\n  nccl.conf: |\n    NCCL_IB_HCA=mlx5_0\n");
  ASSERT_EQ(document.reading.nodes.size(), 1u);
  const auto& environment = document.reading.nodes[0].second.nccl.environments.at(0);
  EXPECT_EQ(environment.kind, nccl::EnvironmentKind::Conf);
  EXPECT_EQ(environment.settings.at(0).line, 6);
}

std::string node(std::string_view conditions, std::string_view labels = "", std::string_view spec = "") {
  return "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n1\",\"labels\":{" + std::string(labels) + "}},\"spec\":{" + std::string(spec) + "},\"status\":{\"allocatable\":{\"nvidia.com/gpu\":\"8\"},\"conditions\":[" +
         std::string(conditions) + "]}}";
}

TEST(NodeObject, IsJudgedByTypeAndStatusOnly) {
  EXPECT_EQ(found(read_text(node(R"({"type":"Ready","status":"True","message":"everything is broken"})"))), Found{});
  EXPECT_EQ(found(read_text(node(R"({"type":"Ready","status":"False"})"))), Found{"node-not-ready n1 error"});
  EXPECT_EQ(found(read_text(node(R"({"type":"Ready","status":"Unknown"})"))), Found{"node-not-ready n1 unknown"});
  EXPECT_EQ(found(read_text(node(""))), Found{"node-not-ready n1 unknown"});
  EXPECT_EQ(found(read_text(node(R"({"type":"Ready","status":"True"},{"type":"MemoryPressure","status":"True","reason":"Low"})"))), Found{"node-condition MemoryPressure warning"});
}

TEST(NodeObject, TaintsCordonsAndHostNames) {
  EXPECT_EQ(found(read_text(node(R"({"type":"Ready","status":"True"})", R"("kubernetes.io/hostname":"other")", R"("unschedulable":true,"taints":[{"key":"k","effect":"NoSchedule"},{"key":"p","effect":"PreferNoSchedule"}])"))),
            (Found{"node-taint k info", "node-unschedulable n1 warning", "node-hostname-label n1 info"}));
}

TEST(NodeObject, SharedGpusAreRefused) {
  EXPECT_EQ(found(read_text(node(R"({"type":"Ready","status":"True"})", R"("nvidia.com/gpu.product":"NVIDIA-H100-80GB-HBM3-SHARED","nvidia.com/gpu.replicas":"2")"))), Found{"gpu-shared NVIDIA-H100-80GB-HBM3-SHARED error"});
}

TEST(NodeReadinessObject, GivesFactsOfItsNode) {
  const auto document = read_text("apiVersion: verl.run/v1alpha1\nkind: NodeReadiness\nmetadata: {name: n7}\nstatus:\n  nccl: [{name: NCCL_IB_HCA, value: mlx5_0, source: /etc/nccl.conf}]\n  interfaces: [{name: eno1, up: true, mtu: 9000}]\n  rdma: [{device: mlx5_0, port: 1, state: ACTIVE, linkLayer: Ethernet, rateGbps: 400}]\n");
  ASSERT_EQ(document.reading.nodes.size(), 1u);
  EXPECT_EQ(document.reading.nodes[0].first, "n7");
  EXPECT_EQ(document.reading.nodes[0].second.nccl.environments.at(0).kind, nccl::EnvironmentKind::Report);
  EXPECT_EQ(document.reading.nodes[0].second.fabric.interfaces.at(0).mtu, 9000);
  EXPECT_EQ(document.reading.nodes[0].second.fabric.ports.at(0).rate_gbps, 400.0);
}

TEST(StatusObject, TellsAnEndingNamespaceFromARefusal) {
  EXPECT_EQ(found(read_text(R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":"no","reason":"Forbidden","details":{"causes":[{"reason":"NamespaceTerminating"}]},"code":403})")), Found{"namespace-terminating Forbidden warning"});
  EXPECT_EQ(found(read_text(R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":"no","reason":"Forbidden","code":403})")), Found{"api-refused Forbidden error"});
}

TEST(KubernetesObjects, BrokenYamlIsAnError) {
  EXPECT_TRUE(read_text("apiVersion: v1\nkind: Pod\nmetadata: {name: [\n").error);
}

}  // namespace
}  // namespace verl::diagnosis
