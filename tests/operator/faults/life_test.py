#!/usr/bin/env python3
"""The life of jobs on a real control plane: ends of every kind, faults of nodes and pods, crowds, and reports not to believe.

Runs inside `scripts/control-plane run --`. The tests are told in the order of their names; each cleans up after itself.
"""
import json
import os
import signal
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from history import History  # noqa: E402
from lab import MERGE, NODES, PASSED, PODS, POLICIES, REPORTS, STRATEGIC, Lab, alive, said  # noqa: E402

lab = history = None
failed = False


def setUpModule():
    global lab, history
    lab = Lab(8)
    history = History(lab.api)
    lab.start_operator()
    lab.all_ready()


def tearDownModule():
    history.stop()
    lab.close(failed)


class Story(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.ok, self.jobs, self.began = False, [], time.monotonic()

    def tearDown(self):
        global failed
        failed = failed or not self.ok
        for name in self.jobs:
            lab.delete_job(name)
        if not self.ok:
            said(f"  the operator's log ends: {lab.operator_log()[-1500:]}")
        lab.gone(*self.jobs, seconds=60)
        self.assertTrue(alive(lab.operators[lab.operator_pods[0]]), "the operator runs")
        said(f"  {time.monotonic() - self.began:.1f} s")

    def make(self, name, **how):
        self.jobs.append(name)
        return lab.make_job(name, **how)

    def head(self, name):
        return f"{name}-{lab.status(name)['placement']['attempt']}-0"

    def ready_condition(self, name):
        return next(c for c in lab.status(name)["conditions"] if c["type"] == "Ready")


class A_Ends(Story):
    def test_1_suspend_and_resume(self):
        self.make("pause")
        first = lab.running("pause")
        lab.patch_job("pause", suspend=True)
        lab.phase("pause", "Suspended")
        lab.wait("its pods are gone", lambda: lab.pods("pause") == [])
        self.assertNotIn("placement", lab.status("pause"))
        self.make("taker", nodes=8)  # all GPUs of the fleet
        lab.running("taker")
        lab.delete_job("taker")
        lab.patch_job("pause", suspend=False)
        again = lab.running("pause", seconds=90)
        self.assertEqual((first["placement"]["attempt"], again["placement"]["attempt"]), (1, 2))
        self.assertEqual(again["attempts"]["infrastructureRestarts"], 0, "a suspension is no restart")
        self.ok = True

    def test_2_success_and_time_to_live(self):
        self.make("well", ttlSecondsAfterFinished=4)
        lab.running("well")
        lab.annotate_pod(self.head("well"), exit_code="0", exit_message=PASSED)
        status = lab.phase("well", "Succeeded")
        self.assertEqual(status["exitCode"], 0)
        at = time.monotonic()
        lab.gone("well", seconds=60)
        said(f"  deleted {time.monotonic() - at:.1f} s after its end, wanted 4")
        self.ok = True

    def test_3_failure_of_the_trainer(self):
        self.make("ill", gpus=1)
        lab.running("ill")
        lab.annotate_pod(self.head("ill"), exit_code="3", exit_message=PASSED)
        status = lab.phase("ill", "Failed")
        self.assertEqual((status["reason"], status["exitCode"]), ("TrainerFailed", 3))
        self.assertEqual((status["attempts"]["started"], status["attempts"]["infrastructureRestarts"]), (1, 0))
        self.assertIn("exit code 3", self.ready_condition("ill")["message"])
        self.ok = True

    def test_4_an_exit_without_the_gates_word_is_no_success(self):
        self.make("forged", gpus=1, recovery={"infrastructureRestarts": 0})
        lab.running("forged")
        lab.annotate_pod(self.head("forged"), exit_code="0")
        status = lab.phase("forged", "Failed", "Succeeded")
        self.assertEqual((status["phase"], status["reason"]), ("Failed", "DriverEndedEarly"))
        self.ok = True

    def test_5_a_user_restart(self):
        self.make("retry", gpus=1, recovery={"userRestarts": 1})
        lab.running("retry")
        lab.annotate_pod(self.head("retry"), exit_code="5", exit_message=PASSED)
        lab.wait("the second attempt runs", lambda: lab.status("retry")["attempts"]["started"] == 2 and lab.status("retry")["phase"] == "Running")
        self.assertEqual(lab.status("retry")["attempts"]["userRestarts"], 1)
        self.ok = True


class B_Infrastructure(Story):
    def restarted(self, name, bad, reason, seconds=60):
        """The job runs its second attempt, away from `bad`, and says why; gives the status."""
        status = lab.wait(lambda: f"{name} runs again: {lab.seen_status(name)}",
                          lambda: (lambda s: s["attempts"]["started"] == 2 and s["phase"] == "Running" and s)(lab.status(name)), seconds)
        self.assertEqual(status["attempts"]["infrastructureRestarts"], 1)
        self.assertEqual(status["attempts"]["lastReason"], reason)
        self.assertIn(bad, status["attempts"]["lastMessage"])
        self.assertNotIn(bad, lab.nodes_of(status))
        self.assertEqual([n["node"] for n in status["rejectedNodes"]], [bad])
        return status

    def test_1_a_pod_that_the_kubelet_rejects(self):
        self.make("torn", annotations={"sim.verl.run/start-delay": "5s"})
        lab.wait("its pods are bound", lambda: len([p for p in lab.pods("torn") if p["spec"].get("nodeName")]) == 2)
        bad = lab.nodes_of(lab.status("torn"))[1]
        lab.annotate_pod("torn-1-1", reject="TopologyAffinityError")
        status = self.restarted("torn", bad, "TopologyAffinityError")
        self.assertEqual(status["rejectedNodes"][0]["reason"], "TopologyAffinityError")
        self.ok = True

    def test_2_the_budget_ends(self):
        self.make("doomed", annotations={"sim.verl.run/reject": "UnexpectedAdmissionError"}, recovery={"infrastructureRestarts": 1})
        status = lab.phase("doomed", "Failed", seconds=60)
        self.assertEqual((status["reason"], status["attempts"]["started"], status["attempts"]["infrastructureRestarts"]), ("UnexpectedAdmissionError", 2, 1))
        self.assertIn("restarts are used", self.ready_condition("doomed")["message"])
        self.ok = True

    def test_3_an_image_that_does_not_come(self):
        hold = {"sim.verl.run/hold-start": "ImagePullBackOff"}
        self.make("pulls", gpus=1, annotations=hold, deadlines={"imagePullSeconds": 5}, recovery={"infrastructureRestarts": 0})
        lab.wait("it is said", lambda: lab.status("pulls")["reason"] == "PodsStarting" and "BackOff" in self.ready_condition("pulls")["message"])
        message = self.ready_condition("pulls")["message"]
        self.assertRegex(message, r"^pod pulls-1-[01] on (%s): container \w+ ImagePullBackOff" % "|".join(lab.nodes_of(lab.status("pulls"))))
        status = lab.phase("pulls", "Failed")
        self.assertEqual(status["reason"], "ImagePullDeadline")
        self.ok = True

    def test_4_a_pod_deleted_by_hand(self):
        user = lab.token_of("someone", "edit")
        self.make("hurt")
        status = lab.running("hurt")
        bad = lab.nodes_of(status)[1]
        user.request("DELETE", f"{PODS}/hurt-1-1")
        status = lab.wait(lambda: f"hurt runs again: {lab.seen_status('hurt')}",
                          lambda: (lambda s: s["attempts"]["started"] == 2 and s["phase"] == "Running" and s)(lab.status("hurt")))
        self.assertIn(status["attempts"]["lastReason"], ("PodDeleted", "PodVanished"))
        self.assertEqual([n["node"] for n in status["rejectedNodes"]], [bad])
        self.ok = True

    def test_5_a_pod_that_will_not_go_holds_the_next_attempt(self):
        user = lab.token_of("stubborn", "edit")
        self.make("stuck", gpus=1)
        lab.running("stuck")
        lab.annotate_pod("stuck-1-0", hold_delete="true")
        user.request("DELETE", f"{PODS}/stuck-1-1")
        lab.wait(lambda: f"it waits: {lab.seen_status('stuck')}", lambda: lab.status("stuck")["reason"] == "WaitingForPodsToEnd")
        time.sleep(2)
        self.assertEqual([p["metadata"]["name"] for p in lab.pods("stuck")], ["stuck-1-0"])
        lab.annotate(f"{PODS}/stuck-1-0", **{"sim.verl.run/hold-delete": None})
        lab.wait(lambda: f"stuck runs again: {lab.seen_status('stuck')}", lambda: lab.status("stuck")["attempts"]["started"] == 2 and lab.status("stuck")["phase"] == "Running")
        self.ok = True

    def test_6_a_reboot_loses_the_rank_and_the_report(self):
        self.make("boots")
        bad = lab.nodes_of(lab.running("boots"))[0]
        old = lab.api.get(f"{NODES}/{bad}")["status"]["nodeInfo"]["bootID"]
        self.addCleanup(self.set_boot, bad, old)
        self.set_boot(bad, "another-boot")
        status = self.restarted("boots", bad, "NodeLost")
        self.assertEqual(status["rejectedNodes"][0]["reason"], "NodeLost")
        lab.wait("its report counts no more", lambda: lab.ready_reason(bad) == ("Unknown", "ReportOutdated"))
        # Two nodes run the job again, five run another: only the node with the old report is free.
        self.make("others", nodes=5)
        lab.running("others")
        self.make("ninth", gpus=1, nodes=1)
        lab.wait("the node with the old report is not given away", lambda: lab.status("ninth")["phase"] == "Queued" and lab.status("ninth")["reason"] != "Checking")
        time.sleep(2)
        self.assertEqual(lab.status("ninth")["phase"], "Queued")
        self.assertIn("ReportOutdated", self.ready_condition("ninth")["message"])
        self.set_boot(bad, old)
        lab.running("ninth")
        self.ok = True

    def set_boot(self, node, boot):
        info = dict(lab.api.get(f"{NODES}/{node}")["status"]["nodeInfo"], bootID=boot)
        lab.api.request("PATCH", f"{NODES}/{node}/status", {"status": {"nodeInfo": info}}, STRATEGIC)

    def test_7_a_node_made_again_under_its_name(self):
        self.make("same")
        bad = lab.nodes_of(lab.running("same"))[1]
        number = next(n for n in lab.fleet.numbers() if lab.fleet.name(n) == bad)
        uid = lab.api.get(f"{REPORTS}/{bad}")["spec"]["nodeUID"]
        lab.api.request("DELETE", f"{NODES}/{bad}")
        lab.make(lab.fleet.node(number))
        self.restarted("same", bad, "NodeLost")
        lab.wait("the new node has a report of its own", lambda: lab.api.get(f"{REPORTS}/{bad}")["spec"]["nodeUID"] not in (uid, ""))
        lab.wait("the old agent's pod is gone", lambda: all(p["metadata"]["name"] for p in lab.api.get("/api/v1/namespaces/verl-system/pods")["items"]
                                                           if p["spec"].get("nodeName") == bad and "deletionTimestamp" not in p["metadata"]))
        self.assertNotEqual(lab.ready_reason(bad)[0], "Ready", "nothing is known of the new node")
        lab.start_agents([bad])
        lab.wait(lambda: f"its own agent makes it fit: {lab.ready_reason(bad)}", lambda: lab.ready_reason(bad)[0] == "Ready", 60)
        self.ok = True

    def test_8_a_node_that_is_heard_of_no_more(self):
        self.make("cut")
        bad = lab.nodes_of(lab.running("cut"))[0]
        at = time.monotonic()
        lab.api.request("PATCH", f"{NODES}/{bad}", {"metadata": {"labels": {"kwok.x-k8s.io/node": None}}}, MERGE)
        lab.wait(lambda: f"the attempt ends: {lab.seen_status('cut')}", lambda: lab.status("cut")["attempts"]["infrastructureRestarts"] == 1, 60)
        said(f"  lost after {time.monotonic() - at:.1f} s (the plane's grace is 16 s)")
        status = lab.status("cut")
        self.assertEqual(status["attempts"]["lastReason"], "NodeLost")
        self.assertEqual([n["node"] for n in status["rejectedNodes"]], [bad])
        # Its kubelet does not confirm the end of the pod, so the next attempt waits until the node is back.
        lab.wait("it waits for the pod", lambda: lab.status("cut")["reason"] == "WaitingForPodsToEnd" or lab.status("cut")["phase"] == "Running")
        said(f"  then: {lab.seen_status('cut')['reason']}")
        lab.api.request("PATCH", f"{NODES}/{bad}", {"metadata": {"labels": {"kwok.x-k8s.io/node": "fake"}}}, MERGE)
        lab.wait(lambda: f"cut runs again: {lab.seen_status('cut')}", lambda: lab.status("cut")["phase"] == "Running", 60)
        self.assertNotIn(bad, lab.nodes_of(lab.status("cut")))
        self.ok = True


class C_Crowd(Story):
    def test_1_many_jobs_at_once(self):
        sizes = [(2, 8), (3, 8), (1, 8), (4, 4), (2, 4), (8, 2), (2, 8), (5, 8), (1, 4), (3, 4), (2, 2), (8, 8), (1, 1), (2, 8), (6, 4), (4, 8)]
        lab.all_ready()
        for number, (nodes, gpus) in enumerate(sizes):
            self.make(f"crowd{number:02}", nodes=nodes, gpus=gpus)
        left, most, until = set(self.jobs), 0, time.monotonic() + 150
        while left and time.monotonic() < until:
            statuses = {name: lab.status(name) for name in left}
            running = [name for name in left if statuses[name].get("phase") == "Running"]
            most = max(most, len(running))
            for name in running:
                lab.annotate_pod(self.head(name), exit_code="0", exit_message=PASSED)
            done = {name for name in left if statuses[name].get("phase") == "Succeeded"}
            for name in done:  # else its pods hold their GPUs for half a minute
                lab.delete_job(name)
            left -= done
            time.sleep(0.3)
        self.assertEqual({name: lab.seen_status(name) for name in left}, {})
        said(f"  {len(sizes)} jobs, at most {most} running at once")
        self.ok = True


class D_Fakes(Story):
    def test_1_a_tightened_policy_admits_nothing_while_agents_are_stopped(self):
        lab.all_ready()
        for pid in lab.agents.values():
            if alive(pid):
                os.kill(pid, signal.SIGSTOP)
        try:
            self.set_mtu(9100)
            self.make("eager", gpus=1)
            lab.wait(lambda: f"all are Unknown: {lab.verdicts()}", lambda: set(lab.verdicts().values()) == {"Unknown"}, 20)
            time.sleep(3)
            self.assertNotIn("placement", lab.status("eager"))
            self.assertEqual(history.made("eager-"), [])
        finally:
            for pid in lab.agents.values():
                if alive(pid):
                    os.kill(pid, signal.SIGCONT)
        lab.wait(lambda: f"the agents judge anew: {lab.verdicts()}", lambda: set(lab.verdicts().values()) == {"NotReady"}, 40)
        self.assertNotIn("placement", lab.status("eager"))
        self.set_mtu(9000)
        lab.running("eager", seconds=60)
        self.ok = True

    def set_mtu(self, value):
        lab.api.request("PATCH", f"{POLICIES}/preset-h100-roce", {"spec": {"expectations": {"thresholds": {"mtuMin": value}}}}, MERGE)

    def test_2_the_whole_run(self):
        replay = history.check()
        said(f"  {replay.steps} events replayed; a node had at most {replay.most} of 8 GPUs promised")
        lab.audit()
        self.ok = True


if __name__ == "__main__":
    unittest.main(verbosity=2)
