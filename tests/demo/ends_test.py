#!/usr/bin/env python3
"""What is left of the demo's cluster when somebody has tried jobs on it and presses Ctrl-C, or stops reading: nothing.

Runs scripts/control-plane itself, on a terminal as people do. Leaves what the story tells to the story.
"""
import os
import pathlib
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests/demo"))
import story  # noqa: E402

STORY = [str(ROOT / "scripts/control-plane"), "run", "--", sys.executable, str(ROOT / "tests/demo/story.py")]


class Terminal:
    """A command on a terminal of its own, and what it has printed."""

    def __init__(self, argv, env):
        self.text = ""
        self.pid, self.end = pty.fork()
        if self.pid == 0:
            try:
                os.execve(argv[0], argv, env)
            finally:
                os._exit(127)

    def read(self, seconds):
        """False once nothing more can come."""
        if not select.select([self.end], [], [], seconds)[0]:
            return True
        try:
            got = os.read(self.end, 65536)
        except OSError:  # how Linux says that the other side is closed
            return False
        self.text += got.decode(errors="replace").replace("\r\n", "\n")
        return bool(got)

    def until(self, words, seconds):
        limit = time.monotonic() + seconds
        while words not in self.text:
            if time.monotonic() > limit or not self.read(0.5):
                raise AssertionError(f"no '{words}' in what it prints: {self.text[-2000:]}")

    def wait(self, seconds):
        limit = time.monotonic() + seconds
        while self.read(0.5):
            if time.monotonic() > limit:
                raise AssertionError(f"has not ended after {seconds} s: {self.text[-2000:]}")
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def close(self):
        try:
            if os.waitpid(self.pid, os.WNOHANG)[0] == 0:
                os.kill(self.pid, signal.SIGTERM)
                os.waitpid(self.pid, 0)
        except ChildProcessError:
            pass
        os.close(self.end)


def mentioning(words):
    """Processes whose command line has the words."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if words in line:
            found.append(line)
    return found


class Ends(unittest.TestCase):
    def setUp(self):
        self.tmp = tempfile.mkdtemp(prefix="verl-demo-ends.")
        self.env = {**os.environ, "TMPDIR": self.tmp, "PYTHONDONTWRITEBYTECODE": "1"}
        for name in ("VERL_KEEP", "KUBECONFIG"):
            self.env.pop(name, None)

    def nothing_is_left(self):
        self.assertEqual([], os.listdir(self.tmp))
        self.assertEqual([], mentioning(self.tmp + "/"))
        os.rmdir(self.tmp)

    def test_a_cluster_to_try_takes_the_examples_and_leaves_nothing_behind(self):
        terminal = Terminal(STORY + ["--only-cluster"], self.env)
        self.addCleanup(terminal.close)
        terminal.until("Enter or Ctrl-C ends it.", 150)
        exports = "\n".join(line for line in terminal.text.splitlines() if line.startswith("export "))

        def typed(words):
            done = subprocess.run(["bash", "-ec", exports + "\n" + words], cwd=ROOT, env={"HOME": self.tmp, "PATH": "/usr/bin:/bin"},
                                  capture_output=True, text=True, timeout=60, check=False)
            self.assertIn(done.returncode, (0, 79), f"{words}: {done.stdout}{done.stderr}")
            return done.stdout + done.stderr

        self.assertIn("8 of 12 ready", typed("kubectl verl report"))
        def wait_for(phase, name):
            limit = time.monotonic() + 60
            while typed(f"kubectl get vlj {name} -n rl -o jsonpath='{{.status.phase}}'") != phase:
                self.assertLess(time.monotonic(), limit, typed(f"kubectl verl explain {name} -n rl"))
                time.sleep(0.5)

        for name in ("command", "two-pools", "minimal"):
            self.assertNotIn("Warning", typed(f"kubectl apply -n rl -f examples/{name}.yaml"))
        wait_for("Suspended", "own-recipe")
        wait_for("Running", "two-pools")
        wait_for("Running", "minimal")
        (command,) = re.findall(r"^kubectl annotate .*$", terminal.text, re.M)
        typed(command)
        wait_for("Succeeded", "minimal")
        self.assertEqual([], [name for name in os.listdir(self.tmp) if not name.startswith("verl-plane.")])
        for _ in range(4):
            os.write(terminal.end, b"\x03")
            time.sleep(0.3)
        code = terminal.wait(60)
        self.assertEqual(1, terminal.text.count("cleaning up…"), terminal.text[-1000:])
        self.assertNotIn("Traceback", terminal.text)
        self.assertNotIn("kept", terminal.text)
        self.assertIn(code, (0, 128 + signal.SIGINT))
        self.nothing_is_left()

    def test_a_reader_that_goes_away_ends_the_story_quietly(self):
        telling = subprocess.Popen(STORY, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(4):
            self.assertTrue(telling.stdout.readline())
        telling.stdout.close()
        said = telling.stderr.read()
        telling.stderr.close()
        self.assertEqual(128 + signal.SIGPIPE, telling.wait(90), said)
        self.assertNotIn("Traceback", said)
        self.assertNotIn("kept", said)
        self.nothing_is_left()


class LastScene(unittest.TestCase):
    def test_a_cut_report_shows_what_fails_or_is_unknown_and_counts_the_rest(self):
        report = ["network", "-------", "- links", "    no link", "× MTU    mtu-interface", "    ens0: 1500", "      fix: 9000", "√ ports", "",
                  "time", "----", "? clock", "    nobody knows", "‼ drops", "Ready: no."]
        self.assertEqual(["× MTU    mtu-interface", "    ens0: 1500", "      fix: 9000", "? clock", "    nobody knows", "‼ drops",
                          "… 7 more lines about what passes or is not judged", "Ready: no."], story.worst_first(report))
        self.assertEqual([], story.worst_first([]))


if __name__ == "__main__":
    unittest.main(verbosity=2)
