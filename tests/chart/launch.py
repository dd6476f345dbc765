#!/usr/bin/env python3
"""Runs the programs of the chart's own pods as processes beside a simulated cluster, as a kubelet would run them.

The pod is the one that the Deployment or DaemonSet controller made: its command, arguments, environment, volumes, user
and token are taken from the API server, and each program gets a root of its own in which exactly the pod's paths exist.
A path of the image, /usr/bin/X, is $VERL_BIN/X. So a program works here only if it would with what the chart gives it,
and it speaks to the API server as its own service account, bound to its pod and node. Nothing is restarted: tests do.

  launch.py pod -n NAMESPACE NAME [--log FILE] [--host-path /sys=DIR]...      prints the program's process id
  launch.py all -n NAMESPACE --selector L [--logs DIR] [--host-trees DIR]     prints "PID POD NODE", one line each
  launch.py stop                                                              ends all that run under --state

A watcher stays behind: it renews tokens, ends the program when its pod is deleted or the plane goes down, and cleans up.
"""
import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.parse

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cluster  # noqa: E402
import container as containers  # noqa: E402


class LaunchError(Exception):
    pass


class Program:
    """One pod's only container as a process of this machine."""

    def __init__(self, api, pod, options):
        self.api, self.pod = api, pod
        meta = pod["metadata"]
        self.name, self.node = meta["name"], pod["spec"]["nodeName"]
        if len(pod["spec"]["containers"]) != 1 or pod["spec"].get("initContainers"):
            raise LaunchError(f"pod {self.name}: wanted one container and no init container")
        self.container = pod["spec"]["containers"][0]
        self.folder = tempfile.mkdtemp(prefix=f"{meta['name']}.", dir=options.state)
        self.log = options.log or os.path.join(options.logs or options.state, f"{self.name}.log")
        try:
            self.volumes = containers.write_volumes(api, pod, os.path.join(self.folder, "volumes"),
                                                    lambda path: host_path(options, self.node, path))
        except Exception:
            remove(self.folder)
            raise
        self.tokens = [[time.monotonic(), *source] for source in containers.token_sources(pod)]
        self.grace = pod["spec"].get("terminationGracePeriodSeconds", 30)
        self.kill_at = None
        self.pid = None

    def start(self, options):
        env = containers.environment(self.api, self.pod, self.container)
        if options.server:
            env["KUBERNETES_SERVICE_HOST"], env["KUBERNETES_SERVICE_PORT"] = options.server.rsplit(":", 1)
            env["KUBERNETES_SERVICE_PORT_HTTPS"] = env["KUBERNETES_SERVICE_PORT"]
        words = self.container.get("command", []) + self.container.get("args", [])
        if not self.container.get("command"):
            raise LaunchError(f"pod {self.name}: no command; an image's own entry point is not known here")
        words = [containers.expand(word, env) for word in words]
        root = os.path.join(self.folder, "root")
        os.mkdir(root)
        reader, writer = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(reader)
            try:
                os.setsid()
                out = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
                null = os.open("/dev/null", os.O_RDONLY)
                for target, source in ((0, null), (1, out), (2, out)):
                    os.dup2(source, target)
                for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
                    signal.signal(number, signal.SIG_DFL)
                containers.enter(root, self.pod, self.container, self.volumes, options.bin, options.tool)
                os.closerange(3, writer)
                os.set_inheritable(writer, False)
                os.execve(words[0], words, env)
            except BaseException as error:  # the parent tells, this process must not go on
                os.write(writer, f"{type(error).__name__}: {error}".encode()[:4000])
            os._exit(127)
        os.close(writer)
        with os.fdopen(reader) as pipe:
            trouble = pipe.read()
        if trouble:
            os.waitpid(self.pid, 0)
            self.pid = None
            raise LaunchError(f"pod {self.name}: {words[0]} does not start: {trouble}")

    def ended(self):
        """True once the process is gone; its exit status is then in FOLDER.exit."""
        if self.pid is None:
            return True
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if pid == 0:
            return False
        signal_group(self.pid, signal.SIGKILL)  # what it left behind
        with open(self.log + ".exit", "w") as out:
            out.write(f"{os.waitstatus_to_exitcode(status)}\n")
        self.pid = None
        return True

    def stop(self):
        if self.pid is not None and self.kill_at is None:
            signal_group(self.pid, signal.SIGTERM)
            signal_group(self.pid, signal.SIGCONT)
            self.kill_at = time.monotonic() + self.grace
        if self.pid is not None and time.monotonic() >= self.kill_at:
            signal_group(self.pid, signal.SIGKILL)

    def renew_tokens(self):
        """Like the kubelet, at 80 % of the lifetime."""
        for entry in self.tokens:
            since, volume, path, seconds, audience = entry
            if time.monotonic() - since > 0.8 * seconds:
                try:
                    containers.write_token(self.api, self.pod, self.volumes[volume], path, seconds, audience)
                    entry[0] = time.monotonic()
                except (cluster.ApiError, OSError):
                    entry[0] += 10  # asked again in 10 s


def living(api, namespace):
    """UIDs of the pods that are to run; None when the API server does not say."""
    try:
        listed = api.get(f"/api/v1/namespaces/{namespace}/pods")["items"]
    except (cluster.ApiError, OSError, ValueError):
        return None
    return {pod["metadata"]["uid"] for pod in listed if "deletionTimestamp" not in pod["metadata"]}


def signal_group(pid, number):
    try:
        os.killpg(pid, number)
    except ProcessLookupError:
        pass


def host_path(options, node, path):
    for pair in options.host_path:
        if pair[0] == path:
            return pair[1]
    if options.host_trees:
        # A recorded host never borrows from this machine.
        return os.path.join(options.host_trees, node, path.lstrip("/"))
    return path


def await_pods(api, options):
    """The wanted pods once all are bound and Running."""
    until = time.monotonic() + options.timeout
    base = f"/api/v1/namespaces/{options.namespace}/pods"
    while True:
        if options.command == "pod":
            try:
                pods = [api.get(f"{base}/{options.name}")]
            except cluster.ApiError as error:
                if error.code != 404:
                    raise
                pods = []
        else:
            selector = urllib.parse.quote(options.selector, safe="")
            pods = api.get(f"{base}?labelSelector={selector}")["items"]
            pods = [pod for pod in pods if "deletionTimestamp" not in pod["metadata"]]
        waiting = [pod["metadata"]["name"] for pod in pods if pod["status"].get("phase") != "Running"]
        if pods and not waiting and len(pods) >= options.count:
            return pods
        if time.monotonic() > until:
            seen = f"{len(pods)} pods, not running: {', '.join(waiting) or 'none'}"
            raise LaunchError(f"no running pods in {options.namespace} after {options.timeout} s; saw {seen}")
        time.sleep(0.2)


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def watch(programs, options):
    """Until the last program has ended."""
    stopping = []
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: stopping.append(1))
    plane = os.environ.get("VERL_PLANE_DIR")
    mark = plane and os.path.join(plane, "plane")
    looked = time.monotonic()
    while programs:
        for program in [one for one in programs if one.ended()]:
            remove(program.folder)
            programs.remove(program)
        over = stopping or (mark and not os.path.exists(mark)) or (options.owner and not alive(options.owner))
        uids = None
        if programs and time.monotonic() - looked > 1:
            uids = living(programs[0].api, options.namespace)
            looked = time.monotonic()
        for program in programs:
            program.renew_tokens()
            if over or program.kill_at or (uids is not None and program.pod["metadata"]["uid"] not in uids):
                program.stop()
        time.sleep(0.1)


def remove(folder):
    """The mounts were in the program's own namespace and went with it: only files of ours are left."""
    subprocess.run(["rm", "-rf", "--one-file-system", folder], check=False)


def launch(options):
    """Starts the programs and a watcher; gives [{pid, pod, node, log}]."""
    if os.geteuid() != 0:
        raise LaunchError("this needs root: mount namespaces and other users' ids")
    if not options.bin or not os.path.isdir(options.bin):
        raise LaunchError("where are the programs? set VERL_BIN or give --bin DIR")
    options.bin, options.log = os.path.abspath(options.bin), options.log and os.path.abspath(options.log)
    os.makedirs(options.state, exist_ok=True)
    if options.logs:
        os.makedirs(options.logs, exist_ok=True)
    api = cluster.Cluster(options.kubeconfig)
    pods = await_pods(api, options)
    reader, writer = os.pipe()
    if os.fork() == 0:
        os.close(reader)
        answer = {}
        programs = []
        try:
            os.setsid()
            os.chdir("/")
            for pod in pods:
                program = Program(api, pod, options)
                programs.append(program)
                program.start(options)
            answer["started"] = [{"pid": p.pid, "pod": p.name, "node": p.node, "log": p.log} for p in programs]
            with open(os.path.join(options.state, f"{os.getpid()}.watcher"), "w") as out:
                out.write("\n")
        except Exception as error:  # told to whoever asked; what had started ends again
            answer["error"] = str(error) if isinstance(error, LaunchError) else f"{type(error).__name__}: {error}"
        os.write(writer, json.dumps(answer).encode())
        os.close(writer)
        null = os.open("/dev/null", os.O_RDWR)
        for target in (0, 1, 2):
            os.dup2(null, target)
        if "error" in answer:
            for program in programs:
                program.grace = 1
                program.stop()
        watch(programs, options)
        try:
            os.unlink(os.path.join(options.state, f"{os.getpid()}.watcher"))
        except FileNotFoundError:
            pass
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        text = pipe.read()
    answer = json.loads(text) if text else {"error": "the watcher ended before it said anything"}
    if "error" in answer:
        raise LaunchError(answer["error"])
    return answer["started"]


def stop(options):
    """Ends every watcher of the state folder, and with it its programs."""
    watchers = [int(name.split(".")[0]) for name in os.listdir(options.state) if name.endswith(".watcher")] \
        if os.path.isdir(options.state) else []
    for pid in watchers:
        try:
            os.kill(pid, signal.SIGTERM)
        except ProcessLookupError:
            pass
    until = time.monotonic() + 40
    while [pid for pid in watchers if alive(pid)] and time.monotonic() < until:
        time.sleep(0.1)
    left = [pid for pid in watchers if alive(pid)]
    if left:
        raise LaunchError(f"still running after 40 s: watchers {left}")


def parse(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    common = argparse.ArgumentParser(add_help=False)
    default = os.path.join(os.environ.get("VERL_PLANE_DIR", tempfile.gettempdir()), "launched")
    common.add_argument("--state", default=default, type=os.path.abspath, help="where volumes and logs lie (%(default)s)")
    run = argparse.ArgumentParser(add_help=False, parents=[common])
    run.add_argument("-n", "--namespace", required=True)
    run.add_argument("--kubeconfig", help="the administrator's; $KUBECONFIG without")
    run.add_argument("--bin", default=os.environ.get("VERL_BIN"), help="folder of the programs ($VERL_BIN)")
    run.add_argument("--host-path", action="append", default=[], metavar="/PATH=HERE",
                     type=lambda pair: (pair.split("=", 1)[0], os.path.abspath(pair.split("=", 1)[1])),
                     help="what a host path of the pod is on this machine; without, the path itself")
    run.add_argument("--host-trees", type=os.path.abspath, metavar="DIR",
                     help="host path P of a pod on node N is DIR/N/P, and never this machine's")
    run.add_argument("--tool", action="append", default=[], metavar="/PATH", help="a file of this machine that the image holds too")
    run.add_argument("--server", metavar="HOST:PORT", help="where the programs are told the API server is; without, where it is")
    run.add_argument("--owner", type=int, metavar="PID", help="end the programs when this process has ended")
    run.add_argument("--timeout", type=float, default=60, help="seconds to wait for the pods to run (%(default)s)")
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("pod", parents=[run])
    one.add_argument("name")
    one.add_argument("--log")
    several = commands.add_parser("all", parents=[run])
    several.add_argument("--selector", required=True)
    several.add_argument("--logs", type=os.path.abspath, help="folder for POD.log")
    several.add_argument("--count", type=int, default=1, help="wait for at least so many pods")
    commands.add_parser("stop", parents=[common])
    options = parser.parse_args(words)
    for name, value in (("log", None), ("logs", None), ("count", 1)):
        if not hasattr(options, name):
            setattr(options, name, value)
    return options


def main(words):
    options = parse(words)
    try:
        if options.command == "stop":
            stop(options)
            return 0
        for started in launch(options):
            print(started["pid"] if options.command == "pod" else f"{started['pid']} {started['pod']} {started['node']}")
        return 0
    except (LaunchError, cluster.ApiError, containers.NotSupported, OSError, subprocess.SubprocessError) as error:
        print(f"launch: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
