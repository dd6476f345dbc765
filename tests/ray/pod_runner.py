"""Runs pods as processes: a network namespace per node, and per container a root, a PID space and only its own environment.

Owns what a kubelet would give a hostNetwork pod as far as commands can see it: expanded $(VAR) references, emptyDirs shared
by the containers of a pod, init containers first, users, Secrets as files, termination messages, exit codes. Leaves images aside: programs are this
machine's, plus a Python environment first in PATH. Needs root. Everything it makes is named after its own process id.
"""
import contextlib
import ctypes
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

# Builds a root of its own, then becomes the container's command. $1 root, $2 termination file, $3 its path, $4 hostname,
# $5 number of mounts, $6 user:group or nothing, then pairs (source, target), then the command.
SANDBOX = r"""
set -eu
root=$1 log=$2 logpath=$3 count=$5 user=$6; hostname "$4"; shift 6
mount --make-rprivate /
mount -t tmpfs -o mode=755 tmpfs "$root"
for entry in /*; do
  name=${entry#/}
  case "$name" in proc|sys|dev|tmp|run) continue ;; esac
  if [ -L "$entry" ]; then cp -a "$entry" "$root/$name"
  elif [ -d "$entry" ]; then mkdir "$root/$name"; mount --rbind "$entry" "$root/$name"; fi
done
mkdir "$root/proc" "$root/sys" "$root/dev" "$root/tmp" "$root/run" "$root/dev/shm"
chmod 1777 "$root/tmp" "$root/dev/shm"
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
for device in null zero full random urandom tty; do touch "$root/dev/$device"; mount --bind "/dev/$device" "$root/dev/$device"; done
ln -s /proc/self/fd "$root/dev/fd"; ln -s fd/0 "$root/dev/stdin"; ln -s fd/1 "$root/dev/stdout"; ln -s fd/2 "$root/dev/stderr"
while [ "$count" -gt 0 ]; do
  mkdir -p "$root$2"; mount --bind "$1" "$root$2"; shift 2; count=$((count - 1))
done
mkdir -p "`dirname "$root$logpath"`"; touch "$root$logpath"; mount --bind "$log" "$root$logpath"
exec chroot ${user:+"--userspec=$user"} "$root" "$@"
"""


def expand(text, env):
    """Kubernetes' expansion of $(NAME) and $$ in command, args and env."""
    return re.sub(r"\$\$|\$\(([^)]*)\)", lambda m: "$" if m[0] == "$$" else env.get(m[1], m[0]), text)


def container_env(container):
    env = {}
    for item in container.get("env", []):
        if "value" not in item:
            raise ValueError(f"container {container['name']}: {item['name']} has no literal value")
        env[item["name"]] = expand(item["value"], env)
    return env


def die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: a killed test leaves no process behind


def sweep():
    """Removes namespaces and folders of runs that were killed."""
    def dead(name):
        match = re.match(r"vrt-(\d+)-", name)
        return match and not os.path.exists("/proc/" + match[1])
    for name in os.listdir("/run/netns") if os.path.isdir("/run/netns") else []:
        if dead(name):
            subprocess.run(["ip", "netns", "del", name], stderr=subprocess.DEVNULL, check=False)
    for folder in (tempfile.gettempdir(), "/dev/shm"):
        for name in os.listdir(folder):
            if dead(name):
                shutil.rmtree(os.path.join(folder, name), ignore_errors=True)


def children(pid):
    with contextlib.suppress(OSError):
        return [int(c) for c in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


class Container:
    def __init__(self, name, process, termination, log):
        self.name, self.process, self.termination, self.log = name, process, termination, log

    def exit_code(self):
        code = self.process.poll()
        return 128 - code if code is not None and code < 0 else code

    def wait(self, seconds):
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{self.name} still runs after {seconds:.0f} s\n{self.output()[-3000:]}") from None
        return self.exit_code()

    def signal(self, number):
        """To the container's first process, as a kubelet would."""
        for pid in children(self.process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def message(self):
        return self.termination.read_text()

    def output(self):
        return self.log.read_text(errors="replace")


class Lab:
    """Nodes (network namespaces on one bridge) and the containers that run on them. A context manager: leaving it ends all."""

    def __init__(self, python_env, secret, extra_mounts=(), tools=None):
        self.tag = f"vrt-{os.getpid()}-"
        self.python_env, self.secret, self.extra_mounts = python_env, secret, list(extra_mounts)
        self.tools, self.prepared = tools, set()  # a folder with the program that the image of verl-check has
        self.bridge_ns, self.nodes, self.containers, self.pauses = self.tag + "br", {}, [], {}
        self.folder = self.shm = None

    def __enter__(self):
        sweep()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=self.tag))
        self.shm = pathlib.Path(tempfile.mkdtemp(prefix=self.tag, dir="/dev/shm"))
        try:
            self._ip("netns", "add", self.bridge_ns)
            self._ip("-n", self.bridge_ns, "link", "add", "br0", "type", "bridge")
            self._ip("-n", self.bridge_ns, "addr", "add", "10.77.0.1/24", "dev", "br0")
            self._ip("-n", self.bridge_ns, "link", "set", "br0", "up")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for container in self.containers:
            for pid in children(container.process.pid):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)  # first process of its PID space: the kernel ends the rest
            with contextlib.suppress(ProcessLookupError):
                container.process.kill()
            container.process.wait()
        for pause in self.pauses.values():
            for pid in children(pause.pid):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            pause.wait()
        for namespace in [*self.nodes.values(), self.bridge_ns]:
            subprocess.run(["ip", "netns", "del", namespace], stderr=subprocess.DEVNULL, check=False)
        for folder in (self.folder, self.shm):
            if folder:
                shutil.rmtree(folder, ignore_errors=True)

    @staticmethod
    def _ip(*arguments):
        subprocess.run(["ip", *arguments], check=True)

    def node(self, address):
        if address not in self.nodes:
            namespace = self.tag + address.rsplit(".", 1)[1]
            self._ip("netns", "add", namespace)
            self.nodes[address] = namespace
            self._ip("-n", self.bridge_ns, "link", "add", "v" + address.rsplit(".", 1)[1], "type", "veth",
                     "peer", "name", "eth0", "netns", namespace)
            self._ip("-n", self.bridge_ns, "link", "set", "v" + address.rsplit(".", 1)[1], "master", "br0", "up")
            self._ip("-n", namespace, "addr", "add", address + "/24", "dev", "eth0")
            self._ip("-n", namespace, "link", "set", "eth0", "up")
            self._ip("-n", namespace, "link", "set", "lo", "up")
        return self.nodes[address]

    def _volume(self, pod, volume):
        name = pod["metadata"]["name"]
        memory = volume.get("emptyDir", {}).get("medium") == "Memory"
        folder = (self.shm if memory else self.folder) / name / volume["name"]
        if "persistentVolumeClaim" in volume:  # shared by all pods, as a ReadWriteMany claim is
            folder = self.folder / "claims" / volume["persistentVolumeClaim"]["claimName"]
        if not folder.exists():
            folder.mkdir(parents=True)
            if "secret" in volume:
                for path in [item["path"] for item in volume["secret"].get("items", [])] or ["auth_token"]:
                    (folder / path).write_text(self.secret)
            elif "emptyDir" in volume or "persistentVolumeClaim" in volume:
                folder.chmod(0o777)
            else:
                raise ValueError(f"pod {name}: volume {volume['name']} is no emptyDir, secret or claim")
        return folder

    def _processes(self, pod):
        """Options that put a container into its PID space: one of its own, or the pod's where the pod shares it."""
        if not pod["spec"].get("shareProcessNamespace"):
            return [], ["--pid", "--fork", "--kill-child"]
        name = pod["metadata"]["name"]
        if name not in self.pauses:
            self.pauses[name] = subprocess.Popen(  # reaps orphans, as the pause container does
                ["/usr/bin/unshare", "--pid", "--fork", "--kill-child", "/bin/sh", "-c", "while :; do sleep 1 & wait; done"],
                stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True, preexec_fn=die_with_parent)
        first = eventually(10, lambda: children(self.pauses[name].pid), "a PID space for " + name)[0]
        return [f"--pid=/proc/{first}/ns/pid"], []

    def start(self, pod, container_name, **override):
        """Starts one container of a pod, after its init containers; `override` replaces environment variables."""
        spec = pod["spec"]
        self._prepare(pod)
        return self._start(pod, next(c for c in spec["containers"] if c["name"] == container_name), override)

    def _prepare(self, pod):
        """Runs the init containers of a pod, once and in turn."""
        if pod["metadata"]["name"] in self.prepared:
            return
        self.prepared.add(pod["metadata"]["name"])
        for container in pod["spec"].get("initContainers", []):
            started = self._start(pod, container, {})
            if started.wait(60) != 0:
                raise AssertionError(f"init container {started.name} ended with {started.exit_code()}\n{started.output()[-3000:]}")

    def _start(self, pod, container, override):
        spec, container_name = pod["spec"], container["name"]
        address = container_env(next(c for c in spec["containers"] if c["name"] == "ray"))["VERL_RUN_NODE_ADDRESS"]
        env = {**container_env(container), **override}
        command = [expand(word, env) for word in container.get("command", []) + container.get("args", [])]
        run = pathlib.Path(tempfile.mkdtemp(prefix=f"{pod['metadata']['name']}-{container_name}-", dir=self.folder))
        root, termination, log = run / "root", run / "termination", run / "log"
        root.mkdir()
        termination.touch()
        volumes = {v["name"]: v for v in spec.get("volumes", [])}
        mounts = [(str(self._volume(pod, volumes[m["name"]])), m["mountPath"]) for m in container.get("volumeMounts", [])]
        # The cache that holds Ray may lie below /tmp or /run, which containers have of their own.
        mounts += [(str(self.python_env), str(self.python_env)), *self.extra_mounts]
        if container_name == "verl-check":  # its image has the program in /usr/bin
            command[0] = "/run/verl-tools/" + os.path.basename(command[0])
            mounts.append((str(self.tools), "/run/verl-tools"))
        security = container.get("securityContext", {})
        user = f"{security['runAsUser']}:{security['runAsGroup']}" if "runAsUser" in security else ""
        enter, make = self._processes(pod)
        wrapper = ["/usr/bin/nsenter", f"--net=/run/netns/{self.node(address)}", *enter,
                   "/usr/bin/unshare", "--mount", "--uts", *make,
                   "/bin/sh", "-c", SANDBOX, "sandbox", str(root), str(termination),
                   container.get("terminationMessagePath", "/dev/termination-log"), pod["metadata"]["name"], str(len(mounts)), user]
        wrapper += [part for mount in mounts for part in mount]
        image = {"PATH": f"{self.python_env}/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/tmp", "LANG": "C.UTF-8"}
        with open(log, "wb") as output:
            process = subprocess.Popen(wrapper + command, env={**image, **env}, stdin=subprocess.DEVNULL,
                                       stdout=output, stderr=subprocess.STDOUT, cwd="/", start_new_session=True, preexec_fn=die_with_parent)
        started = Container(f"{pod['metadata']['name']}/{container_name}", process, termination, log)
        self.containers.append(started)
        return started

    def inside(self, address, *command, stdin=""):
        """Output of a command in a node's network, outside any container."""
        return subprocess.run(["ip", "netns", "exec", self.node(address), *command], check=True, capture_output=True,
                              text=True, timeout=30, input=stdin).stdout


def eventually(seconds, look, what):
    deadline = time.monotonic() + seconds
    while True:
        value = look()
        if value:
            return value
        if time.monotonic() >= deadline:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.5)
