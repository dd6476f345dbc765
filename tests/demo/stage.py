"""How the demo is told and done: commands shown as one types them, waiting, the programs of the chart's pods, the end.

Owns what an interruption means: whoever presses Ctrl-C, and however often, finds everything gone. Leaves what happens to
the story.
"""
import contextlib
import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
LAUNCH = ROOT / "tests/chart/launch.py"


class Failed(Exception):
    pass


class Interrupted(BaseException):
    def __init__(self, number):
        super().__init__(number)
        self.number = number


class Stage:
    def __init__(self, fleet_of):
        self.plane = pathlib.Path(os.environ["VERL_PLANE_DIR"])
        # In the plane's own folder, which goes when the plane goes, and its logs with the plane's.
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="demo.", dir=self.plane))
        os.chmod(self.folder, 0o755)  # the agents run as a user of their own and read the hosts in it
        self.logs = self.plane / "log/programs"
        self.fleet = fleet_of(self.folder)
        self.bin = pathlib.Path(os.environ.get("VERL_BIN", ROOT / "build/debug/bin")).resolve()
        self.state = self.folder / "programs"
        self.state.mkdir()
        self.pids = {}
        self.began = time.monotonic()
        self.holding, self.held = False, None
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self.interrupted)

    # ---- interruptions

    def interrupted(self, number, _):
        if self.holding:
            self.held = number
        else:
            raise Interrupted(number)

    @contextlib.contextmanager
    def uninterrupted(self):
        """What must not stop half-way; an interruption comes after it."""
        self.holding = True
        try:
            yield
        finally:
            self.holding = False
        if self.held is not None:
            raise Interrupted(self.held)

    def end(self):
        """Ends the programs. Nothing interrupts that, children included."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        subprocess.run([sys.executable, str(LAUNCH), "stop", "--state", str(self.state)], capture_output=True, timeout=60)
        if os.environ.get("VERL_KEEP") != "1":
            shutil.rmtree(self.folder, ignore_errors=True)

    # ---- telling

    def scene(self, number, title, what):
        print(f"\n\033[1m── {number}. {title}\033[0m" if sys.stdout.isatty() else f"\n== {number}. {title}")
        print(f"   {what}\n", flush=True)

    def run(self, *argv, show=True, check=True, timeout=60, as_typed=None, limit=0, cut=None):
        """Runs a command as one would type it, shows it and what it prints, and returns that. `cut` chooses the lines to show."""
        if show:
            print("$ " + (as_typed or " ".join(argv)), flush=True)
        env = dict(os.environ, PATH=f"{self.bin}:{os.environ['PATH']}")
        done = subprocess.run(argv, capture_output=True, text=True, timeout=timeout, env=env)
        text = done.stdout + (done.stderr if done.returncode else "")
        if show:
            lines = text.rstrip().splitlines()
            if cut:
                lines = cut(lines)
            for line in lines[:limit] if limit else lines:
                print("  " + line)
            if limit and len(lines) > limit:
                print(f"  … {len(lines) - limit} more lines")
            sys.stdout.flush()
        if check and done.returncode not in (check if isinstance(check, tuple) else (0,)):
            raise Failed(f"{' '.join(argv)} ended with {done.returncode}: {done.stderr.strip()[-800:]}")
        return done.stdout

    def kubectl(self, *argv, **how):
        return self.run("kubectl", *argv, **how)

    def verl(self, *argv, **how):
        return self.run(str(self.bin / "kubectl-verl"), *argv, as_typed="kubectl verl " + " ".join(argv), **how)

    def get(self, *argv):
        return json.loads(self.kubectl("get", *argv, "-o", "json", show=False))

    def wait(self, what, test, seconds=60):
        """Until test() gives something; shows that it waits when that takes longer than a second."""
        until, told, began = time.monotonic() + seconds, False, time.monotonic()
        while True:
            try:
                found = test()
            except (Failed, KeyError, IndexError, ValueError, subprocess.SubprocessError):
                found = None
            if found:
                if told:
                    print(f" {time.monotonic() - began:.0f} s", flush=True)
                return found
            if time.monotonic() > until:
                print(flush=True)
                raise Failed(f"waited {seconds} s for {what}")
            if not told and time.monotonic() - began > 1:
                print(f"  … {what}", end="", flush=True)
                told = True
            elif told:
                print(".", end="", flush=True)
            time.sleep(0.5)

    def rest(self):
        """Until Enter or an interruption; also when the control plane has gone."""
        foreground = sys.stdin.isatty() and os.tcgetpgrp(0) == os.getpgrp()
        while (self.plane / "plane").exists():
            ready, _, _ = select.select([sys.stdin] if foreground else [], [], [], 1)
            if ready:
                return
        raise Failed("the control plane is gone")

    # ---- doing

    def launch(self, selector):
        argv = [sys.executable, str(LAUNCH), "all", "-n", self.fleet.operator_space, "--selector", selector,
                "--logs", str(self.logs), "--state", str(self.state), "--host-trees", str(self.fleet.trees), "--owner", str(os.getpid())]
        # In a session of its own: Ctrl-C must not end it before its programs are known to whoever ends them.
        with self.uninterrupted():
            done = subprocess.run(argv, capture_output=True, text=True, timeout=120, env=dict(os.environ, VERL_BIN=str(self.bin)), start_new_session=True)
        if done.returncode:
            raise Failed(f"starting the programs of {selector}: {done.stderr.strip()[-1000:]}")
        started = [line.split() for line in done.stdout.split("\n") if line.strip()]
        self.pids.update({pod: (int(pid), node) for pid, pod, node in started})
        return [int(pid) for pid, _, _ in started]

    def show_logs(self):
        logs = sorted(self.logs.glob("*.log")) if self.logs.is_dir() else []
        for log in [l for l in logs if "agent" not in l.name][:1] + [l for l in logs if "agent" in l.name][:1]:
            print(f"--- the end of {log.name}", *log.read_text(errors="replace").splitlines()[-15:], sep="\n", file=sys.stderr)
