#!/usr/bin/env python3
"""The operator is killed before a write, after it, and after it with the answer lost, at every distinct one of its writes.

The story of each run: a gang of two nodes starts while a gang of four waits; the first is suspended, the second takes its
place; both are deleted. A run without faults tells which writes there are. After every crash a new process has to bring
about the same end: no pod twice, no orphan, no GPU given twice. Runs inside `scripts/control-plane run --`.
"""
import json
import os
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from history import History  # noqa: E402
from lab import Lab, Supervisor, said  # noqa: E402
from proxy import Fault, Proxy  # noqa: E402

ALL = os.environ.get("VERL_CRASH") == "all"  # every step of every gang, one fault a story: 9 minutes
POINTS = ("kill-before", "kill-lost", "kill-after")
lab = proxy = history = None
failed = False


def setUpModule():
    global lab, proxy, history
    lab = Lab(4, {"heartbeat.busySeconds": 2})
    history = History(lab.api)
    proxy = Proxy(lab.plane)
    lab.start_operator(server=proxy.address)
    lab.all_ready()


def tearDownModule():
    history.stop()
    lab.close(failed)


def masked(job):
    """What two runs must have in common."""
    status = json.loads(json.dumps(job["status"]))
    for name in ("queuedAt", "startedAt"):
        status.pop(name, None)
    for condition in status["conditions"]:
        condition.pop("lastTransitionTime")
        condition["message"] = condition["message"].split(" Waiting since")[0]
    if "placement" in status:
        status["placement"].pop("decided")
    return status


def pod_state(name):
    return sorted((p["metadata"]["name"].split("-", 2)[2], p["spec"].get("nodeName"), p["status"]["phase"]) for p in lab.pods(name))


class Story:
    def __init__(self, number):
        self.main, self.rival = f"main-{number}", f"rival-{number}"

    def tell(self):
        """Gives what is seen at each of its stations."""
        stations = []
        lab.make_job(self.main)
        lab.running(self.main, seconds=60)
        lab.make_job(self.rival, nodes=4)
        lab.wait(lambda: f"{self.rival} waits: {lab.seen_status(self.rival)}", lambda: lab.status(self.rival).get("reason") == "ShortOfNodes", 60)
        stations.append(("first", masked(lab.job(self.main)), pod_state(self.main), masked(lab.job(self.rival)), pod_state(self.rival)))
        lab.patch_job(self.main, suspend=True)
        lab.running(self.rival, seconds=60)
        lab.wait(lambda: f"{self.main} is suspended: {lab.seen_status(self.main)}", lambda: "no pod of it is left" in lab.seen_status(self.main)["message"], 60)
        stations.append(("second", masked(lab.job(self.main)), pod_state(self.main), masked(lab.job(self.rival)), pod_state(self.rival)))
        lab.delete_job(self.main)
        lab.delete_job(self.rival)
        lab.gone(self.main, self.rival, seconds=60)
        made = [[name.split("-", 2)[2] for name in history.made(f"{job}-")] for job in (self.main, self.rival)]
        stations.append(("pods made", [sorted(names) for names in made]))
        return stations


class Crash(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        first = proxy.writes
        cls.wanted = Story("0").tell()
        requests = [r for r in list(proxy.requests) if r.is_write and r.number > first]
        counts = {}
        for request in requests:
            counts.setdefault(request.step, []).append(request)
        cls.steps = list(counts)
        mine = [r for r in requests if r.resource != "leases"]
        said(f"W = {len(mine)} writes in the run without faults (and {len(requests) - len(mine)} of leases), {len(cls.steps)} distinct (verb, kind, step):")
        for step, hits in counts.items():
            said(f"  {len(hits):3} × {' '.join(step)}")
        cls.uncond = [r for r in requests if r.method == "DELETE" and not (r.body.get("preconditions", {}).get("uid") and r.body["preconditions"].get("resourceVersion"))]

    def setUp(self):
        self.ok = False

    def tearDown(self):
        global failed
        proxy.rule = lambda request: None
        failed = failed or not self.ok

    def test_0_the_story_without_faults(self):
        first = self.wanted[0]
        self.assertEqual(first[2], [("1-0", "n01", "Running"), ("1-1", "n02", "Running")])
        self.assertEqual(first[4], [])
        self.assertEqual(self.wanted[2], ("pods made", [["1-0", "1-1"], ["1-0", "1-1", "1-2", "1-3"]]))
        self.ok = True

    def test_1_every_delete_names_uid_and_version(self):
        self.assertEqual([str(r) for r in self.uncond], [])
        self.ok = True

    def test_2_killed_at_every_step(self):
        began, problems, unreached, crashes, lock = time.monotonic(), [], [], 0, threading.Lock()
        supervisor = Supervisor(lab, server=proxy.address)
        for number, faults in enumerate(self.plan(), 1):
            story, left, at = Story(str(number)), list(faults), time.monotonic()

            def rule(request, left=left):
                with lock:
                    due = [fault for fault in left if request.is_write and fault[1] == self.same(request.step)]
                    if due:
                        left.remove(due[0])
                return Fault(due[0][0], pid=lab.operators[lab.operator_pods[0]]) if due else None
            proxy.rule = rule
            name = " + ".join(f"{point} {' '.join(step)}" for point, step in faults)
            try:
                seen = story.tell()
                unreached += left
                if seen != self.wanted:
                    problems.append(f"{name}: another end\n  saw    {json.dumps(seen)}\n  wanted {json.dumps(self.wanted)}")
            except AssertionError as error:
                problems.append(f"{name}: {error}")
                lab.delete_job(story.main)
                lab.delete_job(story.rival)
                lab.gone(story.main, story.rival)
            if supervisor.error:
                raise supervisor.error
            crashes += len(faults) - len(left)
            said(f"  {time.monotonic() - at:4.1f} s  {name}")
        supervisor.over = True
        said(f"{crashes} crashes, {supervisor.starts} restarts, {time.monotonic() - began:.0f} s")
        self.assertEqual(problems, [])
        self.assertEqual(unreached, [])
        self.ok = True

    @staticmethod
    def same(step):
        """Which steps count as one: by default the two gangs' are not told apart."""
        if ALL:
            return step
        return (step[0], step[1], step[2].replace("main ", "").replace("rival ", ""))

    def plan(self):
        """Per story the faults it meets. By default three a story, at steps far apart: most of a crash's time is the wait for
        the dead leader's lease, and the story has to be told only once."""
        steps = list(dict.fromkeys(self.same(step) for step in self.steps))
        if ALL:
            return [[(point, step)] for step in steps for point in POINTS]
        third = (len(steps) + 2) // 3
        return [[(point, step) for step in steps[i::third]] for i in range(third) for point in POINTS]

    def test_4_nothing_was_given_twice(self):
        replay = history.check()
        said(f"{replay.steps} events replayed; a node had at most {replay.most} of 8 GPUs promised")
        self.assertEqual(lab.pods(), [])
        lab.audit()
        self.ok = True


if __name__ == "__main__":
    unittest.main(verbosity=2)
