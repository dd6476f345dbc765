"""The simulated fleet of the demo: nodes for the API server and a recorded host tree for the agent of each.

Owns what the machines are. Leaves what becomes of them to the story. Names, labels and addresses are parameters, so that
a test can rename everything and see the decisions follow.
"""
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
CLAIMS = ("datasets", "checkpoints", "data")  # what the examples mount
RACKS = 3
NODES_PER_RACK = 4


def node_info(boot_id):
    return {"bootID": boot_id, "machineID": boot_id, "systemUUID": boot_id, "kernelVersion": "6.1.0", "osImage": "Debian GNU/Linux 12",
            "containerRuntimeVersion": "containerd://2.1.4", "kubeletVersion": "v1.36.3", "kubeProxyVersion": "", "operatingSystem": "linux",
            "architecture": "amd64"}


class Fleet:
    def __init__(self, folder, prefix="n", rack_key="verl.run/rack", block_key="verl.run/block", rack_prefix="r", name_space="rl", operator_space="verl-system",
                 network="10.1", shuffle=0):
        self.trees = pathlib.Path(folder) / "hosts"
        self.prefix, self.rack_key, self.block_key, self.rack_prefix = prefix, rack_key, block_key, rack_prefix
        self.name_space, self.operator_space = name_space, operator_space
        self.network, self.shuffle = network, shuffle
        # Each fault on a node of its own; rack 1 is whole.
        self.faults = {5: ["--mtu", "1500"], 8: ["--clock", "unsynchronised"], 10: ["--nccl", "NCCL_ALGO=Tree"], 12: []}
        self.mtu_fault, self.clock_fault, self.nccl_fault, self.silent = 5, 8, 10, 12

    def numbers(self):
        return range(1, RACKS * NODES_PER_RACK + 1)

    def name(self, number):
        return f"{self.prefix}{number:02}"

    def rack(self, number):
        return f"{self.rack_prefix}{(number - 1) // NODES_PER_RACK + 1}"

    def address(self, number):
        # Another order of the same addresses inside a rack when shuffled: the ranks have to follow.
        rack, place = divmod(number - 1, NODES_PER_RACK)
        return f"{self.network}.{rack + 1}.{(place + self.shuffle) % NODES_PER_RACK + 11}"

    def boot_id(self, number):
        return f"{number:08x}-0000-4000-8000-000000000001"

    def node(self, number):
        resources = {"cpu": "192", "memory": "2000Gi", "pods": "110", "ephemeral-storage": "4Ti", "nvidia.com/gpu": "8", "rdma/hca": "8"}
        return {
            "apiVersion": "v1", "kind": "Node",
            "metadata": {"name": self.name(number),
                         "labels": {"kwok.x-k8s.io/node": "fake", "kubernetes.io/hostname": self.name(number), "nvidia.com/gpu.present": "true",
                                    self.block_key: "b1", self.rack_key: self.rack(number)}},
            "spec": {"taints": [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}]},
            "status": {"addresses": [{"type": "InternalIP", "address": self.address(number)}, {"type": "Hostname", "address": self.name(number)}],
                       "capacity": resources, "allocatable": resources, "nodeInfo": node_info(self.boot_id(number))},
        }

    def service_node(self):
        resources = {"cpu": "16", "memory": "64Gi", "pods": "110"}
        name = f"{self.prefix}-services"
        return {"apiVersion": "v1", "kind": "Node",
                "metadata": {"name": name, "labels": {"kwok.x-k8s.io/node": "fake", "kubernetes.io/hostname": name}},
                "status": {"addresses": [{"type": "InternalIP", "address": f"{self.network}.0.10"}], "capacity": resources, "allocatable": resources,
                           "nodeInfo": node_info("services")}}

    def levels(self):
        return [{"name": "block", "key": self.block_key}, {"name": "rack", "key": self.rack_key}]

    def objects(self):
        """Everything that is there before the operator: nodes, the jobs' namespace and its claims, bound by hand: nothing here would."""
        items = [self.node(number) for number in self.numbers()] + [self.service_node()]
        items.append({"apiVersion": "v1", "kind": "Namespace",
                      "metadata": {"name": self.name_space, "labels": {"pod-security.kubernetes.io/enforce": "privileged"}}})
        for claim in CLAIMS:
            volume = f"{self.name_space}-{claim}"
            items.append({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": volume},
                          "spec": {"capacity": {"storage": "10Ti"}, "accessModes": ["ReadWriteMany"], "nfs": {"server": "storage.example", "path": "/" + claim},
                                   "storageClassName": "", "claimRef": {"namespace": self.name_space, "name": claim}}})
            items.append({"apiVersion": "v1", "kind": "PersistentVolumeClaim",
                          "metadata": {"name": claim, "namespace": self.name_space, "annotations": {"pv.kubernetes.io/bind-completed": "yes"}},
                          "spec": {"accessModes": ["ReadWriteMany"], "storageClassName": "", "volumeName": volume, "resources": {"requests": {"storage": "10Ti"}}}})
        return {"apiVersion": "v1", "kind": "List", "items": items}

    def make_tree(self, number, folder, faults=()):
        make = ROOT / "tests/agent/make-host-tree"
        subprocess.run([sys.executable, str(make), str(folder), "--address", self.address(number), "--boot-id", self.boot_id(number), *faults],
                       check=True, capture_output=True, timeout=60)
        (pathlib.Path(folder) / "etc").mkdir(exist_ok=True)  # a host without nccl.conf has an /etc all the same

    def make_trees(self):
        for number in self.numbers():
            self.make_tree(number, self.trees / self.name(number), self.faults.get(number, []))

    def mend(self, number):
        """The host as it is without its fault, put in place under the running agent: what the remedy in the report brings about."""
        whole = self.trees.parent / "mended" / self.name(number)
        self.make_tree(number, whole)
        shutil.copytree(whole, self.trees / self.name(number), dirs_exist_ok=True)
