#!/usr/bin/env python3
"""What the three programs do with command lines and files that cannot be right, and with an output that takes nothing.

Runs the programs in VERL_BIN. Needs no cluster.
"""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

BIN = pathlib.Path(os.environ.get("VERL_BIN", "build/bin"))
PROGRAMS = ["kubectl-verl", "verl-node-agent", "verl-operator"]


def run(program, *arguments, **given):
    return subprocess.run([BIN / program, *arguments], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=60, check=False,
                          **{"stdout": subprocess.PIPE, **given})


class CommandLine(unittest.TestCase):
    def test_a_full_output_is_told(self):
        commands = [[program, word] for program in PROGRAMS for word in ("version", "--help")]
        commands += [["verl-node-agent", "checks"], ["verl-node-agent", "check"], ["verl-node-agent", "check", "--help"], ["kubectl-verl", "report", "--help"]]
        for command in commands:
            with self.subTest(command), open("/dev/full", "w", encoding="ascii") as full:
                ran = run(*command, stdout=full)
                self.assertEqual(ran.returncode, 1, ran.stderr)
                self.assertIn("the output could not be written", ran.stderr)
                if command[1] != "check":
                    self.assertEqual(run(*command).returncode, 0)

    def test_a_word_that_nobody_knows_is_named_first(self):
        for program, *arguments, wanted in [
                ["kubectl-verl", "bogus", '"bogus" is no command of kubectl-verl; there are report, plan, explain, snapshot, diagnose, lint, nccl-log, version'],
                ["kubectl-verl", "reprot", '"reprot" is no command of kubectl-verl; did you mean report?'],
                ["kubectl-verl", "report", "--asci", '"--asci" is no option of report; did you mean --ascii?'],
                ["kubectl-verl", "explain", "a", "b", '"b" is not expected after explain'],
                ["verl-operator", "run", "--bogus", '"--bogus" is no option of run; run --help lists them'],
                ["verl-operator", "start", '"start" is no command of verl-operator'],
                ["verl-node-agent", "cheks", '"cheks" is no command of verl-node-agent; did you mean check'],
                ["verl-node-agent", "run", "--lease-namespase", "x", '"--lease-namespase" is no option of run; did you mean --lease-namespace?']]:
            with self.subTest(arguments):
                ran = run(program, *arguments)
                self.assertEqual(ran.returncode, 64, ran.stderr)
                self.assertTrue(ran.stderr.startswith(f"{program}: {wanted}"), ran.stderr)
                self.assertEqual(ran.stdout, "")

    def test_folders_and_empty_files_are_refused_by_name(self):
        with tempfile.TemporaryDirectory() as folder:
            empty, key = pathlib.Path(folder, "empty.yaml"), pathlib.Path(folder, "key")
            good = pathlib.Path(folder, "good.yaml")
            empty.touch()
            good.write_text("{}\n", encoding="ascii")
            key.write_text("0" * 64 + "\n", encoding="ascii")
            operator = lambda config, token: ["verl-operator", "run", "--tools-image", "i", "--config", str(config), "--token-key-file", str(token)]
            for command, wanted in [(operator(folder, key), "is a directory"), (operator(good, folder), "is a directory"),
                                    (operator(empty, key), "the file is empty, wants a map with levels"),
                                    (["verl-node-agent", "check", "--policy", folder], "is a directory"),
                                    (["kubectl-verl", "plan", "-f", folder, "--from", folder], "is a directory"),
                                    (["kubectl-verl", "report", "--from", folder], "is a directory")]:
                with self.subTest(command):
                    ran = run(*command)
                    self.assertEqual(ran.returncode, 1, ran.stderr)
                    self.assertIn(wanted, ran.stdout + ran.stderr)

    def test_the_agents_report_has_the_marks_and_the_document_of_every_report(self):
        with tempfile.TemporaryDirectory() as folder:
            table = run("verl-node-agent", "check", "--root", folder, "--ascii")
            self.assertEqual(table.returncode, 79, table.stderr)
            self.assertIn("?? GPUs are all there", table.stdout)
            self.assertTrue(table.stdout.isascii())
            report = json.loads(run("verl-node-agent", "check", "--root", folder, "-o", "json").stdout)
            self.assertEqual((report["kind"], report["ready"]), ("NodeReport", False))
            self.assertEqual({one["verdict"] for one in report["findings"]} - {"Unknown", "Skipped"}, set())


if __name__ == "__main__":
    unittest.main()
