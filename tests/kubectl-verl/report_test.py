#!/usr/bin/env python3
"""kubectl-verl on a real apiserver. usage: report_test.py KUBECTL_VERL, with KUBECONFIG set and kubectl on the PATH.

The administrator writes nodes, reports, policies and heartbeats by hand; no operator and no agent runs. VERL_UPDATE_GOLDENS writes
the golden files first.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
CHECKS = re.findall(r'\{"([a-z-]+)", *"', (HERE.parents[1] / "src/common/api/check_catalogue.h").read_text())
PLUGIN = sys.argv.pop(1)
SYSTEM = "verl-system"
ROUND = "2026-01-01T00:00:00.000000Z"  # what a Lease says of itself does not count; when the apiserver saw it does


def kubectl(*arguments, text=None):
    done = subprocess.run(["kubectl", *arguments], input=text, capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        raise AssertionError(f"kubectl {' '.join(arguments)}: {done.stderr}")
    return done.stdout


def create(*objects):
    for one in objects:
        kubectl("create", "-f", "-", text=json.dumps(one))


def plugin(*arguments):
    environment = dict(os.environ, NO_COLOR="1")
    return subprocess.run([PLUGIN, *arguments], capture_output=True, text=True, timeout=60, env=environment)


def golden(name, text):
    path = HERE / "golden" / name
    if os.environ.get("VERL_UPDATE_GOLDENS"):
        path.write_text(text)
    return path.read_text()


def node(i):
    return {"apiVersion": "v1", "kind": "Node",
            "metadata": {"name": f"n{i}", "labels": {"example.com/rack": f"r{i // 3}", "example.com/block": "b0"}},
            "status": {"addresses": [{"type": "InternalIP", "address": f"10.1.0.{i + 10}"}],
                       "capacity": {"cpu": "192", "memory": "2Ti", "pods": "110", "nvidia.com/gpu": "8"},
                       "allocatable": {"cpu": "190", "memory": "2000Gi", "pods": "110", "nvidia.com/gpu": "8"},
                       "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}],
                       "nodeInfo": {key: "x" for key in ("machineID", "systemUUID", "kernelVersion", "osImage", "containerRuntimeVersion", "kubeletVersion",
                                                         "kubeProxyVersion", "operatingSystem", "architecture")} | {"bootID": f"boot-{i}"}}}


def lease(name, component, seconds, renewed=True):
    spec = {"leaseDurationSeconds": seconds}
    if renewed:
        spec |= {"holderIdentity": name, "renewTime": ROUND, "acquireTime": ROUND}
    return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
            "metadata": {"name": name, "namespace": SYSTEM, "labels": {"app.kubernetes.io/component": component}}, "spec": spec}


def report(i, findings, **differs):
    name = f"n{i}"
    # A report counts when it answers every check that may block.
    answered = {one["check"] for one in findings} | {"packet-drops", "port-range"}
    findings = findings + [{"check": check, "verdict": "Pass"} for check in CHECKS if check not in answered]
    uid = kubectl("get", "node", name, "-o", "jsonpath={.metadata.uid}")
    create({"apiVersion": "verl.run/v1alpha1", "kind": "NodeReadiness", "metadata": {"name": name},
            "spec": {"nodeUID": uid, "address": f"10.1.0.{i + 10}", "gpus": 8, "policy": "fabric", "policyGeneration": 1,
                     "expectations": {"thresholds": {"mtuMin": 9000}}}})
    status = {"observedGeneration": 1, "nodeUID": uid, "bootID": f"boot-{i}", "agentVersion": "0.1.0", "findings": findings,
              "interfaces": [{"name": "ens3f0", "up": True, "mtu": 9000, "numaNode": 0, "control": True, "fabric": True}]} | differs
    kubectl("patch", "nodereadiness", name, "--subresource=status", "--type=merge", "-p", json.dumps({"status": status}))


def passes():
    return [{"check": "clock-sync", "verdict": "Pass", "subject": "chronyd", "seen": "10.0.0.1"},
            {"check": "mtu-interface", "verdict": "Pass", "subject": "ens3f0", "seen": "9000", "wanted": ">= 9000"}]


def normal(text):
    """A JSON report without what differs from run to run."""
    document = json.loads(text)
    for name in ("time", "source"):
        document.pop(name, None)
    return document


class Plane(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        os.chmod(os.environ["KUBECONFIG"], 0o600)  # or every command says that others can read it
        create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SYSTEM}}, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "rl"}})
        config = ("levels:\n- {name: block, key: example.com/block}\n- {name: rack, key: example.com/rack}\ngpuResource: nvidia.com/gpu\n"
                  "ports: {first: 20000, last: 29999}\nheartbeat: {idleSeconds: 300, busySeconds: 10}\npresets: []\ndocsUrl: https://docs.example/verl\n")
        create({"apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {"name": "verl-operator", "namespace": SYSTEM,
                             "labels": {"app.kubernetes.io/name": "verl-operator", "app.kubernetes.io/component": "operator"}},
                "data": {"config.yaml": config}},
               {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "hidden", "namespace": SYSTEM}, "stringData": {"key": "a-secret-of-this-test"}},
               {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "verl-job"}, "value": 0, "preemptionPolicy": "Never"},
               {"apiVersion": "verl.run/v1alpha1", "kind": "ReadinessPolicy", "metadata": {"name": "fabric"},
                "spec": {"memoryPerGPU": "200Gi", "expectations": {"thresholds": {"mtuMin": 9000}}}})
        create(*[node(i) for i in range(9)])
        create(*[lease(f"n{i}", "heartbeat", 900, renewed=i != 4) for i in range(9)])
        create(lease("verl-operator", "operator", 3600))
        short = {"check": "mtu-interface", "verdict": "Fail", "subject": "ens3f0", "seen": "1500", "wanted": ">= 9000", "remedy": "ip link set ens3f0 mtu 9000"}
        drops = {"check": "packet-drops", "verdict": "Warn", "subject": "ens3f0", "seen": "0.02 %", "wanted": "<= 0.01 %"}
        unknown = {"check": "clock-sync", "verdict": "Unknown", "subject": "chronyd", "seen": "no answer", "remedy": "systemctl status chronyd"}
        for i in range(9):
            if i == 1:
                report(i, [passes()[0], short])
            elif i == 2:
                report(i, passes() + [drops])
            elif i == 5:
                report(i, [unknown, passes()[1]])
            elif i == 6:
                report(i, passes(), bootID="boot-of-yesterday")
            elif i == 7:
                pass  # no agent has reported
            else:
                report(i, passes())

    def test_1_report_is_that_of_the_golden(self):
        done = plugin("report")
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.stdout, golden("report.txt", done.stdout))
        self.assertEqual(done.returncode, 79)

    def test_2_json_and_yaml_say_the_same_of_every_node(self):
        done = plugin("report", "-o", "json")
        self.assertEqual(done.returncode, 79)
        document = normal(done.stdout)
        self.assertEqual(document["schemaVersion"], 1)
        self.assertEqual({one["name"]: (one["verdict"], one["reason"]) for one in document["nodes"]},
                         {"n0": ("Ready", "Ready"), "n1": ("NotReady", "MTUInterface"), "n2": ("Ready", "Ready"), "n3": ("Ready", "Ready"),
                          "n4": ("Unknown", "AgentSilent"), "n5": ("Unknown", "ClockSync"), "n6": ("Unknown", "ReportOutdated"),
                          "n7": ("Unknown", "NoReport"), "n8": ("Ready", "Ready")})
        self.assertEqual(plugin("report", "-o", "yaml").returncode, 79)

    def test_3_a_snapshot_gives_the_same_report_and_plan(self):
        with tempfile.TemporaryDirectory() as folder:
            file = f"{folder}/cluster.json"
            self.assertEqual(plugin("snapshot", "-o", file).returncode, 0)
            self.assertEqual(os.stat(file).st_mode & 0o777, 0o600)
            text = pathlib.Path(file).read_text()
            self.assertNotIn("a-secret-of-this-test", text)
            self.assertNotIn('"Secret"', text)
            pipe = f"{folder}/pipe"
            os.mkfifo(pipe)
            with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, text=True) as reader:
                self.assertEqual(plugin("snapshot", "-o", pipe).returncode, 0)
                self.assertEqual(json.loads(reader.communicate(timeout=60)[0])["kind"], "ClusterSnapshot")
            self.assertTrue(pathlib.Path(pipe).is_fifo())
            self.assertEqual(plugin("report", "--from", file).stdout, plugin("report").stdout)
            self.assertEqual(normal(plugin("report", "-o", "json", "--from", file).stdout), normal(plugin("report", "-o", "json").stdout))
            job = f"{folder}/job.json"
            pathlib.Path(job).write_text(json.dumps(
                {"apiVersion": "verl.run/v1alpha1", "kind": "VerlJob", "metadata": {"name": "two", "namespace": "rl"},
                 "spec": {"image": "registry.example/verl:1", "trainer": {"module": "verl.trainer.main_ppo"},
                          "pools": [{"name": "main", "nodes": 2, "gpusPerNode": 8}], "topology": {"level": "rack", "mode": "Required"}}}))
            live, dead = plugin("plan", "-f", job, "-o", "json"), plugin("plan", "-f", job, "-o", "json", "--from", file)
            for done in (live, dead):
                # The nodes have the taint that every new node has until its kubelet is ready; nobody removes it here.
                self.assertIn(done.returncode, (0, 79), done.stderr)
            same = [{node["name"]: (node["verdict"], node.get("reason")) for domain in json.loads(done.stdout)["domains"] for node in domain["nodes"]} for done in (live, dead)]
            self.assertEqual(same[0], same[1])
            self.assertEqual(len(same[0]), 9)

    def test_4_what_may_not_be_read_is_named_and_unknown(self):
        nobody = plugin("report", "--as", "nobody")
        self.assertEqual(nobody.returncode, 1)
        self.assertIn('cannot list resource "nodes"', nobody.stderr)
        create({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "half"},
                "rules": [{"apiGroups": ["", "verl.run"], "resources": ["nodes", "nodereadinesses", "readinesspolicies", "configmaps"], "verbs": ["list"]}]},
               {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "half"},
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "half"},
                "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "half"}]})
        half = plugin("report", "--as", "half")
        self.assertEqual(half.returncode, 79, half.stderr)
        self.assertIn("leases.coordination.k8s.io can be read", half.stdout)
        self.assertIn("Largest ready set: 0 nodes / 0 GPUs", half.stdout)
        plan = plugin("explain", "two", "-n", "rl", "--as", "half")
        self.assertEqual((plan.returncode, plan.stdout), (1, ""))
        self.assertIn('cannot list resource "pods"', plan.stderr)

    def test_5_exit_codes(self):
        self.assertEqual(plugin("report", "--fail-on", "never").returncode, 64)
        self.assertEqual(plugin("plan").returncode, 64)
        self.assertEqual(plugin("report", "--now", "2026-01-01T00:00:00Z").returncode, 64)
        self.assertEqual(plugin("report", "--kubeconfig", "/nonexistent").returncode, 1)
        self.assertEqual(plugin("report", "--server", "https://127.0.0.1:1").returncode, 1)
        self.assertEqual(plugin("version").returncode, 0)
        self.assertEqual(plugin("report", "--help").returncode, 0)

    def test_6_ready_once_the_bad_nodes_are_gone(self):
        kubectl("delete", "node", "n1", "n4", "n5", "n6", "n7")
        done = plugin("report")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("Ready: yes. 0 errors, 1 warning, 0 unknown.\n"
                      "Largest ready set: 4 nodes / 32 GPUs; in one block 4 / 32 (b0); in one rack 2 / 16 (r0).\n", done.stdout)
        self.assertEqual(plugin("report", "--fail-on", "warning").returncode, 79)
        # A policy that changed makes every report a thing of yesterday.
        kubectl("patch", "readinesspolicy", "fabric", "--type=merge", "-p", json.dumps({"spec": {"expectations": {"thresholds": {"mtuMin": 9100}}}}))
        done = plugin("report")
        self.assertEqual(done.returncode, 79)
        self.assertIn("Largest ready set: 0 nodes", done.stdout)
        self.assertIn("ReportOutdated", done.stdout)


if __name__ == "__main__":
    unittest.main(failfast=True)
