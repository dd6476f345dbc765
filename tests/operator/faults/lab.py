"""What the fault tests share: a fleet of simulated nodes, the chart's operator and agents as processes, waits.

The administrator here makes nodes, jobs and policies and sets kwok's annotations; all else is done by the programs under
the chart's own accounts. Runs inside `scripts/control-plane run --`.
"""
import http.client
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.dont_write_bytecode = True
for folder in ("tests/chart", "tests/demo"):
    sys.path.insert(0, str(ROOT / folder))
import audit  # noqa: E402
import chart  # noqa: E402
import fleet as demo_fleet  # noqa: E402
from cluster import ApiError, Cluster  # noqa: E402

SPACE, RL = "verl-system", "rl"
JOBS = f"/apis/verl.run/v1alpha1/namespaces/{RL}/verljobs"
PODS = f"/api/v1/namespaces/{RL}/pods"
NODES = "/api/v1/nodes"
REPORTS = "/apis/verl.run/v1alpha1/nodereadinesses"
POLICIES = "/apis/verl.run/v1alpha1/readinesspolicies"
MERGE, STRATEGIC = "application/merge-patch+json", "application/strategic-merge-patch+json"
PASSED = json.dumps({"verl.run/gate": "Passed", "message": "trainer started"})
LOST = (OSError, http.client.HTTPException, subprocess.SubprocessError, ValueError)


class Fleet(demo_fleet.Fleet):
    """Racks of four whole hosts, without the demo's faults."""

    def __init__(self, folder, count):
        super().__init__(folder, name_space=RL, operator_space=SPACE)
        self.count, self.faults = count, {}

    def numbers(self):
        return range(1, self.count + 1)


def said(line):
    print(line, file=sys.stderr, flush=True)


class Lab:
    def __init__(self, nodes, values=None, agents=True):
        self.began = time.monotonic()
        self.api = Cluster()
        self.plane = os.environ["VERL_PLANE_DIR"]
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="verl-faults."))
        self.folder.chmod(0o755)
        self.bin = os.environ.get("VERL_BIN", str(ROOT / "build/debug/bin"))
        self.fleet = Fleet(self.folder, nodes)
        self.fleet.make_trees()
        for item in self.fleet.objects()["items"]:
            self.make(item)
        more = {"preset": '"h100-roce"', "heartbeat.idleSeconds": 3, "heartbeat.busySeconds": 3, "operator.healthPort": 0, "operator.metricsPort": 0,
                "topology.levels": '[{"name": "rack", "key": "verl.run/rack"}]', "agent.nodeSelector": '{"nvidia.com/gpu.present": "true"}'}
        more.update({"operator.leaderElection.leaseDurationSeconds": 4, "operator.leaderElection.renewDeadlineSeconds": 3,
                     "operator.leaderElection.retryPeriodSeconds": 1})
        more.update(values or {})
        chart.run("helm", "install", chart.RELEASE, chart.CHART, "-n", SPACE, "--create-namespace", *chart.settings(more))
        for path in (JOBS, REPORTS, POLICIES):  # established is not yet served
            self.wait(f"{path} is served", lambda path=path: self.api.get(path))
        self.operators = {}  # pod → pid
        self.agents = {}     # node → pid
        self.operator_pods = sorted(p["metadata"]["name"] for p in self.chart_pods("operator", json.loads(str(more.get("operator.replicas", 1)))))
        if agents:
            self.start_agents()

    # ---- programs

    def chart_pods(self, component, count):
        path = f"/api/v1/namespaces/{SPACE}/pods?labelSelector=app.kubernetes.io/component={component}"
        return self.wait(f"{count} running {component} pods", lambda: self._running(path, count), 90)

    def _running(self, path, count):
        pods = [p for p in self.api.get(path)["items"] if "deletionTimestamp" not in p["metadata"] and p["status"].get("phase") == "Running"]
        return len(pods) >= count and pods

    def launch(self, *words):
        done = subprocess.run([sys.executable, str(ROOT / "tests/chart/launch.py"), words[0], "-n", SPACE, "--bin", self.bin, "--state", str(self.folder / "state"),
                               "--host-trees", str(self.fleet.trees), "--owner", str(os.getpid()), *words[1:]], capture_output=True, text=True, timeout=120)
        if done.returncode:
            raise AssertionError(f"launch {' '.join(words)}: {done.stderr[-2000:]}")
        return done.stdout.split("\n")[:-1]

    def start_operator(self, pod=None, server=None):
        pod = pod or self.operator_pods[0]
        log = self.folder / f"operator-{pod}.log"
        out = self.launch("pod", pod, "--log", str(log), *(["--server", server] if server else []))
        self.operators[pod] = int(out[0])
        return self.operators[pod]

    def start_agents(self, nodes=None):
        wanted = nodes or [self.fleet.name(n) for n in self.fleet.numbers()]
        pods = self.wait("an agent's pod on each node", lambda: self._agent_pods(wanted), 60)
        if nodes is None:
            for line in self.launch("all", "--selector", "app.kubernetes.io/component=agent", "--logs", str(self.folder / "agents"), "--count", str(len(wanted))):
                pid, _, node = line.split(" ")
                self.agents[node] = int(pid)
        else:
            for node, pod in pods.items():
                self.agents[node] = int(self.launch("pod", pod, "--log", str(self.folder / f"agent-{pod}.log"))[0])

    def _agent_pods(self, nodes):
        listed = self.api.get(f"/api/v1/namespaces/{SPACE}/pods?labelSelector=app.kubernetes.io/component=agent")["items"]
        found = {p["spec"].get("nodeName"): p["metadata"]["name"] for p in listed
                 if "deletionTimestamp" not in p["metadata"] and p["status"].get("phase") == "Running"}
        return all(node in found for node in nodes) and {node: found[node] for node in nodes}

    def signal(self, pid, number):
        os.kill(pid, number)

    def operator_log(self, pod=None):
        try:
            return (self.folder / f"operator-{pod or self.operator_pods[0]}.log").read_text(errors="replace")
        except FileNotFoundError:
            return ""

    def close(self, failed):
        subprocess.run([sys.executable, str(ROOT / "tests/chart/launch.py"), "stop", "--state", str(self.folder / "state")], capture_output=True, timeout=60)
        if failed or os.environ.get("VERL_KEEP") == "1":
            said(f"kept: {self.folder}")
        else:
            shutil.rmtree(self.folder, ignore_errors=True)
        said(f"the lab was open for {time.monotonic() - self.began:.0f} s")

    # ---- the cluster

    def wait(self, what, test, seconds=60):
        until, last = time.monotonic() + seconds, None
        while True:
            try:
                found = test()
                if found:
                    return found
            except (ApiError, KeyError, IndexError, TypeError, *LOST) as error:
                last = error
            if time.monotonic() > until:
                raise AssertionError(f"not so after {seconds} s: {what() if callable(what) else what}" + (f" (last: {last!r})" if last else ""))
            time.sleep(0.15)

    def make(self, item):
        meta = item["metadata"]
        api, kind = item["apiVersion"], item["kind"].lower()
        base = f"/api/{api}" if "/" not in api else f"/apis/{api}"
        plural = {"verljob": "verljobs", "nodereadiness": "nodereadinesses", "readinesspolicy": "readinesspolicies", "priorityclass": "priorityclasses"}.get(kind, kind + "s")
        if "namespace" in meta:
            base += f"/namespaces/{meta['namespace']}"
        return self.api.request("POST", f"{base}/{plural}", item)

    def job_object(self, name, nodes=2, gpus=8, annotations=None, template=None, **spec):
        pool = {"name": "main", "nodes": nodes, "gpusPerNode": gpus}
        if annotations:
            pool["template"] = {"metadata": {"annotations": annotations}}
        if template:
            pool["template"] = template
        return {"apiVersion": "verl.run/v1alpha1", "kind": "VerlJob", "metadata": {"name": name, "namespace": RL},
                "spec": {"image": "registry.example/verl:0.9.1", "trainer": {"module": "verl.trainer.main_ppo"}, "pools": [pool], **spec}}

    def token_of(self, name, role):
        """An API client for an account of the jobs' namespace with that ClusterRole there: a user, not the administrator."""
        core = f"/api/v1/namespaces/{RL}"
        self.api.request("POST", f"{core}/serviceaccounts", {"metadata": {"name": name}})
        self.api.request("POST", f"/apis/rbac.authorization.k8s.io/v1/namespaces/{RL}/rolebindings",
                         {"metadata": {"name": name}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
                          "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": RL}]})
        made = self.api.request("POST", f"{core}/serviceaccounts/{name}/token", {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}})
        return self.api.bearer(made["status"]["token"])

    def make_job(self, name, **how):
        return self.make(self.job_object(name, **how))

    def job(self, name):
        return self.api.get(f"{JOBS}/{name}")

    def status(self, name):
        return self.job(name).get("status", {})

    def patch_job(self, name, **spec):
        return self.api.request("PATCH", f"{JOBS}/{name}", {"spec": spec}, MERGE)

    def delete_job(self, name):
        try:
            self.api.request("DELETE", f"{JOBS}/{name}")
        except ApiError as error:
            if error.code != 404:
                raise

    def pods(self, job=None, namespace=RL):
        selector = f"?labelSelector=verl.run/job-name%3D{job}" if job else ""
        return self.api.get(f"/api/v1/namespaces/{namespace}/pods{selector}")["items"]

    def annotate(self, path, **annotations):
        return self.api.request("PATCH", path, {"metadata": {"annotations": annotations}}, MERGE)

    def annotate_pod(self, name, **sim):
        return self.annotate(f"{PODS}/{name}", **{f"sim.verl.run/{key.replace('_', '-')}": value for key, value in sim.items()})

    def phase(self, name, *phases, seconds=40):
        """Waits for one of the phases; gives the status."""
        def there():
            status = self.status(name)
            return status.get("phase") in phases and status
        return self.wait(lambda: f"{name} is {' or '.join(phases)}; status {json.dumps(self.seen_status(name))}", there, seconds)

    def seen_status(self, name):
        try:
            status = self.status(name)
        except (ApiError, *LOST) as error:
            return repr(error)
        return {"phase": status.get("phase"), "reason": status.get("reason"), "attempts": status.get("attempts"), "rejected": status.get("rejectedNodes"),
                "message": next((c.get("message") for c in status.get("conditions", []) if c["type"] == "Ready"), None)}

    def running(self, name, seconds=40):
        return self.phase(name, "Running", seconds=seconds)

    def nodes_of(self, status):
        return [rank["node"] for rank in status["placement"]["ranks"]]

    def gone(self, *names, seconds=40):
        """The jobs, their pods and their secrets."""
        def nothing():
            secrets = self.api.get(f"/api/v1/namespaces/{RL}/secrets")["items"]
            jobs = {j["metadata"]["name"] for j in self.api.get(JOBS)["items"]}
            owners = {o["name"] for item in secrets + self.pods() for o in item["metadata"].get("ownerReferences", [])}
            return not (set(names) & (jobs | owners))
        self.wait(lambda: f"nothing is left of {names}; pods {[p['metadata']['name'] for p in self.pods()]}", nothing, seconds)

    def verdicts(self):
        return {i["metadata"]["name"]: i.get("status", {}).get("verdict", "") for i in self.api.get(REPORTS)["items"]}

    def ready_reason(self, node):
        status = self.api.get(f"{REPORTS}/{node}").get("status", {})
        return status.get("verdict"), next((c["reason"] for c in status.get("conditions", []) if c["type"] == "Ready"), "")

    def audit(self):
        """The demo's rules over the whole run: who wrote what."""
        time.sleep(1)  # the log is written a moment after the answer
        audit.check(os.environ["VERL_PLANE_AUDIT_LOG"], self.fleet)

    def all_ready(self, seconds=90):
        wanted = {self.fleet.name(n): "Ready" for n in self.fleet.numbers()}
        self.wait(lambda: f"all reports are Ready: {self.verdicts()}", lambda: self.verdicts() == wanted, seconds)


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class Supervisor(threading.Thread):
    """Starts an operator again when it has ended, as a kubelet would."""

    def __init__(self, lab, pod=None, server=None):
        super().__init__(daemon=True)
        self.lab, self.pod, self.server = lab, pod or lab.operator_pods[0], server
        self.over, self.starts, self.error = False, 0, None
        self.start()

    def run(self):
        while not self.over:
            if not alive(self.lab.operators[self.pod]):
                try:
                    self.lab.start_operator(self.pod, self.server)
                    self.starts += 1
                except Exception as error:  # told by whoever waits
                    self.error = error
            time.sleep(0.05)


def end(pid, number=signal.SIGTERM, seconds=15):
    """Sends the signal; gives the seconds until the process was gone."""
    began = time.monotonic()
    os.kill(pid, number)
    while time.monotonic() - began < seconds:
        if not alive(pid):
            return time.monotonic() - began
        time.sleep(0.01)
    raise AssertionError(f"process {pid} is still there {seconds} s after signal {number}")
