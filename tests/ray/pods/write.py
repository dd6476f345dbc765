#!/usr/bin/env python3
"""Writes three_nodes.json: the pods of a three-node job as the operator should render them, with the scripts embedded.

Stands in for the operator's own output; the runner takes either. Run it again after changing a script.
"""
import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[3]
SCRIPTS = ROOT / "operator/core/incontainer"
BASE, GPUS, CPUS, STORE = 26272, 2, 4, 100_000_000
# verl gives ranks in the string order of addresses; head on rank 0.
NODES = sorted([("n04", "10.77.0.4"), ("n08", "10.77.0.8"), ("n12", "10.77.0.12")], key=lambda node: node[1])
HEAD = NODES[0][1]
EXPECTED = [{"rank": r, "node": n, "address": a, "gpus": GPUS, "cpus": CPUS} for r, (n, a) in enumerate(NODES)]


def env(pairs):
    return [{"name": name, "value": value} for name, value in pairs.items()]


def container(name, command, extra):
    common = {
        "RAY_ADDRESS": f"{HEAD}:{BASE}", "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": "/run/verl/ray-token/auth_token",
        "VERL_RUN_HEAD_ADDRESS": HEAD, "VERL_RUN_PORT_BASE": str(BASE), "VERL_RUN_TERMINATION_LOG": "/dev/verl-termination-log",
    }
    return {
        "name": name, "image": "registry.example/verl:0.9.1", "command": command, "env": env({**common, **extra}),
        "terminationMessagePath": "/dev/verl-termination-log",
        "volumeMounts": [{"name": "ray-tmp", "mountPath": "/tmp/ray"}, {"name": "shm", "mountPath": "/dev/shm"},
                         {"name": "ray-token", "mountPath": "/run/verl/ray-token", "readOnly": True}],
    }


def pod(rank, name, address):
    node = {"VERL_RUN_ROLE": "worker" if rank else "head", "VERL_RUN_RANK": str(rank), "VERL_RUN_NODE_ADDRESS": address,
            "VERL_RUN_GPUS": str(GPUS), "VERL_RUN_CPUS": str(CPUS), "VERL_RUN_OBJECT_STORE_BYTES": str(STORE)}
    if rank:
        node["VERL_RUN_JOIN_SECONDS"] = "600"
    containers = [container("ray", ["/bin/sh", "-c", (SCRIPTS / "ray_node.sh").read_text(), "ray_node.sh"], node)]
    if rank == 0:
        containers.append(container("driver", ["python3", "-u", "-c", (SCRIPTS / "driver_gate.py").read_text()], {
            "VERL_RUN_RAY_AUTH": "token", "VERL_RUN_GATE_SECONDS": "900", "VERL_RUN_EXPECTED_NODES": json.dumps(EXPECTED, separators=(",", ":")),
            "VERL_RUN_TRAINER": json.dumps(["python3", "-m", "verl.trainer.main_ppo", "trainer.nnodes=3", "trainer.n_gpus_per_node=2"]),
            "RAY_DEDUP_LOGS": "0"}))
    # A Ray driver finds its raylet by looking through /proc, so the head's two containers share their processes.
    share = {} if rank else {"shareProcessNamespace": True}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"three-nodes-{rank}", "namespace": "rl"}, "spec": {
        **share, "restartPolicy": "Never", "hostNetwork": True, "dnsPolicy": "ClusterFirstWithHostNet", "containers": containers,
        "volumes": [{"name": "ray-tmp", "emptyDir": {}}, {"name": "shm", "emptyDir": {"medium": "Memory"}},
                    {"name": "ray-token", "secret": {"secretName": "three-nodes-ray-token"}}]}}


pods = [pod(rank, name, address) for rank, (name, address) in enumerate(NODES)]
(pathlib.Path(__file__).parent / "three_nodes.json").write_text(json.dumps(pods, indent=1) + "\n")
