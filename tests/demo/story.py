#!/usr/bin/env python3
"""The demo: twelve nodes, four of them bad, two jobs, one repair. Told for people; with --check also a test of what it tells.

Runs inside `scripts/control-plane run`, which gives it an API server, a scheduler, controllers and kwok. The operator and
the agents are the real programs, started as the chart's own pods say and under the chart's accounts.
"""
import argparse
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/chart"))
sys.path.insert(0, str(ROOT / "tests/demo"))
import audit  # noqa: E402
from fleet import Fleet  # noqa: E402


class Failed(Exception):
    pass


class Story:
    def __init__(self, options, folder):
        self.options, self.folder = options, pathlib.Path(folder)
        self.fleet = Fleet(folder, **options.fleet)
        self.bin = pathlib.Path(os.environ.get("VERL_BIN", ROOT / "build/debug/bin"))
        self.state = self.folder / "programs"
        self.state.mkdir()
        self.pids = {}
        self.began = time.monotonic()

    # ---- telling

    def scene(self, number, title, what):
        print(f"\n\033[1m── {number}. {title}\033[0m" if sys.stdout.isatty() else f"\n== {number}. {title}")
        print(f"   {what}\n", flush=True)

    def run(self, *argv, show=True, check=True, timeout=60, as_typed=None, limit=0):
        """Runs a command as one would type it, shows it and what it prints, and returns that."""
        if show:
            print("$ " + (as_typed or " ".join(argv)), flush=True)
        env = dict(os.environ, PATH=f"{self.bin}:{os.environ['PATH']}")
        done = subprocess.run(argv, capture_output=True, text=True, timeout=timeout, env=env)
        text = done.stdout + (done.stderr if done.returncode else "")
        if show:
            lines = text.rstrip().splitlines()
            for line in lines[:limit] if limit else lines:
                print("  " + line)
            if limit and len(lines) > limit:
                print(f"  … {len(lines) - limit} more lines")
        if check and done.returncode not in (check if isinstance(check, tuple) else (0,)):
            raise Failed(f"{' '.join(argv)} ended with {done.returncode}: {done.stderr.strip()[-800:]}")
        return done.stdout

    def kubectl(self, *argv, **how):
        return self.run("kubectl", *argv, **how)

    def verl(self, *argv, **how):
        return self.run(str(self.bin / "kubectl-verl"), *argv, as_typed="kubectl verl " + " ".join(argv), **how)

    def get(self, *argv):
        return json.loads(self.kubectl("get", *argv, "-o", "json", show=False))

    def wait(self, what, test, seconds=60):
        """Until test() gives something; shows that it waits when that takes longer than a second."""
        until, told, began = time.monotonic() + seconds, False, time.monotonic()
        while True:
            try:
                found = test()
            except (Failed, KeyError, IndexError, ValueError, subprocess.SubprocessError):
                found = None
            if found:
                if told:
                    print(f" {time.monotonic() - began:.0f} s", flush=True)
                return found
            if time.monotonic() > until:
                print(flush=True)
                raise Failed(f"waited {seconds} s for {what}")
            if not told and time.monotonic() - began > 1:
                print(f"  … {what}", end="", flush=True)
                told = True
            elif told:
                print(".", end="", flush=True)
            time.sleep(0.5)

    # ---- doing

    def launch(self, selector):
        argv = [sys.executable, str(ROOT / "tests/chart/launch.py"), "all", "-n", self.fleet.operator_space, "--selector", selector,
                "--logs", str(self.folder / "logs"), "--state", str(self.state), "--host-trees", str(self.fleet.trees), "--owner", str(os.getpid())]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=120, env=dict(os.environ, VERL_BIN=str(self.bin)))
        if done.returncode:
            raise Failed(f"starting the programs of {selector}: {done.stderr.strip()[-1000:]}")
        for line in done.stdout.split("\n"):
            if line.strip():
                pid, pod, node = line.split()
                self.pids[pod] = (int(pid), node)

    def stop_programs(self):
        subprocess.run([sys.executable, str(ROOT / "tests/chart/launch.py"), "stop", "--state", str(self.state)], capture_output=True, timeout=60)

    def verdicts(self):
        items = self.get("nodereadinesses")["items"]
        return {i["metadata"]["name"]: i.get("status", {}).get("verdict", "") for i in items}

    def job(self, name):
        return self.get("verljob", name, "-n", self.fleet.name_space)

    # ---- the scenes

    def play(self):
        fleet = self.fleet
        print("A control plane of its own (etcd, kube-apiserver, kube-scheduler, controllers) runs on loopback.")
        print("Simulated: the twelve nodes and the containers of pods (kwok); the hosts the agents look at are recorded trees.")
        fleet.make_trees()
        objects = self.folder / "fleet.json"
        objects.write_text(json.dumps(fleet.objects()))
        self.kubectl("apply", "-f", str(objects), show=False)

        self.scene(1, "The administrator installs the chart", "One operator and one agent a GPU node, each under its own account.")
        values = ["--set", "preset=h100-roce", "--set-json", json.dumps({"name": "rack", "key": fleet.rack_key}).join(["topology.levels=[", "]"]),
                  "--set", "heartbeat.idleSeconds=3", "--set", "heartbeat.busySeconds=3", "--set-string", "agent.nodeSelector.nvidia\\.com/gpu\\.present=true",
                  "--set", "operator.healthPort=0", "--set", "operator.metricsPort=0"]
        self.kubectl("create", "namespace", fleet.operator_space, show=False)
        self.kubectl("label", "namespace", fleet.operator_space, "pod-security.kubernetes.io/enforce=privileged", show=False)
        self.run("helm", "install", "verl-operator", str(ROOT / "helm/verl-operator"), "-n", fleet.operator_space, *values,
                 as_typed=f"helm install verl-operator helm/verl-operator -n {fleet.operator_space} --set preset=h100-roce …", limit=4, timeout=120)
        self.launch("app.kubernetes.io/component=operator")
        self.launch("app.kubernetes.io/component=agent")
        silent = fleet.name(fleet.silent)
        self.wait("every agent to report", lambda: self.reported() == set(map(fleet.name, fleet.numbers())), 90)
        for pid, node in self.pids.values():
            if node == silent:
                os.kill(pid, signal.SIGKILL)
        self.wait(f"the agent of {silent}, which was just stopped, to be missed", lambda: self.verdicts()[silent] == "Unknown", 60)

        self.scene(2, "Which nodes are fit?", "Four are not, each for a reason of its own; a silent agent makes its node Unknown, never fit.")
        self.kubectl("get", "vnr")
        report = self.verl("report", check=(0, 79))
        self.check_nodes(report)

        self.scene(3, "The researcher asks first, then applies", "The plan is made by the operator's own decision code and writes nothing.")
        job_file = ROOT / "examples/qwen-grpo-gsm8k.yaml"
        snapshot = self.folder / "before.json"
        self.verl("snapshot", "-o", str(snapshot), show=False)
        self.verl("plan", "-f", str(job_file.relative_to(ROOT)), "-n", fleet.name_space, check=(0, 79))
        self.kubectl("apply", "-n", fleet.name_space, "-f", str(job_file.relative_to(ROOT)))
        self.wait("the gang to run", lambda: self.job("qwen-grpo-gsm8k")["status"]["phase"] == "Running", 60)
        self.kubectl("get", "vlj", "-n", fleet.name_space)
        self.kubectl("get", "pods", "-n", fleet.name_space, "-o", "wide", as_typed=f"kubectl get pods -n {fleet.name_space} -o wide", limit=12)
        self.kubectl("events", "-n", fleet.name_space, "--for", "verljob/qwen-grpo-gsm8k", limit=12)
        self.check_first_job(snapshot, job_file)

        self.scene(4, "A second job finds no rack and says why", "Every node that is left out has its reason; nothing of the job holds a GPU meanwhile.")
        second = self.folder / "llama.json"
        second.write_text(json.dumps(self.second_job()))
        self.kubectl("apply", "-f", str(second), show=False)
        print("$ kubectl apply -f llama-ppo.yaml        3 nodes × 8 GPUs, one rack required")
        self.wait("its first decision", lambda: self.job("llama-ppo")["status"]["reason"] == "ShortOfNodesInRack", 30)
        self.kubectl("get", "vlj", "-n", fleet.name_space)
        self.verl("explain", "llama-ppo", "-n", fleet.name_space)
        self.check_second_job_waits()

        mended = fleet.name(fleet.mtu_fault)
        self.scene(5, "One node is mended", f"The fabric interfaces of {mended} get MTU 9000; its agent sees it, and the job is admitted by itself.")
        print(f"$ ssh {mended} 'for i in ens{{0..7}}f0; do ip link set $i mtu 9000; done'")
        fleet.mend(fleet.mtu_fault)
        self.wait("the report, the admission and the pods", lambda: self.job("llama-ppo")["status"]["phase"] == "Running", 60)
        self.kubectl("get", "vnr", mended)
        self.kubectl("get", "vlj", "-n", fleet.name_space)
        self.check_second_job_runs(mended)

        self.scene(6, "The trainer ends", "The outcome is the exit code of container driver in the head pod.")
        head = f"qwen-grpo-gsm8k-{self.job('qwen-grpo-gsm8k')['status']['placement']['attempt']}-0"
        passed = json.dumps({"verl.run/gate": "Passed", "message": "trainer started"})
        self.kubectl("annotate", "pod", head, "-n", fleet.name_space, "sim.verl.run/exit-code=0", f"sim.verl.run/exit-message={passed}", show=False)
        self.wait("the end to be written", lambda: self.job("qwen-grpo-gsm8k")["status"]["phase"] == "Succeeded", 30)
        self.kubectl("get", "vlj", "-n", fleet.name_space)

        self.scene(7, "And this very machine", "The same agent, alone and live: what it finds here is real.")
        self.run(str(self.bin / "verl-node-agent"), "check", as_typed="verl-node-agent check", check=(0, 79), limit=24)

    def reported(self):
        """Nodes of which the operator knows what to think, by a report about what it asks for now."""
        return {i["metadata"]["name"] for i in self.get("nodereadinesses")["items"]
                if i["status"].get("observedGeneration") == i["metadata"]["generation"] and i["status"]["verdict"] in ("Ready", "NotReady")}

    def second_job(self):
        return {"apiVersion": "verl.run/v1alpha1", "kind": "VerlJob", "metadata": {"name": "llama-ppo", "namespace": self.fleet.name_space},
                "spec": {"image": "registry.example/verl:0.9.1", "trainer": {"module": "verl.trainer.main_ppo"},
                         "pools": [{"name": "main", "nodes": 3, "gpusPerNode": 8}], "topology": {"level": "rack", "mode": "Required"}}}

    # ---- what must be true; a story that tells anything else is a failed test

    def must(self, truth, sentence):
        if not truth:
            raise Failed(sentence)

    def check_nodes(self, report):
        fleet, verdicts = self.fleet, self.verdicts()
        reasons = {i["metadata"]["name"]: next((c["reason"] for c in i["status"].get("conditions", []) if c["type"] == "Ready"), "")
                   for i in self.get("nodereadinesses")["items"]}
        wanted = {fleet.name(n): "Ready" for n in fleet.numbers()}
        for number in (fleet.mtu_fault, fleet.clock_fault, fleet.nccl_fault):
            wanted[fleet.name(number)] = "NotReady"
        wanted[fleet.name(fleet.silent)] = "Unknown"
        self.must(verdicts == wanted, f"verdicts are {verdicts}, want {wanted}")
        for number, reason in ((fleet.mtu_fault, "MTUInterface"), (fleet.clock_fault, "ClockSync"), (fleet.nccl_fault, "NCCLEnv"), (fleet.silent, "AgentSilent")):
            self.must(reasons[fleet.name(number)] == reason, f"{fleet.name(number)} is {reasons[fleet.name(number)]}, want {reason}")
            self.must(fleet.name(number) in report, f"the report does not name {fleet.name(number)}")

    def check_first_job(self, snapshot, job_file):
        fleet = self.fleet
        status = self.job("qwen-grpo-gsm8k")["status"]
        nodes = [rank["node"] for rank in status["placement"]["ranks"]]
        first_rack = sorted((fleet.name(n) for n in range(1, 5)), key=lambda name: next(fleet.address(k) for k in range(1, 5) if fleet.name(k) == name))
        self.must(nodes == first_rack, f"the gang is on {nodes}, want {first_rack} in string order of addresses")
        pods = self.get("pods", "-n", fleet.name_space)["items"]
        self.must(all(p["spec"].get("nodeName") in nodes and p["status"]["phase"] == "Running" for p in pods), "a pod is not bound and running on its node")
        planned = json.loads(self.verl("plan", "-f", str(job_file), "-n", fleet.name_space, "--from", str(snapshot), "-o", "json", show=False, check=(0, 79)))
        # The time of the decision is the one thing that a later plan cannot have in common.
        written = dict(status["placement"], decided="")
        self.must(dict(planned["placement"], decided="") == written, f"plan says {planned['placement']}, the operator wrote {status['placement']}")

    def check_second_job_waits(self):
        job = self.job("llama-ppo")
        self.must("placement" not in job["status"], "the second job has a placement")
        pods = [p["metadata"]["name"] for p in self.get("pods", "-n", self.fleet.name_space)["items"]]
        self.must(not any(name.startswith("llama-ppo") for name in pods), f"the waiting job has pods: {pods}")
        ready = next(c for c in job["status"]["conditions"] if c["type"] == "Ready")
        self.must("needs 3 fit nodes in one rack" in ready["message"], f"the message is {ready['message']}")

    def check_second_job_runs(self, mended):
        nodes = {rank["node"] for rank in self.job("llama-ppo")["status"]["placement"]["ranks"]}
        fleet = self.fleet
        wanted = {fleet.name(n) for n in range(5, 9)} - {fleet.name(fleet.clock_fault)}
        self.must(nodes == wanted and mended in nodes, f"the second gang is on {sorted(nodes)}, want {sorted(wanted)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="also check the audit log: who wrote what")
    parser.add_argument("--renamed", action="store_true", help="with other names, labels, namespaces and addresses")
    options = parser.parse_args()
    options.fleet = {}
    os.chdir(ROOT)
    if options.renamed:
        options.fleet = dict(prefix="gpu-", rack_key="example.com/row", rack_prefix="row-", name_space="research", operator_space="verl", network="172.20", shuffle=2)
    folder = tempfile.mkdtemp(prefix="verl-demo.")
    os.chmod(folder, 0o755)  # the agents run as a user of their own and read the hosts in it
    story = Story(options, folder)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    code = 1
    try:
        story.play()
        code = 0
        if options.check:
            audit.check(os.environ["VERL_PLANE_AUDIT_LOG"], story.fleet)
            print("\nthe audit log agrees: who wrote what is as it must be")
        print(f"\nDone in {time.monotonic() - story.began:.0f} s. Nothing is left behind.")
    except (Failed, audit.Violation, subprocess.SubprocessError) as error:
        print(f"\nthe story ends early: {error}", file=sys.stderr)
        logs = sorted((story.folder / "logs").glob("*.log")) if (story.folder / "logs").is_dir() else []
        for log in [l for l in logs if "agent" not in l.name][:1] + [l for l in logs if "agent" in l.name][:1]:
            print(f"--- the end of {log.name}", *log.read_text(errors="replace").splitlines()[-15:], sep="\n", file=sys.stderr)
    except KeyboardInterrupt:
        code = 130
    finally:
        story.stop_programs()
        if os.environ.get("VERL_KEEP") == "1":
            print(f"kept: {folder}", file=sys.stderr)
        else:
            shutil.rmtree(folder, ignore_errors=True)
    return code


if __name__ == "__main__":
    sys.exit(main())
