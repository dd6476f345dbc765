#!/usr/bin/env python3
"""The API server at its worst: watches cut, refusals, answers lost, a kill, a compaction; and how fast the programs stop.

Leases have their default lengths here: a blip of seconds is no change of leader. Runs inside `scripts/control-plane run --`.
"""
import itertools
import os
import signal
import subprocess
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from history import History  # noqa: E402
from lab import JOBS, ROOT, Lab, alive, end, said  # noqa: E402
from proxy import Fault, Proxy, refusal  # noqa: E402

lab = proxy = history = None
failed = False


def setUpModule():
    global lab, proxy, history
    lab = Lab(4, {"operator.leaderElection.leaseDurationSeconds": 15, "operator.leaderElection.renewDeadlineSeconds": 10,
                  "operator.leaderElection.retryPeriodSeconds": 2, "heartbeat.busySeconds": 2})
    history = History(lab.api)
    proxy = Proxy(lab.plane)
    lab.start_operator(server=proxy.address)
    lab.all_ready()


def tearDownModule():
    history.stop()
    lab.close(failed)


def control_plane(*words):
    subprocess.run([str(ROOT / "scripts/control-plane"), *words], check=True, capture_output=True, timeout=120)


def pid():
    return lab.operators[lab.operator_pods[0]]


class Faults(unittest.TestCase):
    def setUp(self):
        self.ok, self.began, self.pid = False, time.monotonic(), pid()

    def tearDown(self):
        global failed
        failed = failed or not self.ok
        proxy.rule = lambda request: None
        if not self.ok:
            said(f"  the operator's log ends: {lab.operator_log()[-2500:]}")
        said(f"  {time.monotonic() - self.began:.1f} s")

    def story(self, name):
        """A gang runs, another waits; both go; the same pods as without faults are made, each once."""
        lab.make_job(f"{name}-a")
        lab.running(f"{name}-a", seconds=90)
        lab.make_job(f"{name}-b", nodes=3)
        lab.wait(lambda: f"the other waits: {lab.seen_status(f'{name}-b')}", lambda: lab.status(f"{name}-b").get("reason") == "ShortOfNodes", 60)
        lab.delete_job(f"{name}-a")
        lab.running(f"{name}-b", seconds=90)
        self.assertEqual(lab.status(f"{name}-b")["attempts"]["infrastructureRestarts"], 0)
        lab.delete_job(f"{name}-b")
        lab.gone(f"{name}-a", f"{name}-b", seconds=60)
        self.assertEqual(sorted(history.made(f"{name}-")), [f"{name}-a-1-0", f"{name}-a-1-1", f"{name}-b-1-0", f"{name}-b-1-1", f"{name}-b-1-2"])
        self.assertEqual(pid(), self.pid)
        self.assertTrue(alive(self.pid), "the same operator runs")
        self.ok = True

    def test_1_watches_are_cut_several_times(self):
        over, cut = threading.Event(), []

        def cutter():
            while len(cut) < 4 and not over.wait(0.7):
                cut.append(proxy.cut_watches())
        thread = threading.Thread(target=cutter)
        thread.start()
        try:
            self.story("cut")
        finally:
            over.set()
            thread.join()
        said(f"  {sum(cut)} watches cut")
        self.assertGreater(sum(cut), 10)

    def test_2_every_third_request_is_refused(self):
        refusals = itertools.cycle([refusal(429, "TooManyRequests", "too many (injected)", Retry_After=1), refusal(500, "InternalError", "injected"),
                                    refusal(503, "ServiceUnavailable", "injected"), refusal(409, "Conflict", "injected")])
        count, lock = [0, 0], threading.Lock()

        def rule(request):
            if request.resource == "leases" or request.is_watch:
                return None
            with lock:
                count[0] += 1
                if count[0] % 3 == 0:
                    count[1] += 1
                    return Fault("refuse", answer=next(refusals))
            return None
        proxy.rule = rule
        self.story("refused")
        said(f"  {count[1]} of {count[0]} requests refused with 429, 500, 503, 409")

    def test_3_the_first_answer_to_every_write_is_lost(self):
        lost, lock = set(), threading.Lock()

        def rule(request):
            with lock:
                if request.is_write and request.resource != "leases" and request.step not in lost:
                    lost.add(request.step)
                    return Fault("lose-answer")
            return None
        proxy.rule = rule
        self.story("lost")
        said(f"  {len(lost)} answers lost")

    def test_4_requests_do_not_arrive(self):
        counter = itertools.count()
        proxy.rule = lambda request: Fault("cut") if request.resource != "leases" and not request.is_watch and next(counter) % 3 == 0 else None
        self.story("dropped")

    def test_5_compaction_and_a_killed_api_server_under_a_running_job(self):
        lab.make_job("lives")
        before = lab.running("lives")
        for _ in range(2):
            at = time.monotonic()
            control_plane("compact")
            control_plane("restart", "kube-apiserver")
            said(f"  compacted; the API server was killed and back after {time.monotonic() - at:.1f} s")
            time.sleep(2)
        lab.all_ready()
        after = lab.running("lives")
        self.assertEqual((before["placement"], before["attempts"]), (after["placement"], after["attempts"]))
        lab.make_job("next")
        lab.running("next")
        for name in ("lives", "next"):
            lab.delete_job(name)
        lab.gone("lives", "next", seconds=90)
        self.assertTrue(alive(self.pid), "the same operator runs")
        self.ok = True

    def test_6_the_api_server_hangs_and_comes_back(self):
        control_plane("kill", "kube-apiserver", "STOP")
        time.sleep(4)
        control_plane("kill", "kube-apiserver", "CONT")
        self.assertTrue(alive(self.pid))
        lab.all_ready()
        self.story("hung")

    def test_7_how_fast_the_programs_stop(self):
        times = {"idle": end(pid())}
        lab.start_operator(server=proxy.address)
        lab.make_job("busy")
        gate = threading.Event()
        proxy.rule = lambda request: gate.wait(20) and None if request.resource == "secrets" else None
        lab.wait("a write is under way", lambda: any(r.resource == "secrets" and r.code is None for r in list(proxy.requests)))
        times["with a write that hangs"] = end(pid())
        gate.set()
        proxy.rule = lambda request: None
        lab.start_operator(server=proxy.address)
        lab.running("busy", seconds=60)
        agents = list(lab.agents.items())
        times["agent, idle"] = end(agents[0][1])
        control_plane("kill", "kube-apiserver", "STOP")
        try:
            time.sleep(1)
            times["the API server hangs"] = end(pid())
            times["agent, the API server hangs"] = end(agents[1][1])
        finally:
            control_plane("kill", "kube-apiserver", "CONT")
        for what, seconds in times.items():
            said(f"  {seconds:.2f} s  {what}")
        self.assertLess(max(times.values()), 5)
        lab.start_operator(server=proxy.address)
        lab.delete_job("busy")
        lab.gone("busy", seconds=60)
        self.ok = True

    def test_9_the_whole_run(self):
        replay = history.check()
        said(f"  {replay.steps} events replayed; a node had at most {replay.most} of 8 GPUs promised")
        self.assertEqual(lab.api.get(JOBS)["items"], [])
        lab.audit()
        self.ok = True


if __name__ == "__main__":
    unittest.main(verbosity=2)
