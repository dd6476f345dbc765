#!/usr/bin/env python3
"""Two operators: a frozen leader whose placement comes late can give no GPU twice. And a stranger in the gap between a
placement and its pods. Runs inside `scripts/control-plane run --`.
"""
import os
import signal
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from history import History  # noqa: E402
from lab import RL, Lab, alive, said  # noqa: E402
from proxy import Fault, Proxy, kill  # noqa: E402

lab = history = None
failed = False


def setUpModule():
    global lab, history
    lab = Lab(4, {"operator.replicas": 2, "heartbeat.busySeconds": 2})
    history = History(lab.api)
    lab.make({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "urgent"}, "value": 5000, "preemptionPolicy": "Never"})


def tearDownModule():
    history.stop()
    lab.close(failed)


class Gate:
    """Holds the first request that `wanted` picks until opened."""

    def __init__(self, wanted):
        self.wanted, self.reached, self.opened, self.done = wanted, threading.Event(), threading.Event(), None

    def __call__(self, request):
        if not self.reached.is_set() and self.wanted(request):
            self.done = request
            self.reached.set()
            self.opened.wait(60)
        return None


def places(name):
    return lambda request: request.step[1] == "verljobs/status" and request.name == name and "placement" in request.body.get("status", {})


class Leaders(unittest.TestCase):
    def setUp(self):
        self.ok, self.proxies = False, {}
        for pod in lab.operator_pods:
            self.proxies[pod] = Proxy(lab.plane)

    def tearDown(self):
        global failed
        failed = failed or not self.ok
        for pod, pid in lab.operators.items():
            if alive(pid):
                kill(pid)
            self.proxies[pod].close()
        lab.operators.clear()

    def start(self):
        """Both operators; gives (leader, other)."""
        first, second = lab.operator_pods
        lab.start_operator(first, self.proxies[first].address)
        lab.wait("the first leads", lambda: self.holder().startswith(first), 30)
        lab.start_operator(second, self.proxies[second].address)
        lab.all_ready()
        return first, second

    def holder(self):
        lease = lab.api.get("/apis/coordination.k8s.io/v1/namespaces/verl-system/leases/verl-operator")
        return lease["spec"].get("holderIdentity") or ""

    def freeze(self, leader, other, wanted, job, second):
        """Freezes the leader at the request; the other one leads and `second` has run; gives the gate."""
        gate = Gate(wanted)
        self.proxies[leader].rule = gate
        lab.make_job(job, nodes=4)
        self.assertTrue(gate.reached.wait(30), "the leader came to the request")
        os.kill(lab.operators[leader], signal.SIGSTOP)
        at = time.monotonic()
        second()
        lab.wait("the other operator leads", lambda: self.holder().startswith(other), 40)
        said(f"  another led {time.monotonic() - at:.1f} s after the leader froze")
        return gate

    def thaw(self, leader, gate):
        """The held request goes on its way, then the old leader too; gives what the server said to its late writes."""
        before = len(self.proxies[leader].requests)
        gate.opened.set()
        lab.wait("the late request is answered", lambda: gate.done.code, 20)
        os.kill(lab.operators[leader], signal.SIGCONT)
        lab.wait("the old leader has ended itself", lambda: not alive(lab.operators[leader]), 20)
        return [r for r in self.proxies[leader].requests[before:] if r.is_write and r.resource not in ("leases", "events")]

    def finish(self, *jobs):
        for job in jobs:
            lab.delete_job(job)
        lab.gone(*jobs, seconds=60)
        self.ok = True

    def test_1_a_late_placement_is_refused(self):
        leader, other = self.start()
        gate = self.freeze(leader, other, places("late-1"), "late-1", lambda: lab.make_job("urgent-1", priorityClassName="urgent"))
        lab.running("urgent-1")
        lab.wait("the other job waits", lambda: lab.status("late-1").get("reason") == "ShortOfNodes")
        more = self.thaw(leader, gate)
        said(f"  the late placement got {gate.done.code}; writes after waking: {[str(r) for r in more]}")
        self.assertEqual(gate.done.code, 409)
        self.assertEqual(more, [])
        self.assertNotIn("placement", lab.status("late-1"))
        self.assertEqual(history.made("late-1-"), [])
        self.finish("late-1", "urgent-1")

    def test_2_a_leader_frozen_before_it_decided_writes_nothing(self):
        leader, other = self.start()
        gate = self.freeze(leader, other, lambda r: r.dry and r.resource == "pods", "late-2", lambda: lab.make_job("urgent-2", priorityClassName="urgent"))
        lab.running("urgent-2")
        more = self.thaw(leader, gate)
        self.assertEqual([str(r) for r in more], [])
        self.finish("late-2", "urgent-2")

    def test_3_of_two_placements_the_later_in_the_queue_is_withdrawn(self):
        """The late placement arrives in time after all: the new leader has given its nodes away and not touched that job."""
        leader, other = self.start()
        hold = Gate(lambda r: r.step[1] == "verljobs/status" and r.name == "late-3")
        self.proxies[other].rule = hold

        def second():
            lab.make_job("urgent-3", priorityClassName="urgent")
        gate = self.freeze(leader, other, places("late-3"), "late-3", second)
        lab.wait("the new leader has placed the urgent job", lambda: lab.status("urgent-3").get("placement"))
        more = self.thaw(leader, gate)
        self.assertEqual(gate.done.code, 200, "the late placement is taken: nothing of the job had changed")
        self.assertEqual([str(r) for r in more], [])
        self.assertIn("placement", lab.status("late-3"))
        hold.opened.set()
        lab.running("urgent-3")
        lab.wait(lambda: f"late-3 lost its placement: {lab.seen_status('late-3')}", lambda: "placement" not in lab.status("late-3"))
        self.assertEqual(history.made("late-3-"), [])
        status = lab.status("late-3")
        self.assertEqual((status["phase"], status["attempts"]["infrastructureRestarts"]), ("Queued", 0))
        self.finish("late-3", "urgent-3")

    def test_4_a_stranger_takes_a_promised_gpu_before_the_pods_are_made(self):
        first = lab.operator_pods[0]
        lab.start_operator(first, self.proxies[first].address)
        lab.all_ready()
        gate = Gate(lambda r: r.resource == "secrets" and r.method == "POST")
        self.proxies[first].rule = lambda r: Fault("cut") if gate.reached.is_set() and r is not gate.done and r.resource == "pods" and r.is_write else gate(r)
        lab.make_job("promised", nodes=2)
        self.assertTrue(gate.reached.wait(30))
        nodes = lab.nodes_of(lab.status("promised"))
        kill(lab.operators[first])
        gate.opened.set()
        self.stranger(nodes[0])
        self.proxies[first].rule = lambda r: None
        lab.start_operator(first, self.proxies[first].address)
        status = lab.running("promised")
        self.assertNotIn(nodes[0], lab.nodes_of(status))
        self.assertEqual(status["attempts"]["infrastructureRestarts"], 0, "no pod was made, so no restart is counted")
        made = history.made("promised-")
        said(f"  promised {nodes}, a stranger took {nodes[0]}, runs on {lab.nodes_of(status)}; pods made: {made}")
        self.assertEqual(len(made), 2)
        lab.api.request("DELETE", f"/apis/apps/v1/namespaces/default/deployments/stranger?propagationPolicy=Background")
        self.finish("promised")

    def stranger(self, node):
        labels = {"app": "stranger"}
        gpus = {"nvidia.com/gpu": "1"}
        lab.api.request("POST", "/apis/apps/v1/namespaces/default/deployments", {
            "metadata": {"name": "stranger"}, "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": {
                "metadata": {"labels": labels}, "spec": {"nodeSelector": {"kubernetes.io/hostname": node}, "tolerations": [{"operator": "Exists"}],
                                                         "containers": [{"name": "a", "image": "a", "resources": {"limits": gpus, "requests": gpus}}]}}}})
        lab.wait("the stranger is bound", lambda: any(p["spec"].get("nodeName") == node for p in lab.pods(namespace="default")))

    def test_9_nothing_was_given_twice(self):
        replay = history.check(placements=False)
        said(f"  {replay.steps} events replayed; pods had at most {replay.most} of a node's 8 GPUs")
        lab.audit()
        self.ok = True


if __name__ == "__main__":
    unittest.main(verbosity=2)
