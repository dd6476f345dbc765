#!/usr/bin/env python3
"""The real agent in a real cluster: the chart's own pods as processes over made-up host trees, with tokens of their own.

Runs under `scripts/control-plane run --`. The operator's part, making reports and Leases, is played by the administrator.
"""
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "chart"))
import chart  # noqa: E402
from cluster import Cluster  # noqa: E402

NS = chart.NAMESPACE
REPORTS = "/apis/verl.run/v1alpha1/nodereadinesses"
LEASES = f"/apis/coordination.k8s.io/v1/namespaces/{NS}/leases"
MERGE = "application/merge-patch+json"
LAUNCH = os.path.join(HERE, "..", "chart", "launch.py")
BIN = os.environ.get("VERL_BIN", "build/debug/bin")


def eventually(what, ask, seconds=60):
    until = time.monotonic() + seconds
    while True:
        answer = ask()
        if answer:
            return answer
        if time.monotonic() > until:
            raise AssertionError(f"not so after {seconds} s: {what}")
        time.sleep(0.1)


class InCluster(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.api = Cluster()
        cls.folder = tempfile.mkdtemp(prefix="verl-agent-test.")
        os.chmod(cls.folder, 0o755)
        uids = {}
        for number, name in enumerate(("n1", "n2"), 1):
            node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"kwok.x-k8s.io/node": "fake"},
                                                                     "annotations": {"kwok.x-k8s.io/node": "fake"}}}
            uids[name] = cls.api.request("POST", "/api/v1/nodes", node)["metadata"]["uid"]
            subprocess.run([os.path.join(HERE, "make-host-tree"), f"{cls.folder}/trees/{name}", "--address", f"10.20.0.{number}",
                            "--boot-id", f"boot-of-{name}"], check=True)
        chart.run("helm", "install", chart.RELEASE, chart.CHART, "-n", NS, "--create-namespace", "--wait", "--timeout", "90s",
                  *chart.settings({"operator.replicas": 1, "operator.healthPort": 0, "operator.metricsPort": 0}))
        cls.uids = uids
        cls.lines = cls.launch("all", "--selector", "app.kubernetes.io/component=agent", "--count", "2", "--logs", f"{cls.folder}/logs",
                               "--host-trees", f"{cls.folder}/trees").stdout.split("\n")[:-1]
        cls.pids = {line.split(" ")[2]: int(line.split(" ")[0]) for line in cls.lines}
        cls.logs = {line.split(" ")[2]: f"{cls.folder}/logs/{line.split(' ')[1]}.log" for line in cls.lines}

    @classmethod
    def launch(cls, command, *words):
        more = [] if command == "stop" else ["-n", NS, "--bin", BIN, "--owner", str(os.getpid())]
        return chart.run(LAUNCH, command, "--state", os.path.join(cls.folder, "state"), *more, *words)

    @classmethod
    def tearDownClass(cls):
        cls.launch("stop")
        for name, log in cls.logs.items():
            with open(log, encoding="utf-8") as file:
                print(f"--- agent on {name}\n{file.read()}", file=sys.stderr)
        subprocess.run(["rm", "-rf", cls.folder], check=True)

    def said(self, node):
        with open(self.logs[node], encoding="utf-8") as file:
            return file.read()

    def make(self, name, uid):
        spec = {"nodeUID": uid, "address": "10.20.0.1", "policy": "p", "policyGeneration": 1,
                "expectations": {"inventory": {"gpus": 8, "rdmaDevices": 8, "numaNodes": 2}, "thresholds": {"mtuMin": 9000}}}
        self.api.request("POST", REPORTS, {"apiVersion": "verl.run/v1alpha1", "kind": "NodeReadiness", "metadata": {"name": name}, "spec": spec})
        self.api.request("POST", LEASES, {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {
                                              "name": name, "namespace": NS, "labels": {"app.kubernetes.io/component": "heartbeat"}},
                                          "spec": {"holderIdentity": name, "leaseDurationSeconds": 9}})

    def status(self, name="n1"):
        return self.api.get(f"{REPORTS}/{name}").get("status", {})

    def mtu_verdict(self):
        return {one["subject"]: one["verdict"] for one in self.status().get("findings", []) if one["check"] == "mtu-interface"}.get("ens3f0")

    def stamps(self, name="n1"):
        fields = self.api.get(f"{LEASES}/{name}")["metadata"]["managedFields"]
        return [one["time"] for one in fields if one["manager"] == "verl-node-agent" and "f:renewTime" in json.dumps(one["fieldsV1"])]

    def test_1_waits_for_its_report(self):
        for name in ("n1", "n2"):
            eventually("it says what it waits for", lambda name=name: f"no NodeReadiness {name} yet" in self.said(name))

    def test_2_publishes_its_own_report(self):
        self.make("n1", self.uids["n1"])
        status = eventually("the report is there", self.status)
        self.assertEqual(1, status["observedGeneration"])
        self.assertEqual(self.uids["n1"], status["nodeUID"])
        self.assertEqual("boot-of-n1", status["bootID"])
        self.assertEqual([], [one for one in status["findings"] if one["verdict"] not in ("Pass", "Skipped")])
        self.assertEqual(["eno1"], [one["name"] for one in status["interfaces"] if one["control"]])
        self.assertEqual(8, len(status["topology"]["gpus"]))
        self.assertEqual(["Healthy"], [one["type"] for one in status["conditions"]])
        managers = {one["manager"] for one in self.api.get(f"{REPORTS}/n1")["metadata"]["managedFields"] if one.get("subresource") == "status"}
        self.assertEqual({"verl-node-agent"}, managers)

    def test_3_renews_its_lease_at_a_third_of_the_duration(self):
        first = eventually("the server stamped a renewal", self.stamps)
        second = eventually("and another", lambda: self.stamps() != first and self.stamps())
        self.assertEqual(1, len(second))

    def test_4_writes_only_what_changed(self):
        # The second look compares packet counters with the first, so it still brings news.
        eventually("the second look is published", lambda: any(
            one["check"] == "packet-drops" and one["verdict"] == "Pass" for one in self.status()["findings"]))
        version = self.api.get(f"{REPORTS}/n1")["metadata"]["resourceVersion"]
        time.sleep(17)  # a look comes every 15 s
        self.assertEqual(version, self.api.get(f"{REPORTS}/n1")["metadata"]["resourceVersion"])

    def test_5_reports_a_fault_and_its_mend(self):
        path = f"{self.folder}/trees/n1/sys/class/net/ens3f0/mtu"
        for mtu, verdict in ((1500, "Fail"), (9000, "Pass")):
            with open(path, "w", encoding="utf-8") as file:
                file.write(f"{mtu}\n")
            eventually(f"MTU {mtu} is {verdict}", lambda verdict=verdict: self.mtu_verdict() == verdict)

    def test_6_keeps_the_operators_part(self):
        ready = {"type": "Ready", "status": "True", "reason": "Ready", "message": "", "lastTransitionTime": "2026-01-02T03:04:05Z"}
        body = {"apiVersion": "verl.run/v1alpha1", "kind": "NodeReadiness", "metadata": {"name": "n1"},
                "status": {"verdict": "Ready", "conditions": [ready]}}
        self.api.request("PATCH", f"{REPORTS}/n1/status?fieldManager=verl-operator-status&force=true", body, "application/apply-patch+yaml")
        self.api.request("PATCH", f"{REPORTS}/n1", {"spec": {"expectations": {"thresholds": {"mtuMin": 9100}}}}, MERGE)
        eventually("it judges the new generation", lambda: self.status()["observedGeneration"] == 2 and self.mtu_verdict() == "Fail")
        self.assertEqual("Ready", self.status()["verdict"])
        self.assertEqual({"Healthy", "Ready"}, {one["type"] for one in self.status()["conditions"]})

    def test_7_leaves_the_report_of_an_earlier_node_alone(self):
        self.make("n2", "11111111-aaaa-bbbb-cccc-000000000000")
        eventually("it says so", lambda: "is of an earlier node of that name" in self.said("n2"))
        self.assertEqual({}, self.status("n2"))
        self.assertEqual([], self.stamps("n2"))

    def test_8_ends_within_five_seconds(self):
        start = time.monotonic()
        os.kill(self.pids["n1"], 15)
        eventually("it ended", lambda: not os.path.exists(f"/proc/{self.pids['n1']}"), 5)
        self.assertLess(time.monotonic() - start, 5)
        self.assertIn("stopped", self.said("n1"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
