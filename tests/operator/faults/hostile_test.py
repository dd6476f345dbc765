#!/usr/bin/env python3
"""Objects that no operator wants to meet: it neither crashes nor blocks, and says which field it cannot use.

First under the CRDs as they are, then with the schemas taken off the CRDs, as an object of another version or an old
backup could be. A sound job has to run after each. Runs inside `scripts/control-plane run --`.
"""
import json
import os
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from history import History  # noqa: E402
from lab import JOBS, MERGE, NODES, POLICIES, REPORTS, RL, ApiError, Lab, alive, end, said  # noqa: E402

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
lab = history = None
failed = False


def setUpModule():
    global lab, history
    lab = Lab(4)
    history = History(lab.api)
    lab.start_operator()
    lab.all_ready()


def tearDownModule():
    history.stop()
    lab.close(failed)


class Hostile(unittest.TestCase):
    maxDiff = None
    number = 0

    def setUp(self):
        self.ok, self.began = False, time.monotonic()

    def tearDown(self):
        global failed
        failed = failed or not self.ok
        if not self.ok:
            said(f"  the operator's log ends: {lab.operator_log()[-2500:]}")
        said(f"  {time.monotonic() - self.began:.1f} s")

    def sound_job_runs(self):
        """The operator lives and serves: a job of all four nodes starts and goes."""
        Hostile.number += 1
        name = f"sound-{Hostile.number}"
        lab.make_job(name, nodes=4)
        lab.running(name, seconds=40)
        lab.delete_job(name)
        lab.wait("its pods are gone", lambda: lab.pods(name) == [], 60)
        self.assertTrue(alive(lab.operators[lab.operator_pods[0]]), "the operator runs")

    def message(self, name):
        return next(c["message"] for c in lab.status(name)["conditions"] if c["type"] == "Ready")

    def bare(self, plural):
        """The CRD without a schema: whatever is written is kept."""
        loose = {"x-kubernetes-preserve-unknown-fields": True}
        schema = {"type": "object", **loose}
        if plural == "nodereadinesses":  # two programs share its conditions; that they are a map is no rule but how they do so
            conditions = {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"],
                          "items": {"type": "object", "required": ["type"], "properties": {"type": {"type": "string"}}, **loose}}
            schema["properties"] = {"status": {"type": "object", "properties": {"conditions": conditions}, **loose}}
        crd = lab.api.get(f"{CRDS}/{plural}.verl.run")
        version = crd["spec"]["versions"][0]
        version["schema"] = {"openAPIV3Schema": schema}
        version["additionalPrinterColumns"] = []
        lab.api.request("PUT", f"{CRDS}/{plural}.verl.run", crd)
        # A watch that was open before goes on under the old schema for a while and shows everything pruned by it.
        time.sleep(1)
        end(lab.operators[lab.operator_pods[0]])
        lab.start_operator()

    def put(self, body, status=None):
        """Made as it is, with its status; waits until the new schema is served."""
        name = body["metadata"]["name"]
        base = JOBS if body["kind"] == "VerlJob" else REPORTS if body["kind"] == "NodeReadiness" else POLICIES
        lab.wait(f"{name} is taken", lambda: lab.make(body), 20)
        if status is not None:
            lab.api.request("PATCH", f"{base}/{name}/status", {"status": status}, MERGE)

    def test_1_a_foreign_finalizer(self):
        job = lab.job_object("clinging")
        job["metadata"]["finalizers"] = ["example.com/keep"]
        lab.make(job)
        lab.running("clinging")
        lab.delete_job("clinging")
        time.sleep(1)
        said(f"  with a foreign finalizer a deleted job has {len(lab.pods('clinging'))} pods and is {lab.status('clinging')['phase']}")
        lab.make_job("beside")
        lab.running("beside")
        lab.api.request("PATCH", f"{JOBS}/clinging", {"metadata": {"finalizers": None}}, MERGE)
        lab.delete_job("beside")
        lab.gone("clinging", "beside", seconds=60)
        self.sound_job_runs()
        self.ok = True

    def test_2_nodes_that_make_no_sense(self):
        base = {"kwok.x-k8s.io/node": "none"}
        nodes = {
            "empty": {},
            "huge": {"allocatable": {"cpu": "9223372036854775807", "memory": "8Ei", "nvidia.com/gpu": "9223372036854775807", "pods": "110"}},
            "tiny": {"allocatable": {"cpu": "1n", "memory": "1m", "nvidia.com/gpu": "0", "pods": "0"}},
            "fractions": {"allocatable": {"cpu": "0.0000000001", "memory": "1e18", "nvidia.com/gpu": "8", "pods": "1E1"}},
            "many": {"allocatable": {f"example.com/r{i}": "1" for i in range(500)}},
            "badly-addressed": {"addresses": [{"type": "InternalIP", "address": "not an address"}] * 3, "allocatable": {"nvidia.com/gpu": "8"}},
        }
        taken = []
        for name, status in nodes.items():
            if "allocatable" in status:
                status["capacity"] = status["allocatable"]
            try:
                lab.make({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": dict(base, **{f"l{i}": "x" * 60 for i in range(300)})}, "status": status})
                taken.append(name)
            except ApiError as error:
                said(f"  the API server itself refuses {name}: {error.message[:120]}")
        said(f"  taken: {', '.join(taken)}")
        self.assertGreaterEqual(len(taken), 4)
        time.sleep(2)
        verdicts = lab.verdicts()
        self.assertFalse([n for n in taken if verdicts.get(n) == "Ready"])
        self.sound_job_runs()
        for name in taken:
            lab.api.request("DELETE", f"{NODES}/{name}")
        lab.wait("their reports go with them", lambda: not set(taken) & set(lab.verdicts()))
        self.ok = True

    def test_3_large_objects(self):
        lab.make_job("wordy", gpus=1, trainer={"module": "m", "overrides": {f"key.number{i}": "v" * 200 for i in range(256)}})
        lab.wait(lambda: f"it is placed or refused: {lab.seen_status('wordy')}", lambda: lab.status("wordy").get("phase") in ("Running", "Failed"))
        said(f"  51 KB of overrides: {lab.seen_status('wordy')['phase']}/{lab.seen_status('wordy')['reason']}")
        lab.delete_job("wordy")
        noisy = lab.job_object("noisy")
        noisy["metadata"]["annotations"] = {"example.com/blob": "x" * 250000}
        lab.make(noisy)
        lab.running("noisy")
        lab.delete_job("noisy")
        lab.gone("wordy", "noisy", seconds=60)
        self.sound_job_runs()
        self.ok = True

    def test_4_jobs_without_a_schema(self):
        self.bare("verljobs")
        good = lab.job_object("x")["spec"]
        deep = {"a": 1}
        for _ in range(40):
            deep = {"a": deep}
        # name → spec, what the message has to name
        jobs = {
            "no-spec": (None, "spec"),
            "text-spec": ("later", "spec"),
            "list-spec": ([1, 2], "spec"),
            "no-pools": ({**good, "pools": None}, "spec.pools"),
            "text-pools": ({**good, "pools": "many"}, "spec.pools"),
            "text-nodes": ({**good, "pools": [{"name": "main", "nodes": "two", "gpusPerNode": 8}]}, "spec.pools[0].nodes"),
            "negative": ({**good, "pools": [{"name": "main", "nodes": -5, "gpusPerNode": 8}]}, "spec.pools[0].nodes"),
            "fraction": ({**good, "pools": [{"name": "main", "nodes": 1.5, "gpusPerNode": 8}]}, "spec.pools[0].nodes"),
            "enormous": ({**good, "pools": [{"name": "main", "nodes": 9223372036854775807, "gpusPerNode": 8}]}, "spec.pools[0].nodes"),
            "gpus-map": ({**good, "pools": [{"name": "main", "nodes": 1, "gpusPerNode": {}}]}, "spec.pools[0].gpusPerNode"),
            "pool-null": ({**good, "pools": [None, None]}, "spec.pools[0]"),
            "text-suspend": ({**good, "suspend": "yes"}, "spec.suspend"),
            "text-deadline": ({**good, "deadlines": {"bindSeconds": "soon"}}, "spec.deadlines.bindSeconds"),
            "new-transport": ({**good, "network": {"transport": "Quantum"}}, "spec.network.transport"),
            "new-mode": ({**good, "topology": {"level": "rack", "mode": "Perhaps"}}, "spec.topology.mode"),
            "list-env": ({**good, "nccl": {"env": ["NCCL_DEBUG"]}}, "spec.nccl.env"),
            "nested": ({**good, "pools": [{"name": "main", "nodes": 1, "gpusPerNode": 1, "template": deep}]}, "spec.pools[0].template"),
            "quantity": ({**good, "pools": [{"name": "main", "nodes": 1, "gpusPerNode": 1, "template": {"spec": {"containers": [
                {"name": "ray", "resources": {"requests": {"memory": "lots"}}}]}}}]}, "spec.pools[0].template"),
            "priority": ({**good, "priorityClassName": 7}, "spec.priorityClassName"),
        }
        for name, (spec, _) in jobs.items():
            body = {"apiVersion": "verl.run/v1alpha1", "kind": "VerlJob", "metadata": {"name": name, "namespace": RL}}
            if spec is not None:
                body["spec"] = spec
            self.put(body)
        for _ in range(200):
            deep = {"a": deep}
        self.put(lab.job_object("abyss", template=deep))  # deeper than any document is read: left out, and nothing else with it
        # From a newer version: fields nobody knows, which change nothing; and statuses that say what cannot be.
        unknown = lab.job_object("newer", gpus=1)
        unknown["spec"]["elasticity"] = {"min": 1, "max": 9}
        unknown["future"] = [{"a": {"b": [None]}}]
        self.put(unknown, {"phase": "Hovering", "conditions": {"Ready": True}, "placement": "later", "attempts": [3], "rejectedNodes": "all", "queuedAt": "yesterday"})
        ghost = {"attempt": 1, "portBase": 20000, "ranks": [{"rank": 0, "pool": "main", "node": "nowhere", "nodeUID": "u", "bootID": "b", "address": "1.2.3.4"}]}
        self.put(lab.job_object("ghost", nodes=1, gpus=1), {"phase": "Running", "placement": ghost})
        self.put(lab.job_object("short", nodes=3, gpus=1), {"phase": "Starting", "placement": {"attempt": -4, "portBase": 99999999, "ranks": []}})
        self.put(lab.job_object("odd", nodes=2, gpus=1), {"placement": dict(ghost, ranks=[{"rank": 7}, {"rank": -1}, None, "x"])})
        self.put(lab.job_object("over", nodes=1, gpus=1), {"finishedAt": "never", "exitCode": "zero"})
        problems = []
        for name, (_, field) in jobs.items():
            try:
                lab.wait("judged", lambda name=name: lab.status(name).get("phase") in ("Failed", "Queued") and lab.status(name).get("reason") not in ("Checking", None), 15)
                seen = lab.seen_status(name)
                said(f"  {name:14} {seen['phase']}/{seen['reason']}: {seen['message'][:150]}")
                if field not in seen["message"]:
                    problems.append(f"{name}: wanted {field} in {seen['message']!r}")
            except (AssertionError, KeyError, TypeError) as error:
                problems.append(f"{name}: {error!r} {lab.seen_status(name)}")
            if lab.pods(name):
                problems.append(f"{name}: has pods")
        for name in ("newer", "ghost", "short", "odd"):  # what is no placement is taken away, whoever wrote it, and the job starts
            try:
                lab.running(name, seconds=15)
            except AssertionError as error:
                problems.append(str(error))
            lab.delete_job(name)
        said(f"  over           {json.dumps(lab.seen_status('over'))[:300]}")
        said(f"  abyss          {json.dumps(lab.seen_status('abyss'))}, {len(lab.pods('abyss'))} pods")
        if lab.pods("abyss"):
            problems.append("abyss has pods")
        self.assertTrue(alive(lab.operators[lab.operator_pods[0]]))
        for job in lab.api.get(JOBS)["items"]:
            lab.delete_job(job["metadata"]["name"])
        lab.wait("no pod is left", lambda: lab.pods() == [], 60)
        self.sound_job_runs()
        self.assertEqual(problems, [])
        self.ok = True

    def test_5_reports_without_a_schema(self):
        self.bare("nodereadinesses")
        bad = {
            "n01": {"findings": "none"}, "n02": {"observedGeneration": "new"}, "n03": {"findings": [7, None, {"verdict": "Splendid"}], "bootID": 4},
        }
        for pid in lab.agents.values():
            os.kill(pid, 19)
        try:
            for name, status in bad.items():
                lab.wait("taken", lambda name=name, status=status: lab.api.request("PATCH", f"{REPORTS}/{name}/status", {"status": status}, MERGE))
            for name in bad:
                lab.wait(lambda name=name: f"{name} is not Ready: {lab.ready_reason(name)}", lambda name=name: lab.verdicts()[name] != "Ready", 15)
            said(f"  {[(name, *lab.ready_reason(name)) for name in bad]}")
            self.assertTrue(alive(lab.operators[lab.operator_pods[0]]))
        finally:
            for pid in lab.agents.values():
                os.kill(pid, 18)
        for name in bad:
            lab.api.request("DELETE", f"{REPORTS}/{name}")
        try:
            lab.all_ready(60)
        except AssertionError:
            said(f"  {[(name, *lab.ready_reason(name)) for name in bad]}")
            raise
        self.sound_job_runs()
        self.ok = True

    def test_6_policies_without_a_schema(self):
        self.bare("readinesspolicies")
        lab.wait("taken", lambda: lab.make({"apiVersion": "verl.run/v1alpha1", "kind": "ReadinessPolicy", "metadata": {"name": "broken"},
                                            "spec": {"priority": "high", "nodeSelector": {"matchLabels": {"kubernetes.io/hostname": "n01"}}, "memoryPerGPU": "plenty"}}))
        lab.wait(lambda: f"n01 is Unknown: {lab.ready_reason('n01')}", lambda: lab.verdicts()["n01"] == "Unknown", 20)
        said(f"  n01 {lab.ready_reason('n01')}; others {lab.verdicts()['n02']}")
        self.assertEqual(lab.verdicts()["n02"], "Ready")
        lab.api.request("DELETE", f"{POLICIES}/broken")
        lab.all_ready(60)
        self.sound_job_runs()
        self.ok = True


if __name__ == "__main__":
    unittest.main(verbosity=2)
