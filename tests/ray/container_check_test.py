#!/usr/bin/env python3
"""verl-container-check as a program: what it is linked to, that it installs itself, its words and exit codes.

Usage: container_check_test.py PROGRAM
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = ""


def tree(folder, cpus="0-3", files=1048576):
    """A machine with two NUMA nodes of four CPUs and a GPU on each, as a container sees it."""
    texts = {
        "proc/self/limits": f"Max open files            1024                 {files}              files     \n"
                            "Max locked memory         65536                65536                bytes     \n",
        "proc/self/status": f"CapEff:\t0000000000000000\nCpus_allowed_list:\t{cpus}\n",
        "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/pids.max": "max\n", "dev/shm/x": "", "dev/nvidia0": "", "dev/nvidia1": "",
    }
    for number in (0, 1):
        address = f"0000:{number + 1}b:00.0"
        texts[f"sys/devices/system/node/node{number}/cpulist"] = f"{4 * number}-{4 * number + 3}\n"
        texts[f"sys/bus/pci/devices/{address}/numa_node"] = f"{number}\n"
        texts[f"proc/driver/nvidia/gpus/{address}/information"] = f"Model: \t\t H100\nDevice Minor: \t {number}\n"
    for path, text in texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


class Linking(unittest.TestCase):
    def test_it_runs_in_any_image(self):
        headers = subprocess.run(["readelf", "--program-headers", "--dynamic", "--wide", PROGRAM], check=True, capture_output=True, text=True).stdout
        self.assertIn("There is no dynamic section in this file", headers)
        for word in ("INTERP", "DYNAMIC", "NEEDED"):
            self.assertNotIn(word, headers)
        self.assertIn("not a dynamic object", subprocess.run(["objdump", "-T", PROGRAM], check=False, capture_output=True, text=True).stderr)
        self.assertLess(os.path.getsize(PROGRAM), 32 << 20, "every pod of a job copies it")


class Install(unittest.TestCase):
    def test_a_copy_runs_without_anything_else_of_the_image(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        done = subprocess.run([PROGRAM, "install", folder], capture_output=True, text=True, timeout=30, check=False, umask=0o077)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.assertEqual([entry.name for entry in folder.iterdir()], ["verl-container-check"])
        copy = folder / "verl-container-check"
        self.assertEqual((copy.stat().st_mode & 0o7777, copy.read_bytes()), (0o755, pathlib.Path(PROGRAM).read_bytes()))
        if os.geteuid() == 0:  # a root that holds nothing but the copy
            done = subprocess.run(["chroot", folder, "/verl-container-check", "--version"], capture_output=True, text=True, timeout=30, check=False)
            self.assertEqual((done.returncode, done.stdout.split()[0]), (0, "verl-container-check"), done.stderr)

    def test_a_folder_that_is_not_there_is_named(self):
        done = subprocess.run([PROGRAM, "install", "/does/not/exist"], capture_output=True, text=True, timeout=30, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("/does/not/exist", done.stderr)


class Run(unittest.TestCase):
    def outcome(self, words=(), environment=(), **machine):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        tree(folder / "root", **machine)
        env = {"VERL_RUN_SHM_BYTES": "4096", "VERL_RUN_GPUS": "2", "VERL_RUN_TERMINATION_LOG": str(folder / "log"), **dict(environment)}
        done = subprocess.run([PROGRAM, *(words or ("run", "--root", folder / "root"))], env={k: v for k, v in env.items() if v is not None},
                              capture_output=True, text=True, timeout=30, check=False)
        text = (folder / "log").read_text() if (folder / "log").exists() else "{}"
        self.assertLess(len(text), 3500)
        message = json.loads(text)
        return done.returncode, message.get("verl.run/ray", ""), message.get("message", ""), done.stderr

    def test_a_fit_container_says_so_and_leaves_no_message(self):
        code, reason, message, log = self.outcome(environment={"VERL_RUN_NUMA": "Required"}, cpus="0-7")
        self.assertEqual((code, reason, message, log), (0, "", "", "verl-container-check: this container is fit\n"))

    def test_a_cpuset_far_from_a_gpu_ends_it_only_where_the_job_says_so(self):
        far = "GPU 0000:2b:00.0 is on NUMA node 1, the container may use CPUs 0-3, wants some of that node's 4-7; "
        code, reason, message, log = self.outcome(environment={"VERL_RUN_NUMA": "Required"})
        self.assertEqual((code, reason), (211, "ContainerUnfit"))
        self.assertIn(far, message)
        for word in ("Preferred", None):
            code, reason, _, log = self.outcome(environment={"VERL_RUN_NUMA": word})
            self.assertEqual((code, reason), (0, ""))
            self.assertIn("verl-container-check: warning: " + far, log)
        code, reason, _, log = self.outcome(environment={"VERL_RUN_NUMA": "None"})
        self.assertEqual((code, reason, log), (0, "", "verl-container-check: this container is fit\n"))

    def test_what_cannot_be_told_is_no_pass_where_it_is_required(self):
        code, reason, message, _ = self.outcome(environment={"VERL_RUN_NUMA": "Required", "VERL_RUN_GPUS": "8"}, cpus="0-7")
        self.assertEqual((code, reason), (211, "ContainerUnfit"))
        self.assertIn("cannot be told: 2 of 8 GPUs were found", message)

    def test_everything_that_is_wrong_is_told_at_once(self):
        code, reason, message, log = self.outcome(files=1024, environment={
            "VERL_RUN_NUMA": "Required", "VERL_RUN_SHM_BYTES": str(1 << 60), "VERL_RUN_RDMA_DEVICES": "8"})
        self.assertEqual((code, reason), (211, "ContainerUnfit"))
        for part in ("/dev/shm has ", ", wants 1 EiB: ", "locked memory is limited to 64 KiB and IPC_LOCK is not effective", "0 of 0 RDMA devices",
                     "at most 1024 open files", "on NUMA node 1"):
            self.assertIn(part, message)
            self.assertIn(part, log)

    def test_settings_of_the_operator_that_are_missing_are_no_fault_of_the_node(self):
        code, reason, message, _ = self.outcome(environment={"VERL_RUN_GPUS": None, "VERL_RUN_NUMA": "maybe"})
        self.assertEqual((code, reason), (213, "NodeMisconfigured"))
        self.assertEqual(message, "VERL_RUN_GPUS is empty; the operator sets it in every pod. VERL_RUN_NUMA is maybe, wants Required, Preferred or None")

    def test_a_message_that_cannot_be_written_changes_no_verdict(self):
        code, _, _, log = self.outcome(environment={"VERL_RUN_SHM_BYTES": str(1 << 60), "VERL_RUN_TERMINATION_LOG": "/does/not/exist"})
        self.assertEqual(code, 211)
        self.assertIn("could not be written to /does/not/exist", log)

    def test_this_machine_can_be_looked_at(self):
        code, reason, message, log = self.outcome(words=("run",))
        self.assertIn((code, reason), ((0, ""), (211, "ContainerUnfit")), message + log)

    def test_the_command_line(self):
        for words, code in ((["--help"], 0), (["--version"], 0), ([""], 64), (["run", "--root"], 64), (["install"], 64), (["run", "now"], 64), (["install", "a", "b"], 64)):
            self.assertEqual(self.outcome(words=words)[0], code, words)


if __name__ == "__main__":
    PROGRAM = os.path.realpath(sys.argv.pop(1))
    unittest.main()
