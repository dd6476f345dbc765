"""Stands in for verl's trainer: one STRICT_PACK placement group per node, one actor per GPU, then exits as told.

Asserts what verl relies on: it joined the cluster of RAY_ADDRESS, each group has a node of its own, and the string order
of the addresses is the order of the ranks.
"""
import os
import sys

import ray
from ray.util.placement_group import placement_group

exit_code = int(sys.argv[1])
nodes, gpus = 3, 2
ray.init()  # as verl does: the address comes from RAY_ADDRESS
addresses = sorted(node["NodeManagerAddress"] for node in ray.nodes() if node["Alive"])
print("trainer: alive in string order", addresses, flush=True)


@ray.remote(num_cpus=1, num_gpus=1)
class Worker:
    def where(self):
        return ray.util.get_node_ip_address(), os.environ.get("CUDA_VISIBLE_DEVICES")

    def blob(self):
        return b"x" * 5_000_000  # through the object store, into the driver's container


groups = [placement_group([{"CPU": 1, "GPU": 1}] * gpus, strategy="STRICT_PACK") for _ in range(nodes)]
ray.get([group.ready() for group in groups], timeout=60)
workers = [[Worker.options(placement_group=group).remote() for _ in range(gpus)] for group in groups]
places = [ray.get([worker.where.remote() for worker in group], timeout=90) for group in workers]
print("trainer: groups", places, flush=True)
assert all(len({address for address, _ in group}) == 1 for group in places), "a group is spread"
assert sorted(group[0][0] for group in places) == addresses, "two groups share a node"
assert all(sorted(device for _, device in group) == ["0", "1"] for group in places), "GPU ids"
assert all(len(blob) == 5_000_000 for blob in ray.get([group[0].blob.remote() for group in workers], timeout=60))
print("trainer: done", flush=True)
sys.exit(exit_code)
