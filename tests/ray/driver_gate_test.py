#!/usr/bin/env python3
"""The gate's decisions: pure functions by table, the whole program against a scripted Ray dashboard, the shell script's refusals."""
import http.server
import importlib.util
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "operator/core/incontainer"
SPEC = importlib.util.spec_from_file_location("driver_gate", SCRIPTS / "driver_gate.py")
gate = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(gate)

EXPECTED = [{"rank": 0, "node": "n12", "address": "127.0.0.1", "gpus": 2, "cpus": 4},
            {"rank": 1, "node": "n04", "address": "10.0.0.4", "gpus": 2, "cpus": 4}]


def row(address, gpus=2.0, cpus=4.0, state="ALIVE"):
    return {"node_ip": address, "state": state, "resources_total": {"GPU": gpus, "CPU": cpus}}


def listing(*rows, **extra):
    return {"result": True, "msg": "", "data": {"result": {"total": len(rows), "result": list(rows), **extra}}}


class Decisions(unittest.TestCase):
    def test_a_list_that_is_cut_short_or_misshapen_is_not_a_list(self):
        self.assertEqual(gate.alive_nodes(listing(row("a"), row("b", state="DEAD"))), [{"address": "a", "gpus": 2.0, "cpus": 4.0}])
        short = listing(row("a"))
        short["data"]["result"]["total"] = 2
        for document in (short, listing(row("a"), partial_failure_warning="one source timed out"), {"result": False, "msg": "no"},
                         {"result": True, "data": {"result": {"total": 1, "result": [None]}}}, {"result": True, "data": None}, [], None, 7):
            self.assertIsNone(gate.alive_nodes(document), document)

    def test_only_the_expected_cluster_passes(self):
        nodes = gate.parse_expected([json.dumps(EXPECTED)])
        def alive(*rows):
            return [{"address": a, "gpus": g, "cpus": c} for a, g, c in rows]
        whole = [("127.0.0.1", 2.0, 4.0), ("10.0.0.4", 2.0, 5.0)]
        table = [
            (whole, ""),
            (whole[:1], "not in Ray: rank 1 n04 (10.0.0.4)"),
            ([], "not in Ray: rank 0 n12 (127.0.0.1), rank 1 n04 (10.0.0.4)"),
            ([whole[0], ("10.0.0.4", 1.0, 4.0)], "differs: rank 1 n04 (10.0.0.4) 1 GPUs, wants 2"),
            ([whole[0], ("10.0.0.4", 4.0, 4.0)], "differs: rank 1 n04 (10.0.0.4) 4 GPUs, wants 2"),
            ([whole[0], ("10.0.0.4", 2.0, 3.0)], "differs: rank 1 n04 (10.0.0.4) 3 CPUs, wants at least 4"),
            ([*whole, whole[1]], "differs: rank 1 n04 (10.0.0.4) 2 live Ray nodes share the address"),
            ([*whole, ("10.0.0.9", 2.0, 4.0)], "not of this job: 10.0.0.9"),
            ([whole[0], ("10.0.0.40", 2.0, 4.0)], "not in Ray: rank 1 n04 (10.0.0.4); not of this job: 10.0.0.40"),
        ]
        for rows, wanted in table:
            self.assertEqual(gate.describe(*gate.compare(nodes, alive(*rows))), wanted)

    def test_a_large_gang_comes_in_several_lists(self):
        nodes = gate.parse_expected([json.dumps(EXPECTED[:1]), json.dumps(EXPECTED[1:])])
        self.assertEqual(nodes, gate.parse_expected([json.dumps(EXPECTED)]))

    def test_string_order_of_addresses_is_not_their_numeric_order(self):
        self.assertEqual(sorted(["10.77.0.4", "10.77.0.8", "10.77.0.12"]), ["10.77.0.12", "10.77.0.4", "10.77.0.8"])

    def test_a_message_about_many_nodes_fits_and_says_how_many(self):
        many = [{"rank": r, "node": "node-" + "x" * 60 + str(r), "address": "10.0.0.%d" % r} for r in range(500)]
        with tempfile.NamedTemporaryFile("r") as log:
            os.environ["VERL_RUN_TERMINATION_LOG"] = log.name
            gate.write_message({"verl.run/gate": "NodesMissing", "message": gate.describe(many, [], []), "missing": many})
            text = log.read()
        self.assertLess(len(text), 4096)
        self.assertEqual((json.loads(text)["missingCount"], len(json.loads(text)["missing"])), (500, 8))
        self.assertIn("and 492 more", json.loads(text)["message"])

    def test_kubernetes_expansion_leaves_the_scripts_alone(self):
        for name in ("ray_node.sh", "driver_gate.py"):
            text = (SCRIPTS / name).read_text()
            self.assertNotIn("$$", text)
            self.assertNotRegex(text, r"\$\([^()]*\)")


class Dashboard(http.server.BaseHTTPRequestHandler):
    """Answers from a script: path → list of (status, body); the last entry stays. A token answers 'nodes', no token 'open'."""
    def do_GET(self):
        path = self.path.partition("?")[0]
        key = ("token " if self.headers.get("Authorization") == "Bearer t0ken" else "") + path
        answers = self.server.script.get(key, [(404, "")])
        status, body = answers.pop(0) if len(answers) > 1 else answers[0]
        self.server.asked.append(key)
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "/elsewhere")
        self.end_headers()
        self.wfile.write(body.encode() if isinstance(body, str) else json.dumps(body).encode())

    def log_message(self, *_):
        pass


LOCKED = {"/api/jobs/": [(401, "")], "/api/v0/nodes": [(401, "")]}
WHOLE = {**LOCKED, "token /api/v0/nodes": [(200, listing(row("127.0.0.1"), row("10.0.0.4")))]}


class Program(unittest.TestCase):
    def start(self, script, **override):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Dashboard)
        self.server.script = {path: list(answers) for path, answers in script.items()}
        self.server.asked = []
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (folder / "auth_token").write_text("t0ken\n")
        self.log = folder / "log"
        self.log.touch()
        base = self.server.server_port - 1
        env = {"PATH": os.environ["PATH"], "VERL_RUN_HEAD_ADDRESS": "127.0.0.1", "VERL_RUN_PORT_BASE": str(base),
               "RAY_ADDRESS": f"127.0.0.1:{base}", "RAY_AUTH_TOKEN_PATH": str(folder / "auth_token"), "VERL_RUN_RAY_AUTH": "token",
               "VERL_RUN_GATE_SECONDS": "1.5", "VERL_RUN_EXPECTED_NODES": json.dumps(EXPECTED), "VERL_RUN_TERMINATION_LOG": str(self.log),
               "VERL_RUN_TRAINER": json.dumps(["/bin/sh", "-c", "echo trainer says so; exit 7"]), "http_proxy": "http://127.0.0.1:1", **override}
        return subprocess.Popen([sys.executable, "-u", "-c", (SCRIPTS / "driver_gate.py").read_text()], text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, env={k: v for k, v in env.items() if v is not None})

    def outcome(self, script, **override):
        process = self.start(script, **override)
        output = process.communicate(timeout=30)[0]
        text = self.log.read_text()
        return process.returncode, json.loads(text)["verl.run/gate"] if text else "", "trainer says so\n" in output

    def test_what_ray_answers_decides_and_only_a_whole_locked_cluster_starts_the_trainer(self):
        nodes = "token /api/v0/nodes"
        table = [
            ("whole", WHOLE, (7, "Passed", True)),
            ("503 first", {**WHOLE, "/api/jobs/": [(503, ""), (401, "")]}, (7, "Passed", True)),
            ("503 for ever", {**WHOLE, "/api/jobs/": [(503, "")]}, (202, "RayUnreachable", False)),
            ("open jobs", {**WHOLE, "/api/jobs/": [(200, "[]")]}, (200, "RayUnauthenticated", False)),
            ("open nodes", {**WHOLE, "/api/v0/nodes": [(200, listing())]}, (200, "RayUnauthenticated", False)),
            ("403 is not 401", {**WHOLE, "/api/jobs/": [(403, "")]}, (200, "RayUnauthenticated", False)),
            ("404 is not 401", {**WHOLE, "/api/jobs/": [(404, "")]}, (200, "RayUnauthenticated", False)),
            ("redirected", {**WHOLE, "/api/jobs/": [(302, "")], "/elsewhere": [(401, "")]}, (200, "RayUnauthenticated", False)),
            ("token refused", {**WHOLE, nodes: [(403, "")]}, (204, "RayTokenRejected", False)),
            ("one missing", {**WHOLE, nodes: [(200, listing(row("127.0.0.1")))]}, (201, "NodesMissing", False)),
            ("one dead", {**WHOLE, nodes: [(200, listing(row("127.0.0.1"), row("10.0.0.4", state="DEAD")))]}, (201, "NodesMissing", False)),
            ("one late", {**WHOLE, nodes: [(200, listing(row("127.0.0.1"))), WHOLE[nodes][0]]}, (7, "Passed", True)),
            ("not JSON", {**WHOLE, nodes: [(200, "<html>")]}, (202, "RayUnreachable", False)),
            ("nodes API broken", {**WHOLE, nodes: [(500, "")]}, (202, "RayUnreachable", False)),
        ]
        for name, script, wanted in table:
            with self.subTest(name):
                self.assertEqual(self.outcome(script), wanted)

    def test_settings_that_are_absent_or_wrong_are_named_as_such(self):
        for override in ({"VERL_RUN_EXPECTED_NODES": "[]"}, {"VERL_RUN_EXPECTED_NODES": "["}, {"VERL_RUN_EXPECTED_NODES": '[{"rank":0}]'},
                         {"VERL_RUN_TRAINER": '"python3"'}, {"VERL_RUN_TRAINER": "[]"}, {"VERL_RUN_GATE_SECONDS": "soon"},
                         {"RAY_ADDRESS": None}, {"RAY_ADDRESS": "10.0.0.9:1"}, {"VERL_RUN_RAY_AUTH": "none"},
                         {"RAY_AUTH_TOKEN_PATH": "/does/not/exist"}, {"RAY_AUTH_TOKEN_PATH": "/dev/null"}):
            with self.subTest(str(override)):
                self.assertEqual(self.outcome(WHOLE, **override), (203, "GateMisconfigured", False))

    def test_a_job_that_opted_out_is_not_asked_for_its_token(self):
        script = {"/api/v0/nodes": WHOLE["token /api/v0/nodes"]}
        self.assertEqual(self.outcome(script, VERL_RUN_RAY_AUTH="disabled", RAY_AUTH_TOKEN_PATH=None), (7, "Passed", True))

    def test_a_trainer_that_does_not_exist_is_no_pass(self):
        self.assertEqual(self.outcome(WHOLE, VERL_RUN_TRAINER='["no-such-trainer"]'), (205, "TrainerNotExecutable", False))

    def test_sigterm_ends_a_waiting_gate_and_says_for_what_it_waited(self):
        process = self.start({**WHOLE, "token /api/v0/nodes": [(200, listing(row("127.0.0.1")))]}, VERL_RUN_GATE_SECONDS="60")
        for line in process.stdout:
            if "nodes ready" in line:
                break
        process.send_signal(signal.SIGTERM)
        began = time.monotonic()
        process.communicate(timeout=20)
        self.assertLess(time.monotonic() - began, 5)
        message = json.loads(self.log.read_text())
        self.assertEqual((process.returncode, message["verl.run/gate"], message["missing"]),
                         (206, "Interrupted", [{"rank": 1, "node": "n04", "address": "10.0.0.4"}]))


class RayNode(unittest.TestCase):
    def run_script(self, **override):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (folder / "ray").write_text('#!/bin/sh\necho "ray $*"; echo "metrics $DASHBOARD_METRIC_PORT $AUTOSCALER_METRIC_PORT"\n')
        (folder / "ray").chmod(0o755)
        env = {"PATH": f"{folder}:{os.environ['PATH']}", "VERL_RUN_ROLE": "head", "VERL_RUN_RANK": "0", "VERL_RUN_HEAD_ADDRESS": "127.0.0.1",
               "VERL_RUN_NODE_ADDRESS": "127.0.0.1", "VERL_RUN_PORT_BASE": "20000", "VERL_RUN_GPUS": "8", "VERL_RUN_CPUS": "31",
               "VERL_RUN_OBJECT_STORE_BYTES": "1000", "VERL_RUN_CHECK": "/bin/true", "VERL_RUN_TERMINATION_LOG": str(folder / "log"), **override}
        done = subprocess.run(["/bin/sh", "-c", (SCRIPTS / "ray_node.sh").read_text(), "ray_node.sh"], env=env, text=True,
                              capture_output=True, timeout=30, check=False)
        log = folder / "log"
        return done.returncode, done.stdout, json.loads(log.read_text()) if log.exists() else None

    def test_the_head_pins_every_port(self):
        self.assertEqual(self.run_script(), (0, (
            "ray start --head --include-dashboard=true --port=20000 --dashboard-host=127.0.0.1 --dashboard-port=20001 "
            "--ray-client-server-port=20002 --block --disable-usage-stats --node-ip-address=127.0.0.1 --num-gpus=8 --num-cpus=31 "
            "--object-store-memory=1000 --node-manager-port=20003 --object-manager-port=20004 --runtime-env-agent-port=20005 "
            "--dashboard-agent-listen-port=20006 --dashboard-agent-grpc-port=20007 --metrics-export-port=20008 "
            "--min-worker-port=0 --max-worker-port=0\nmetrics 20009 20010\n"), None))

    def test_a_worker_that_finds_no_head_says_which(self):
        code, _, message = self.run_script(VERL_RUN_ROLE="worker", VERL_RUN_RANK="3", VERL_RUN_PORT_BASE="1", VERL_RUN_JOIN_SECONDS="1")
        self.assertEqual((code, message), (212, {"verl.run/ray": "HeadUnreachable",
                                                 "message": "rank 3 found no Ray head at 127.0.0.1:1 within 1 s"}))

    def test_an_empty_setting_is_named(self):
        for name in ("VERL_RUN_NODE_ADDRESS", "VERL_RUN_GPUS", "VERL_RUN_ROLE", "VERL_RUN_CHECK"):
            code, output, message = self.run_script(**{name: ""})
            self.assertEqual((code, output, message["verl.run/ray"]), (213, "", "NodeMisconfigured"))
            self.assertIn(name, message["message"])
        self.assertEqual(self.run_script(VERL_RUN_ROLE="spare")[0], 213)
        self.assertEqual(self.run_script(VERL_RUN_PORT_BASE="20000x")[0], 213)

    def check_that(self, body):
        path = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "check"
        path.write_text("#!/bin/sh\n" + body)
        path.chmod(0o755)
        return str(path)

    def test_a_container_that_its_check_finds_unfit_starts_no_ray(self):
        told = 'test "$1" = run || exit 64; echo "{\\"verl.run/ray\\":\\"R\\"}" > "$VERL_RUN_TERMINATION_LOG"; exit '
        self.assertEqual(self.run_script(VERL_RUN_CHECK=self.check_that(told + "211")), (211, "", {"verl.run/ray": "R"}))
        self.assertEqual(self.run_script(VERL_RUN_CHECK=self.check_that(told + "213")), (213, "", {"verl.run/ray": "R"}))
        self.assertEqual(self.run_script(VERL_RUN_CHECK=self.check_that(told + "0"))[:1], (0,))

    def test_a_check_that_did_not_judge_is_no_pass(self):
        for check, code in (("/does/not/exist", 127), (self.check_that("kill -9 $$"), 137), (self.check_that("exit 1"), 1), ("/etc/passwd", 126)):
            seen, output, message = self.run_script(VERL_RUN_CHECK=check)
            self.assertEqual((seen, output, message["verl.run/ray"]), (211, "", "ContainerUnfit"))
            self.assertIn(f"ended with exit code {code} before it had judged", message["message"])


if __name__ == "__main__":
    unittest.main()
