"""What the benches share: the chart on a plane, simulated nodes with passing reports, clocks and figures of processes.

Reports and heartbeats are written by the administrator here: hundreds or thousands of agents cannot be processes of one
machine. So the benches measure the operator, never how a report comes about.
"""
import concurrent.futures
import datetime
import http.client
import json
import os
import pathlib
import platform
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/chart"))
sys.dont_write_bytecode = True
import cluster  # noqa: E402

SPACE = "verl-system"
REPORTS = "/apis/verl.run/v1alpha1/nodereadinesses"
JOBS = "/apis/verl.run/v1alpha1/namespaces/rl/verljobs"
LEASES = f"/apis/coordination.k8s.io/v1/namespaces/{SPACE}/leases"
MERGE = "application/merge-patch+json"


def run_in_plane(options, more_env=None):
    """Starts this very script again inside a plane of its own, when it has none yet; never returns then."""
    if os.environ.get("VERL_PLANE_DIR"):
        return
    env = dict(os.environ, VERL_PLANE_NODE_GRACE="3600", **(more_env or {}))
    # A bench measures the operator, not how fairly a small apiserver shares itself out.
    words = [str(ROOT / "scripts/control-plane"), "run", "--with", "controller-manager", "--", sys.executable, *sys.argv]
    os.execve(words[0], words, env)


class Api(cluster.Cluster):
    """Keeps one connection a thread: thousands of writes would otherwise be thousands of handshakes."""
    _mine = threading.local()

    def request(self, method, path, body=None, content="application/json", timeout=60):
        headers = {"Accept": "application/json", "User-Agent": "verl-bench", "Content-Type": content}
        if body is not None and not isinstance(body, (str, bytes)):
            body = json.dumps(body)
        for attempt in range(1, 9):
            connection = getattr(self._mine, "connection", None)
            if connection is None:
                connection = http.client.HTTPSConnection(self.host, self.port, context=self.tls, timeout=timeout)
                self._mine.connection = connection
            try:
                connection.request(method, path, body, headers)
                answer = connection.getresponse()
                text = answer.read()
                # A watch cache that lags behind, a server that is asked too much: both pass.
                if answer.status not in (429, 504) or method == "POST":
                    break
                time.sleep(attempt)
            except (OSError, http.client.HTTPException):
                connection.close()
                self._mine.connection = None
                if attempt == 8 or method == "POST":
                    raise
        if answer.status >= 400:
            raise cluster.ApiError(answer.status, text[:400].decode(errors="replace"))
        return json.loads(text)

    def items(self, path):
        """All items, page by page: one list of 10,000 pods is 70 MB of text."""
        token, found = "", []
        while True:
            page = self.get(f"{path}{'&' if '?' in path else '?'}limit=500&continue={token}")
            found += page["items"]
            token = page["metadata"].get("continue", "")
            if not token:
                return found

    def count(self, path):
        page = self.get(f"{path}?limit=1")
        return len(page["items"]) + page["metadata"].get("remainingItemCount", 0)


def many(work, things, width=8):
    with concurrent.futures.ThreadPoolExecutor(width) as pool:
        return list(pool.map(work, things))


def wait(what, ask, seconds=120, every=0.2):
    until = time.monotonic() + seconds
    while True:
        answer = ask()
        if answer:
            return answer
        if time.monotonic() > until:
            raise SystemExit(f"waited {seconds} s for {what}")
        time.sleep(every)


def say(line):
    print(f"[{time.strftime('%H:%M:%S')}] {line}", file=sys.stderr, flush=True)


# ---- the cluster

def node(number):
    amounts = {"cpu": "192", "memory": "2000Gi", "pods": "110", "ephemeral-storage": "4Ti", "nvidia.com/gpu": "8", "rdma/hca": "8"}
    name = f"gpu-{number:04}"
    return {"apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, "nvidia.com/gpu.present": "true",
                                                  "verl.run/rack": f"r{number // 100:02}", "verl.run/block": f"b{number // 1000}"}},
            "spec": {"taints": [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}]},
            "status": {"addresses": [{"type": "InternalIP", "address": f"10.1.{number // 100}.{number % 100 + 1}"}],
                       "capacity": amounts, "allocatable": amounts,
                       "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "simulated",
                                       "lastHeartbeatTime": stamp(), "lastTransitionTime": stamp()}],
                       "images": [{"names": [f"registry.example/image-{i}@sha256:{i:064}"], "sizeBytes": 100000000 + i} for i in range(20)],
                       "nodeInfo": {"bootID": f"{number:08x}-0000-4000-8000-000000000001", "machineID": str(number), "systemUUID": str(number),
                                    "kernelVersion": "6.1.0", "osImage": "Debian GNU/Linux 12", "containerRuntimeVersion": "containerd://2.1.4",
                                    "kubeletVersion": "v1.36.3", "kubeProxyVersion": "", "operatingSystem": "linux", "architecture": "amd64"}}}


def stamp():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def report_status(report, node_object):
    """What an agent of a machine with eight GPUs and ten ports writes when all is well: about 8 KB."""
    ports = [f"ens{i}f0" for i in range(10)]
    findings = [{"check": "clock-sync", "verdict": "Pass", "subject": "chronyd", "seen": "error bound 212 us, source 10.0.0.1", "wanted": "<= 50000 us"}]
    for port in ports:
        findings.append({"check": "mtu-interface", "verdict": "Pass", "subject": port, "seen": "9000", "wanted": ">= 9000"})
        findings.append({"check": "link-speed", "verdict": "Pass", "subject": port, "seen": "400 Gb/s", "wanted": "as fast as its neighbours"})
    for i in range(10):
        findings.append({"check": "mtu-roce-active", "verdict": "Pass", "subject": f"mlx5_{i}/1", "seen": "4096", "wanted": ">= 4096"})
    for check in ("link-state", "rdma-device-count", "rdma-port-state", "rdma-port-rate", "roce-gid", "clock-error", "gpu-count", "numa-topology"):
        findings.append({"check": check, "verdict": "Pass", "seen": "8", "wanted": "8"})
    findings.append({"check": "nccl-env", "verdict": "Pass", "seen": "3 settings in /etc/nccl.conf", "message": "compared between nodes by the operator"})
    return {"observedGeneration": report["metadata"]["generation"], "nodeUID": node_object["metadata"]["uid"],
            "bootID": node_object["status"]["nodeInfo"]["bootID"], "agentVersion": "0.1.0", "observedAt": stamp(), "findings": findings,
            "interfaces": [{"name": "eth0", "up": True, "mtu": 1500, "speedMbps": 25000, "pci": "0000:01:00.0", "numaNode": 0, "control": True,
                            "fabric": False, "addresses": [node_object["status"]["addresses"][0]["address"]]}] +
                          [{"name": port, "up": True, "mtu": 9000, "speedMbps": 400000, "pci": f"0000:{16 + i:02x}:00.0", "numaNode": i // 5,
                            "control": False, "fabric": True, "addresses": [f"192.168.{i}.2", f"fe80::ae1f:6bff:fe00:{i:04x}"]}
                           for i, port in enumerate(ports)],
            "rdma": [{"device": f"mlx5_{i}", "port": 1, "state": "ACTIVE", "linkLayer": "Ethernet", "activeMTU": 4096, "rateGbps": 400,
                      "netdev": port, "pci": f"0000:{16 + i:02x}:00.0", "numaNode": i // 5} for i, port in enumerate(ports)],
            "clock": {"source": "chronyd", "synchronised": True, "offsetMicroseconds": 12, "errorBoundMicroseconds": 212, "reference": "10.0.0.1"},
            "nccl": [{"name": n, "value": v, "source": "/etc/nccl.conf"} for n, v in
                     (("NCCL_IB_TC", "106"), ("NCCL_IB_TIMEOUT", "22"), ("NCCL_CROSS_NIC", "0"))],
            "topology": {"sockets": 2, "numaNodes": 2, "cores": 96, "cpus": 192, "memoryBytes": 2147483648000,
                         "gpus": [f"0000:{64 + i:02x}:00.0" for i in range(8)]}}


class Plane:
    """A plane with the chart on it. The operator's pod exists and is bound; the program is started when the bench says so."""

    def __init__(self, folder, operator_bin):
        self.folder, self.bin = pathlib.Path(folder), pathlib.Path(operator_bin)
        self.api = Api()
        self.operator_pid = None
        for name in (SPACE, "rl"):
            self.api.request("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {
                "name": name, "labels": {"pod-security.kubernetes.io/enforce": "privileged"}}})
        # Reports stay fresh for the length of a bench: nobody renews five thousand heartbeats here.
        words = ["helm", "install", "verl-operator", str(ROOT / "helm/verl-operator"), "-n", SPACE, "--set", "preset=on-prem",
                 "--set", "heartbeat.idleSeconds=1200", "--set", "heartbeat.busySeconds=1200", "--set", "operator.healthPort=0",
                 "--set", "operator.metricsPort=0", "--set", "agent.enabled=false"]
        done = subprocess.run(words, capture_output=True, text=True, timeout=180, check=False)
        if done.returncode:
            raise SystemExit(f"helm install: {done.stderr.strip()}")
        self.host_the_operator()

    def host_the_operator(self):
        """Plays scheduler and kubelet for one pod, so that neither is needed."""
        control = node(9999)
        control["metadata"] = {"name": "control"}
        del control["spec"]
        for kind in ("capacity", "allocatable"):
            control["status"][kind] = {"cpu": "4", "memory": "16Gi", "pods": "110"}
        self.api.request("POST", "/api/v1/nodes", control)
        path = f"/api/v1/namespaces/{SPACE}/pods"
        pod = wait("the operator's pod", lambda: self.api.get(path)["items"])[0]
        name = pod["metadata"]["name"]
        self.api.request("POST", f"{path}/{name}/binding", {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name},
                                                            "target": {"apiVersion": "v1", "kind": "Node", "name": "control"}})
        self.api.request("PATCH", f"{path}/{name}/status", {"status": {"phase": "Running"}}, MERGE)
        self.operator_pod = self.api.get(f"{path}/{name}")

    def add_nodes(self, count):
        many(lambda n: self.api.request("POST", "/api/v1/nodes", node(n)), range(count))

    def start_operator(self):
        done = subprocess.run([sys.executable, str(ROOT / "tests/chart/launch.py"), "pod", "-n", SPACE, self.operator_pod["metadata"]["name"],
                               "--state", str(self.folder / "state"), "--log", str(self.folder / "operator.log"), "--bin", str(self.bin),
                               "--owner", str(os.getpid())], capture_output=True, text=True, timeout=90, check=False)
        if done.returncode:
            raise SystemExit(f"starting the operator: {done.stderr.strip()}")
        self.operator_pid = int(done.stdout)
        return self.operator_pid

    def stop_operator(self):
        subprocess.run([sys.executable, str(ROOT / "tests/chart/launch.py"), "stop", "--state", str(self.folder / "state")],
                       capture_output=True, timeout=60, check=False)
        self.operator_pid = None

    def let_reports_pass(self, count, seconds=600):
        """The operator makes reports and heartbeats; the administrator fills them in, in place of the agents, and writes the
        verdict that the operator is about to reach. The operator is stopped meanwhile: thousands of writes would wait for it."""
        self.start_operator()
        wait(f"{count} reports and heartbeats", lambda: self.api.count(REPORTS) >= count and self.api.count(LEASES) > count, seconds, 1)
        self.stop_operator()
        nodes = {one["metadata"]["name"]: one for one in self.api.items("/api/v1/nodes")}

        def fill(report):
            name = report["metadata"]["name"]
            self.api.request("PATCH", f"{LEASES}/{name}", {"spec": {"holderIdentity": name, "renewTime": stamp()[:-1] + ".000000Z"}}, MERGE)
            ready = {"type": "Ready", "status": "True", "reason": "Ready", "message": "every check that blocks has passed",
                     "lastTransitionTime": stamp(), "observedGeneration": report["metadata"]["generation"]}
            status = {"verdict": "Ready", "conditions": [ready], **report_status(report, nodes[name])}
            self.api.request("PATCH", f"{REPORTS}/{name}/status", {"status": status}, MERGE)
        many(fill, self.api.items(REPORTS), 16)

    def unfit_nodes(self):
        """Names of nodes that the operator does not call Ready."""
        return [one["metadata"]["name"] for one in self.api.items(REPORTS) if one.get("status", {}).get("verdict") != "Ready"]


# ---- figures

def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat") as stat:
        words = stat.read().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def memory(pid):
    """{VmRSS, VmHWM, RssAnon} in MiB."""
    found = {}
    with open(f"/proc/{pid}/status") as status:
        for line in status:
            name = line.split(":")[0]
            if name in ("VmRSS", "VmHWM", "RssAnon"):
                found[name] = int(line.split()[1]) / 1024
    return found


def calibration():
    """Seconds of a fixed piece of work: a figure counts only beside those before and after it."""
    began, x = time.process_time(), 1
    wall = time.monotonic()
    for _ in range(2_000_000):
        x = (x * 6364136223846793005 + 1442695040888963407) & 0xFFFFFFFFFFFFFFFF
    return {"cpu": round(time.process_time() - began, 3), "wall": round(time.monotonic() - wall, 3)}


def machine():
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), platform.machine())
    commit = subprocess.run(["git", "-C", str(ROOT), "describe", "--always", "--dirty"], capture_output=True, text=True, check=False).stdout.strip()
    return {"cpu": model, "cores": os.cpu_count(), "load": [round(one, 1) for one in os.getloadavg()], "commit": commit}
