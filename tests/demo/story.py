#!/usr/bin/env python3
"""The demo: twelve nodes, four of them bad, two jobs, one repair. Told for people; with --check also a test of what it tells.

Runs inside `scripts/control-plane run`, which gives it an API server, a scheduler, controllers and kwok. The operator and
the agents are the real programs, started as the chart's own pods say and under the chart's accounts.
"""
import argparse
import json
import os
import pathlib
import shlex
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests/demo"))
import audit  # noqa: E402
from fleet import CLAIMS, Fleet  # noqa: E402
from stage import Failed, Interrupted, Stage  # noqa: E402

FIRST, SECOND = "qwen-grpo-gsm8k", "llama-ppo"
# What the driver's gate says on its way out when the trainer had been started.
PASSED = json.dumps({"verl.run/gate": "Passed", "message": "trainer started"})
BAD_FIRST = ("×", "?", "‼")


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def worst_first(lines):
    """Of a report of one node: what fails or is unknown, with its details, then how much there is of the rest, then the count."""
    shown, rest, told = [], 0, False
    for line in lines[:-1]:
        if not line.startswith(" "):
            told = line.startswith(BAD_FIRST)
        if told:
            shown.append(line)
        elif line.strip():
            rest += 1
    return shown + [f"… {rest} more lines about what passes or is not judged", lines[-1]] if lines else []


class Story(Stage):
    def verdicts(self):
        items = self.get("nodereadinesses")["items"]
        return {i["metadata"]["name"]: i.get("status", {}).get("verdict", "") for i in items}

    def job(self, name):
        return self.get("verljob", name, "-n", self.fleet.name_space)

    # ---- the scenes

    def play(self):
        print("A control plane of its own (etcd, kube-apiserver, kube-scheduler, controllers) runs on loopback.")
        print("Simulated: the twelve nodes and the containers of pods (kwok); the hosts the agents look at are recorded trees.")
        self.install()
        self.look_at_nodes()
        self.first_job()
        self.second_job_waits()
        self.second_job_admitted()
        self.trainer_ends()
        self.scene(7, "And this very machine", "The same agent, alone and live: what it finds here is real.")
        self.run(str(self.bin / "verl-node-agent"), "check", as_typed="verl-node-agent check", check=(0, 79), cut=worst_first, limit=30)

    def install(self):
        fleet = self.fleet
        fleet.make_trees()
        objects = self.folder / "fleet.json"
        objects.write_text(json.dumps(fleet.objects()))
        self.kubectl("apply", "-f", str(objects), show=False)

        self.scene(1, "The administrator installs the chart", "One operator and one agent a GPU node, each under its own account.")
        # The operator is stopped for some seconds in scene 5: it keeps its lead meanwhile.
        values = ["--set", "preset=h100-roce", "--set-json", "topology.levels=" + json.dumps(fleet.levels()),
                  "--set", "heartbeat.idleSeconds=3", "--set", "heartbeat.busySeconds=3", "--set-string", "agent.nodeSelector.nvidia\\.com/gpu\\.present=true",
                  "--set", "operator.healthPort=0", "--set", "operator.metricsPort=0",
                  "--set", "operator.leaderElection.leaseDurationSeconds=90", "--set", "operator.leaderElection.renewDeadlineSeconds=80"]
        self.kubectl("create", "namespace", fleet.operator_space, show=False)
        self.kubectl("label", "namespace", fleet.operator_space, "pod-security.kubernetes.io/enforce=privileged", show=False)
        self.run("helm", "install", "verl-operator", str(ROOT / "helm/verl-operator"), "-n", fleet.operator_space, *values,
                 as_typed=f"helm install verl-operator helm/verl-operator -n {fleet.operator_space} --set preset=h100-roce …", limit=4, timeout=120)
        (self.operator,) = self.launch("app.kubernetes.io/component=operator")
        self.launch("app.kubernetes.io/component=agent")
        silent = fleet.name(fleet.silent)
        self.wait("every agent to report", lambda: self.reported() == set(map(fleet.name, fleet.numbers())), 90)
        for pid, node in self.pids.values():
            if node == silent:
                os.kill(pid, signal.SIGKILL)
        self.wait(f"the agent of {silent}, which was just stopped, to be missed", lambda: self.verdicts()[silent] == "Unknown", 60)

    def look_at_nodes(self):
        self.scene(2, "Which nodes are fit?", "Four are not, each for a reason of its own; a silent agent makes its node Unknown, never fit.")
        self.kubectl("get", "vnr")
        report = self.verl("report", check=(0, 79))
        self.check_nodes(report)

    def first_job(self):
        space = self.fleet.name_space
        self.scene(3, "The researcher asks first, then applies", "The plan is made by the operator's own decision code and writes nothing.")
        job_file = f"examples/{FIRST}.yaml"
        export = self.folder / "before-first.json"
        self.verl("snapshot", "-o", str(export), show=False)
        self.verl("plan", "-f", job_file, "-n", space)
        self.kubectl("apply", "-n", space, "-f", job_file)
        self.wait("the gang to run", lambda: self.job(FIRST)["status"]["phase"] == "Running", 60)
        self.kubectl("get", "vlj", "-n", space)
        self.kubectl("get", "pods", "-n", space, "-o", "wide", limit=12)
        self.kubectl("events", "-n", space, "--for", f"verljob/{FIRST}", limit=12)
        self.check_first_job()
        self.check_plan(FIRST, export, "-f", job_file, "-n", space)

    def second_job_waits(self):
        space = self.fleet.name_space
        self.scene(4, "A second job finds no rack and says why", "Every node that is left out has its reason; nothing of the job holds a GPU meanwhile.")
        second = self.folder / "llama.json"
        second.write_text(json.dumps(self.second_job()))
        self.kubectl("apply", "-f", str(second), show=False)
        print("$ kubectl apply -f llama-ppo.yaml        3 nodes × 8 GPUs, one rack required")
        self.wait("its first decision", lambda: self.job(SECOND)["status"]["reason"] == "ShortOfNodesInRack", 30)
        self.kubectl("get", "vlj", "-n", space)
        self.verl("explain", SECOND, "-n", space)
        self.check_second_job_waits()

    def second_job_admitted(self):
        fleet, space = self.fleet, self.fleet.name_space
        mended = fleet.name(fleet.mtu_fault)
        self.scene(5, "One node is mended", f"The fabric interfaces of {mended} get MTU 9000; its agent sees it, and the job is admitted by itself.\n"
                   "   The operator is held for a moment, so that the plan comes first and can be compared with what it does.")
        os.kill(self.operator, signal.SIGSTOP)
        print(f"$ ssh {mended} 'for i in ens{{0..7}}f0; do ip link set $i mtu 9000; done'")
        fleet.mend(fleet.mtu_fault)
        self.wait(f"the report of {mended}", lambda: self.nothing_wrong(mended), 60)
        export = self.folder / "before-second.json"
        self.verl("snapshot", "-o", str(export), show=False)
        self.verl("plan", "--job", SECOND, "-n", space, limit=7)
        self.must("placement" not in self.job(SECOND)["status"], "the second job was placed while the operator was stopped")
        os.kill(self.operator, signal.SIGCONT)
        self.wait("the admission and the pods", lambda: self.job(SECOND)["status"]["phase"] == "Running", 60)
        self.kubectl("get", "vnr", mended)
        self.kubectl("get", "vlj", "-n", space)
        self.check_second_job_runs(mended)
        self.check_plan(SECOND, export, "--job", SECOND, "-n", space)

    def trainer_ends(self):
        space = self.fleet.name_space
        self.scene(6, "The trainer ends", "The outcome is the exit code of container driver in the head pod.")
        head = f"{FIRST}-{self.job(FIRST)['status']['placement']['attempt']}-0"
        self.kubectl("annotate", "pod", head, "-n", space, "sim.verl.run/exit-code=0", f"sim.verl.run/exit-message={PASSED}", show=False)
        self.wait("the end to be written", lambda: self.job(FIRST)["status"]["phase"] == "Succeeded", 30)
        self.kubectl("get", "vlj", "-n", space)

    # ---- the cluster for somebody to try

    def stay(self):
        """Says how to reach the cluster and waits."""
        claims = ", ".join(CLAIMS)
        space = self.fleet.name_space
        quote = shlex.quote
        print(f"""
The cluster stays up. In another terminal, in this folder:

export KUBECONFIG={quote(os.environ["KUBECONFIG"])} KUBECACHEDIR={quote(os.environ["KUBECACHEDIR"])}
export PATH={quote(str(self.bin))}:{quote(os.environ["VERL_PLANE_BIN"])}:$PATH      # kubectl-verl; kubectl, helm

kubectl verl report
kubectl apply -n {space} -f examples/minimal.yaml
kubectl verl explain minimal -n {space}

Namespace {space} has the claims {claims}, already bound; others stay unbound, since nothing here provisions volumes.
Containers are simulated: they run until told how to end, for example
kubectl annotate pod minimal-1-0 -n {space} sim.verl.run/exit-code=0 sim.verl.run/exit-message={quote(PASSED)}
Logs of operator and agents: {self.logs}

Enter or Ctrl-C ends it.""", flush=True)
        self.rest()

    def nothing_wrong(self, node):
        findings = self.get("nodereadiness", node)["status"]["findings"]
        return not [one for one in findings if one["verdict"] in ("Fail", "Unknown")]

    def reported(self):
        """Nodes of which the operator knows what to think, by a report about what it asks for now."""
        return {i["metadata"]["name"] for i in self.get("nodereadinesses")["items"]
                if i["status"].get("observedGeneration") == i["metadata"]["generation"] and i["status"]["verdict"] in ("Ready", "NotReady")}

    def second_job(self):
        return {"apiVersion": "verl.run/v1alpha1", "kind": "VerlJob", "metadata": {"name": SECOND, "namespace": self.fleet.name_space},
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

    def check_first_job(self):
        fleet = self.fleet
        nodes = [rank["node"] for rank in self.job(FIRST)["status"]["placement"]["ranks"]]
        first_rack = sorted(range(1, 5), key=fleet.address)
        wanted = [fleet.name(number) for number in first_rack]
        self.must(nodes == wanted, f"the gang is on {nodes}, want {wanted} in string order of addresses")
        pods = self.get("pods", "-n", fleet.name_space)["items"]
        self.must(all(p["spec"].get("nodeName") in nodes and p["status"]["phase"] == "Running" for p in pods), "a pod is not bound and running on its node")

    def check_plan(self, name, export, *which):
        """A plan on the export from before, as of the moment of the decision, is what the operator wrote, byte for byte."""
        written = self.job(name)["status"]["placement"]
        planned = json.loads(self.verl("plan", *which, "--from", str(export), "--now", written["decided"], "-o", "json", show=False))["placement"]
        self.must(canonical(planned) == canonical(written), f"plan says   {canonical(planned).decode()}\nthe operator wrote {canonical(written).decode()}")
        print(f"  plan on an export from before = status.placement as the operator wrote it, byte for byte ({len(canonical(written))} bytes)", flush=True)

    def check_second_job_waits(self):
        job = self.job(SECOND)
        self.must("placement" not in job["status"], "the second job has a placement")
        pods = [p["metadata"]["name"] for p in self.get("pods", "-n", self.fleet.name_space)["items"]]
        self.must(not any(name.startswith(SECOND) for name in pods), f"the waiting job has pods: {pods}")
        ready = next(c for c in job["status"]["conditions"] if c["type"] == "Ready")
        self.must("needs 3 fit nodes in one rack" in ready["message"], f"the message is {ready['message']}")

    def check_second_job_runs(self, mended):
        nodes = {rank["node"] for rank in self.job(SECOND)["status"]["placement"]["ranks"]}
        fleet = self.fleet
        wanted = {fleet.name(n) for n in range(5, 9)} - {fleet.name(fleet.clock_fault)}
        self.must(nodes == wanted and mended in nodes, f"the second gang is on {sorted(nodes)}, want {sorted(wanted)}")


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="also check the audit log: who wrote what")
    parser.add_argument("--renamed", action="store_true", help="with other names, labels, namespaces and addresses")
    stay = parser.add_mutually_exclusive_group()
    stay.add_argument("--stay", action="store_true", help="leave the cluster up after the story")
    stay.add_argument("--only-cluster", action="store_true", help="leave the cluster up without a story")
    options = parser.parse_args()
    if "VERL_PLANE_DIR" not in os.environ:
        parser.error("needs a control plane: scripts/control-plane run -- tests/demo/story.py, or scripts/demo")
    return options


RENAMED = dict(prefix="gpu-", rack_key="example.com/row", block_key="example.com/hall", rack_prefix="row-", name_space="research",
               operator_space="verl", network="172.20", shuffle=2)


def tell(story, options):
    if options.only_cluster:
        story.install()
        story.kubectl("get", "vnr")
    else:
        story.play()
        if options.check:
            audit.check(os.environ["VERL_PLANE_AUDIT_LOG"], story.fleet)
            print("\nthe audit log agrees: who wrote what is as it must be")
    if options.stay or options.only_cluster:
        story.stay()
    else:
        print(f"\nDone in {time.monotonic() - story.began:.0f} s.")


def main():
    options = parse()
    os.chdir(ROOT)
    story = Story(lambda folder: Fleet(folder, **(RENAMED if options.renamed else {})))
    code, last = 1, "cleaning up…"
    try:
        tell(story, options)
        code = 0
    except (Failed, audit.Violation, subprocess.SubprocessError) as error:
        print(f"\nthe story ends early: {error}", file=sys.stderr)
        story.show_logs()
    except BrokenPipeError:  # whoever read has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 128 + signal.SIGPIPE
    except Interrupted as interruption:
        code = 0 if options.stay or options.only_cluster else 128 + interruption.number
        # On TERM, whoever passed it on has said so.
        last = "" if interruption.number == signal.SIGTERM else "\n" + last
    finally:
        if last:
            print(last, file=sys.stderr, flush=True)
        story.end()
    return code


if __name__ == "__main__":
    sys.exit(main())
