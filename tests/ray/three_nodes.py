#!/usr/bin/env python3
"""Runs the pods of a three-node job with real Ray, a network namespace per node, and asserts what the operator relies on.

One cluster carries most scenes: a container that is unfit, a worker that comes late, a gate whose deadline names the missing node, exit codes, ports,
authentication, the end of the head. A second head without authentication shows that the gate refuses it. Changes nothing in
the pods but the trainer, the gate's deadline and what a scene says. Needs root; the first run installs Ray.
Usage: three_nodes.py [--pods FILE] [--tools FOLDER] [--late SECONDS]
"""
import argparse
import copy
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

from pod_runner import Lab, container_env, eventually, expand

HERE = pathlib.Path(__file__).resolve().parent
TOKEN = "f00dfeedf00dfeedf00dfeedf00dfeedf00dfeedf00dfeedf00dfeedf00dfeed"
# Prints "<status> <body>" of a GET (or a POST of {}) with the token given on standard input, none if it is empty.
ASK = """
import sys, urllib.error, urllib.request
token = sys.stdin.read().strip()
request = urllib.request.Request(sys.argv[1], headers={"Authorization": "Bearer " + token} if token else {},
                                 data=b"{}" if sys.argv[2] == "POST" else None)
try:
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=20) as answer:
        print(answer.status, answer.read().decode())
except urllib.error.HTTPError as error:
    print(error.code)
"""
BEGIN = time.monotonic()


def scene(text):
    print(f"[{time.monotonic() - BEGIN:5.1f} s] {text}", flush=True)


def same(seen, wanted, what):
    assert seen == wanted, f"{what}\n   seen: {seen!r}\n wanted: {wanted!r}"


def trainer(exit_code):
    return json.dumps(["python3", "/opt/verl-test/trainer.py", str(exit_code)])


def gate_message(container):
    return json.loads(container.message())


def listeners(lab, address):
    """{(port, process)} that listen in a node's network."""
    rows = (line.split() for line in lab.inside(address, "ss", "-Hltnp").splitlines())
    return {(int(row[3].rsplit(":", 1)[1]), row[5].split('"')[1] if len(row) > 5 else "?") for row in rows}


def inside_block(lab, address, base, offsets):
    """None once exactly the block's ports listen, else what differs."""
    seen = {port - base for port, _ in listeners(lab, address)}
    return None if seen == set(offsets) else f"{address}: offsets {sorted(seen)}, wants {sorted(offsets)}"


class ThreeNodes:
    HEAD_PORTS, WORKER_PORTS = range(11), range(3, 9)

    def __init__(self, lab, pods, late):
        self.lab, self.late = lab, late
        self.env = [container_env(next(c for c in pod["spec"]["containers"] if c["name"] == "ray")) for pod in pods]
        order = sorted(range(len(pods)), key=lambda i: int(self.env[i]["VERL_RUN_RANK"]))
        self.pods, self.env = [pods[i] for i in order], [self.env[i] for i in order]
        self.addresses = [env["VERL_RUN_NODE_ADDRESS"] for env in self.env]
        self.base = int(self.env[0]["VERL_RUN_PORT_BASE"])
        self.url = f"http://{self.addresses[0]}:{self.base + 1}"
        self.rays = []

    def ask(self, path, token="", method="GET"):
        """From the last node's network, as a stranger on another host would."""
        status, _, body = self.lab.inside(self.addresses[-1], sys.executable, "-c", ASK, self.url + path, method,
                                          stdin=token).partition(" ")
        return int(status), body

    def alive(self):
        try:
            status, body = self.ask("/api/v0/nodes?limit=10000&detail=1", TOKEN)
        except subprocess.CalledProcessError:
            return set()
        rows = json.loads(body)["data"]["result"]["result"] if status == 200 else []
        return {(row["node_ip"], row["resources_total"].get("GPU"), row["resources_total"].get("CPU"))
                for row in rows if row["state"] == "ALIVE"}

    def wanted(self, ranks):
        return {(self.addresses[r], float(self.env[r]["VERL_RUN_GPUS"]), float(self.env[r]["VERL_RUN_CPUS"])) for r in ranks}

    def driver(self, exit_code, **override):
        return self.lab.start(self.pods[0], "driver", VERL_RUN_TRAINER=trainer(exit_code), **override)

    def runs(self, who):
        code = who.exit_code()
        assert code is None, f"{who.name} ended with {code}\n{who.output()[-3000:]}"

    # ---- scenes ----

    def embedded_scripts(self):
        same(self.addresses, sorted(self.addresses), "ranks follow the string order of addresses")
        for pod in self.pods:
            for container in pod["spec"]["containers"]:
                env = container_env(container)
                for word in container.get("command", []) + container.get("args", []):
                    same(expand(word, env), word, "Kubernetes' expansion changes a command")
                    assert TOKEN not in word
        scripts = HERE.parents[1] / "operator/core/incontainer"
        texts = [w for pod in self.pods for c in pod["spec"]["containers"] for w in c.get("command", []) + c.get("args", [])]
        for script in ("ray_node.sh", "driver_gate.py"):
            assert any(text.strip() == (scripts / script).read_text().strip() for text in texts), f"no pod runs {script} as it is now"

    def unfit_container(self):
        """What a container lacks inside ends it before Ray starts, in words that an attempt shows."""
        unfit = self.lab.start(self.pods[0], "ray", VERL_RUN_SHM_BYTES=str(1 << 50), VERL_RUN_RDMA_DEVICES="64", VERL_RUN_NUMA="None")
        code, message = unfit.wait(60), gate_message(unfit)
        same((code, message["verl.run/ray"]), (211, "ContainerUnfit"), "ray\n" + unfit.output())
        assert re.search(r"^/dev/shm has [0-9.]+ GiB, wants 1 PiB: .* of \d+ RDMA devices /dev/infiniband/uverbs\* can be opened", message["message"]), message
        assert "ray start" not in unfit.output() and not listeners(self.lab, self.addresses[0]), "Ray was started"
        scene("unfit container: " + message["message"])
        absent = self.lab.start(self.pods[0], "ray", VERL_RUN_CHECK="/run/verl/bin/absent")
        code, message = absent.wait(60), gate_message(absent)
        same((code, message["verl.run/ray"]), (211, "ContainerUnfit"), "ray\n" + absent.output())
        scene("a check that is not there is no pass: " + message["message"])

    def one_worker_late(self):
        started = time.monotonic()
        waiting = self.driver(0)
        self.rays = [self.lab.start(pod, "ray") for pod in self.pods[:-1]]
        eventually(180, lambda: self.alive() == self.wanted([0, 1]), "two live nodes with their addresses, GPUs and CPUs")
        for ray in self.rays:
            assert "verl-container-check: this container is fit" in ray.output(), ray.output()[:2000]
        scene("head and first worker are alive, each after its check; the gate waits for the last one")

        for path, method in (("/api/jobs/", "GET"), ("/api/jobs/", "POST"), ("/api/v0/nodes", "GET"), ("/api/version", "GET")):
            same(self.ask(path, "", method)[0], 401, f"{method} {path} without a token")
        same(self.ask("/api/jobs/", "wrong")[0], 403, "jobs with a wrong token")
        same(self.ask("/api/jobs/", TOKEN)[0], 200, "jobs with the token")
        scene("401 without the token, 403 with a wrong one")

        eventually(20, lambda: not inside_block(self.lab, self.addresses[0], self.base, self.HEAD_PORTS), "head's ports")
        eventually(20, lambda: not inside_block(self.lab, self.addresses[1], self.base, self.WORKER_PORTS), "worker's ports")
        scene("every listener is inside the port block")

        self.probes()
        self.missing_worker()
        self.waiting_gate_is_told_to_stop()
        self.token_stays_secret()
        self.runs(waiting)
        assert "trainer:" not in waiting.output(), "the trainer started on two of three nodes"
        time.sleep(max(0.0, self.late - (time.monotonic() - started)))
        self.runs(waiting)
        scene(f"last worker starts {time.monotonic() - started:.0f} s late")
        self.rays.append(self.lab.start(self.pods[-1], "ray"))
        same((waiting.wait(120), gate_message(waiting)),
             (0, {"verl.run/gate": "Passed", "message": "trainer started", "nodes": 3}), "driver\n" + waiting.output()[-3000:])
        same(self.alive(), self.wanted([0, 1, 2]), "live nodes")
        order = next(line for line in waiting.output().splitlines() if line.startswith("trainer: alive"))
        same(order, f"trainer: alive in string order {self.addresses}", "string order of addresses")
        scene("driver ran on three nodes and its container ended with 0")

    def probes(self):
        """The readiness probe of container ray, asked as the kubelet does: from the node, without the token."""
        for pod, address in list(zip(self.pods, self.addresses))[:2]:
            get = next(c for c in pod["spec"]["containers"] if c["name"] == "ray")["readinessProbe"]["httpGet"]
            url = f"http://{address}:{get['port']}{get['path']}"
            answer = self.lab.inside(address, sys.executable, "-c", ASK, url, "GET", stdin="")
            same(answer.split()[0], "200", f"readiness of {address}: {answer}")
        scene("the readiness probe of both nodes that joined says yes")

    def missing_worker(self):
        gate = self.driver(0, VERL_RUN_GATE_SECONDS="20")
        last = json.loads(container_env(next(c for c in self.pods[0]["spec"]["containers"] if c["name"] == "driver"))
                          ["VERL_RUN_EXPECTED_NODES"])[-1]
        code, message = gate.wait(60), gate_message(gate)
        same((code, message["verl.run/gate"], message["missing"], message["wrong"], message["unexpected"]),
             (201, "NodesMissing", [{"rank": 2, "node": last["node"], "address": last["address"]}], [], []), "gate")
        same(message["message"], f"after 20 s: 2 of 3 nodes ready; not in Ray: rank 2 {last['node']} ({last['address']})", "message")
        assert "trainer:" not in gate.output()
        scene("one worker missing: " + message["message"])

    def waiting_gate_is_told_to_stop(self):
        gate = self.driver(0)
        eventually(20, lambda: "nodes ready" in gate.output(), "a waiting gate")
        gate.signal(signal.SIGTERM)
        same((gate.wait(30), gate_message(gate)["verl.run/gate"], gate_message(gate)["missingCount"]), (206, "Interrupted", 1), "gate")
        scene("a waiting gate ends on SIGTERM and says for what it waited")

    def token_stays_secret(self):
        found = []
        for process in pathlib.Path("/proc").iterdir():
            if process.name.isdigit() and int(process.name) != os.getpid():
                for file in ("cmdline", "environ"):
                    try:
                        if TOKEN.encode() in (process / file).read_bytes():
                            found.append(f"{file} of {(process / 'comm').read_text().strip()}")
                    except OSError:
                        continue
        same(found, [], "processes that show the token")
        scene("no argument or environment of any process holds the token")

    def exit_codes(self):
        failing = self.driver(3)
        same((failing.wait(120), gate_message(failing)["verl.run/gate"]), (3, "Passed"), "driver\n" + failing.output()[-3000:])
        scene("a driver that exits 3 ends its container with 3")
        absent = self.lab.start(self.pods[0], "driver", VERL_RUN_TRAINER='["no-such-trainer"]')
        same((absent.wait(60), gate_message(absent)["verl.run/gate"]), (205, "TrainerNotExecutable"), "driver")
        (self.lab.folder / "wrong-token").write_text("wrong")
        rejected = self.driver(0, RAY_AUTH_TOKEN_PATH="/opt/verl-lab/wrong-token")
        same((rejected.wait(60), gate_message(rejected)["verl.run/gate"]), (204, "RayTokenRejected"), "driver")
        scene("a trainer that is not there and a wrong token have codes of their own")
        for rank in (0, 1, 2):
            ports = self.WORKER_PORTS if rank else self.HEAD_PORTS
            eventually(30, lambda: not inside_block(self.lab, self.addresses[rank], self.base, ports),  # noqa: B023
                       f"after the trainers: {inside_block(self.lab, self.addresses[rank], self.base, ports)}")
        for ray in self.rays:
            self.runs(ray)

    def head_ends(self):
        began = time.monotonic()
        self.rays[0].signal(signal.SIGTERM)
        self.rays[0].wait(60)
        scene(f"told to stop, the head ended in {time.monotonic() - began:.0f} s; workers notice by themselves")
        for worker in self.rays[1:]:
            worker.wait(100)
        scene(f"workers ended {time.monotonic() - began:.0f} s after the head was told to")


def unauthenticated(lab, pods, opted_out):
    """A head pod whose Ray has no authentication, on a node and port block of its own."""
    pod = copy.deepcopy(next(p for p in pods if any(c["name"] == "driver" for c in p["spec"]["containers"])))
    pod["metadata"]["name"] += "-open"
    text = json.dumps(pod["spec"])
    env = container_env(pod["spec"]["containers"][0])
    pod["spec"] = json.loads(text.replace(env["VERL_RUN_HEAD_ADDRESS"] + ":", "10.77.0.20:"))
    alone = json.dumps([{"rank": 0, "node": "n20", "address": "10.77.0.20", "gpus": int(env["VERL_RUN_GPUS"]), "cpus": int(env["VERL_RUN_CPUS"])}])
    for container in pod["spec"]["containers"]:
        for item in container["env"]:
            if item["name"] in ("VERL_RUN_HEAD_ADDRESS", "VERL_RUN_NODE_ADDRESS"):
                item["value"] = "10.77.0.20"
            if item["name"] == "RAY_AUTH_MODE":
                item["value"] = "disabled"
    head = lab.start(pod, "ray")
    gate = lab.start(pod, "driver", VERL_RUN_TRAINER='["true"]', VERL_RUN_EXPECTED_NODES=alone)
    code, message = gate.wait(180), gate_message(gate)
    same((code, message["verl.run/gate"]), (200, "RayUnauthenticated"), "gate of an open Ray\n" + gate.output())
    assert "HTTP 200" in message["message"], message
    scene("open Ray: " + message["message"])
    if opted_out:
        allowed = lab.start(pod, "driver", VERL_RUN_TRAINER='["true"]', VERL_RUN_EXPECTED_NODES=alone, VERL_RUN_RAY_AUTH="disabled")
        same((allowed.wait(60), gate_message(allowed)["verl.run/gate"]), (0, "Passed"), "gate of a job that opted out")
        scene("a job that opted out of authentication passes")
    head.signal(signal.SIGTERM)
    head.wait(60)


def missing_tools():
    found = [] if os.geteuid() == 0 else ["root"]
    return found + [tool for tool in ("ip", "ss", "nsenter", "unshare") if not shutil.which(tool)]


def run(pods, late, tools):
    venv = subprocess.run([HERE / "ray_venv.sh"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    lab = Lab(venv, TOKEN, [(str(HERE), "/opt/verl-test")], tools)
    with lab:
        lab.extra_mounts.append((str(lab.folder), "/opt/verl-lab"))
        nodes = ThreeNodes(lab, pods, late)
        try:
            nodes.embedded_scripts()
            nodes.unfit_container()
            nodes.one_worker_late()
            nodes.exit_codes()
            nodes.head_ends()
            unauthenticated(lab, pods, opted_out=True)
        except BaseException:
            for container in lab.containers:
                print(f"---- {container.name}: exit {container.exit_code()}, message {container.message()!r}\n"
                      f"{container.output()[-2000:]}", file=sys.stderr)
            raise
    scene("all well")


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--pods", type=pathlib.Path, default=HERE / "pods/three_nodes.json")
    arguments.add_argument("--tools", type=pathlib.Path, default=HERE.parents[1] / "build/debug/bin", help="folder with verl-container-check")
    arguments.add_argument("--late", type=float, default=60)
    options = arguments.parse_args()
    missing = missing_tools()
    if missing:
        print("cannot run, missing: " + ", ".join(missing))
        sys.exit(1 if os.environ.get("CI") == "true" else 77)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda caught, _: sys.exit(128 + caught))
    run(json.loads(options.pods.read_text()), options.late, options.tools.resolve())


if __name__ == "__main__":
    main()
