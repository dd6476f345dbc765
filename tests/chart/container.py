"""What the kubelet and a runtime make of a container: its files, its environment, its root.

Owns volumes (configMap, secret, projected, emptyDir, downwardAPI, hostPath), environment, and entering a root of its
own in a mount namespace of its own, as the user that the pod asks for. Leaves when it starts and ends to launch.py.
A field it does not know is an error: nothing is left out in silence.
"""
import base64
import ctypes
import os
import re
import shutil


MS_RDONLY, MS_NOSUID, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 1, 2, 32, 4096, 16384, 1 << 18
CLONE_NEWNS = 0x00020000
PR_SET_NO_NEW_PRIVS = 38
_libc = ctypes.CDLL(None, use_errno=True)


class NotSupported(Exception):
    pass


def field(pod, path):
    """A downward API field. metadata.labels['x'] and plain paths."""
    match = re.fullmatch(r"metadata\.(labels|annotations)\['([^']+)'\]", path)
    if match:
        return pod["metadata"].get(match[1], {}).get(match[2], "")
    value = pod
    for word in path.split("."):
        value = value.get(word) if isinstance(value, dict) else None
    if not isinstance(value, str):
        raise NotSupported(f"fieldPath {path}: not in the pod {pod['metadata']['name']}")
    return value


def expand(text, env):
    """$(NAME) as Kubernetes replaces it: unknown names stay, $$ is one dollar sign."""
    def one(match):
        if match[0] == "$$":
            return "$"
        return env.get(match[1], match[0])
    return re.sub(r"\$\$|\$\(([A-Za-z_.][A-Za-z0-9_.-]*)\)", one, text)


def environment(api, pod, container):
    """PATH and HOSTNAME as a runtime sets them, the API server's address, then the container's own."""
    name = pod["spec"]["nodeName"] if pod["spec"].get("hostNetwork") else pod["metadata"]["name"]
    env = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOSTNAME": name, "HOME": "/",
           "KUBERNETES_SERVICE_HOST": api.host, "KUBERNETES_SERVICE_PORT": str(api.port),
           "KUBERNETES_SERVICE_PORT_HTTPS": str(api.port)}
    if container.get("envFrom"):
        raise NotSupported("envFrom")
    for entry in container.get("env", []):
        source = entry.get("valueFrom")
        if source is None:
            env[entry["name"]] = expand(entry.get("value", ""), env)
        elif "fieldRef" in source:
            env[entry["name"]] = field(pod, source["fieldRef"]["fieldPath"])
        else:
            raise NotSupported(f"env {entry['name']}: {', '.join(source)}")
    return env


def _write(folder, path, content, mode, group):
    """As the kubelet leaves a file: root's, readable by the pod's group; replaced in one step."""
    target = os.path.join(folder, path)
    parent = os.path.dirname(target)
    os.makedirs(parent, exist_ok=True)
    part = target + ".part"
    with open(part, "wb") as out:
        out.write(content)
    os.chown(part, 0, group or 0)
    os.chmod(part, mode | (0o040 if group else 0))
    os.rename(part, target)


def _object(api, namespace, plural, name):
    return api.get(f"/api/v1/namespaces/{namespace}/{plural}/{name}")


def _items(listed, content, owner):
    """(path, content) of each key, or of those that `items` picks."""
    if listed is None:
        return list(content.items())
    missing = [item["key"] for item in listed if item["key"] not in content]
    if missing:
        raise NotSupported(f"{owner} has no key {', '.join(missing)}")
    return [(item["path"], content[item["key"]]) for item in listed]


def _config_files(api, namespace, source):
    found = _object(api, namespace, "configmaps", source["name"])
    content = {key: text.encode() for key, text in found.get("data", {}).items()}
    content.update({key: base64.b64decode(text) for key, text in found.get("binaryData", {}).items()})
    return _items(source.get("items"), content, f"ConfigMap {source['name']}")


def _secret_files(api, namespace, source):
    name = source.get("secretName") or source["name"]
    content = {key: base64.b64decode(text) for key, text in _object(api, namespace, "secrets", name)["data"].items()}
    return _items(source.get("items"), content, f"Secret {name}")


def token_sources(pod):
    """(volume name, file, expirationSeconds, audience) of every projected token."""
    for volume in pod["spec"].get("volumes", []):
        for source in volume.get("projected", {}).get("sources", []):
            token = source.get("serviceAccountToken")
            if token:
                yield volume["name"], token["path"], token.get("expirationSeconds", 3600), token.get("audience")


def write_token(api, pod, folder, path, seconds, audience):
    group = pod["spec"].get("securityContext", {}).get("fsGroup")
    token = api.bound_token(pod, seconds, audience)
    _write(folder, path, token.encode(), 0o640 if group else 0o600, group)


def write_volumes(api, pod, folder, host_path):
    """Makes every volume; gives name → path on this machine. host_path says what a path of the host is here."""
    namespace = pod["metadata"]["namespace"]
    group = pod["spec"].get("securityContext", {}).get("fsGroup")
    paths = {}
    for volume in pod["spec"].get("volumes", []):
        name = volume["name"]
        kind = next(key for key in volume if key != "name")
        source = volume[kind]
        paths[name] = os.path.join(folder, name)
        if kind == "hostPath":
            paths[name] = host_path(source["path"])
            wanted = {"Directory": os.path.isdir, "File": os.path.isfile}.get(source.get("type", ""), os.path.exists)
            if not wanted(paths[name]):
                raise NotSupported(f"hostPath {source['path']}: {paths[name]} is no {source.get('type') or 'file'}")
            continue
        os.makedirs(paths[name])
        mode = source.get("defaultMode", 0o644)
        files = []
        if kind == "configMap":
            files = _config_files(api, namespace, source)
        elif kind == "secret":
            files = _secret_files(api, namespace, source)
        elif kind == "projected":
            for part in source["sources"]:
                (what, inner), = part.items()
                if what == "configMap":
                    files += _config_files(api, namespace, inner)
                elif what == "secret":
                    files += _secret_files(api, namespace, inner)
                elif what == "downwardAPI":
                    files += [(item["path"], field(pod, item["fieldRef"]["fieldPath"]).encode()) for item in inner["items"]]
                elif what != "serviceAccountToken":
                    raise NotSupported(f"projected volume {name}: {what}")
        elif kind == "downwardAPI":
            files = [(item["path"], field(pod, item["fieldRef"]["fieldPath"]).encode()) for item in source["items"]]
        elif kind == "emptyDir":
            os.chown(paths[name], 0, group or 0)
            os.chmod(paths[name], 0o2777)
        else:
            raise NotSupported(f"volume {name}: {kind}")
        for path, content in files:
            _write(paths[name], path, content, mode, group)
    for name, path, seconds, audience in token_sources(pod):
        write_token(api, pod, paths[name], path, seconds, audience)
    return paths


def _mount(source, target, kind, flags, options=None):
    words = [None if word is None else os.fsencode(word) for word in (source, target, kind)]
    if _libc.mount(*words, ctypes.c_ulong(flags), None if options is None else options.encode()) != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"mount {source} on {target}: {os.strerror(code)}")


def _bind(source, target, read_only):
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        open(target, "a").close()
    _mount(source, target, None, MS_BIND | MS_REC)
    if read_only:
        _mount(None, target, None, MS_BIND | MS_REMOUNT | MS_RDONLY)


def _lay_image(root, programs, tools):
    """What an image of ours holds: the programs, the shared objects, name service files. Nothing else of this machine."""
    for folder in ("usr/bin", "etc", "run", "var", "root"):
        os.makedirs(os.path.join(root, folder))
    os.mkdir(os.path.join(root, "tmp"))
    os.chmod(os.path.join(root, "tmp"), 0o1777)
    os.symlink("/run", os.path.join(root, "var/run"))
    for folder in ("/usr/lib", "/usr/lib32", "/usr/lib64"):
        if os.path.isdir(folder):
            _bind(folder, root + folder, True)
    for name in ("bin", "sbin", "lib", "lib32", "lib64"):
        if os.path.islink("/" + name):
            os.symlink(os.readlink("/" + name), os.path.join(root, name))
        elif name.startswith("lib") and os.path.isdir("/" + name):
            _bind("/" + name, os.path.join(root, name), True)
    for name in ("ld.so.cache", "resolv.conf", "hosts", "nsswitch.conf"):
        if os.path.exists("/etc/" + name):
            shutil.copyfile("/etc/" + name, os.path.join(root, "etc", name))
    with open(os.path.join(root, "etc/passwd"), "w") as out:
        out.write("root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/:/sbin/nologin\n")
    for name in sorted(os.listdir(programs)):
        path = os.path.join(programs, name)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            _bind(os.path.realpath(path), os.path.join(root, "usr/bin", name), True)
    for path in tools:
        if not os.path.exists(root + path):
            _bind(os.path.realpath(path), root + path, True)
    for name in ("proc", "dev"):
        _bind("/" + name, os.path.join(root, name), False)
    _bind("/sys", os.path.join(root, "sys"), True)


def enter(root, pod, container, volumes, programs, tools=()):
    """In a child process: leaves this machine's root for the container's, and root's rights for its user's."""
    if _libc.unshare(CLONE_NEWNS) != 0:
        raise OSError(ctypes.get_errno(), "unshare: a mount namespace needs root")
    _mount("none", "/", None, MS_REC | MS_PRIVATE)
    _mount("tmpfs", root, "tmpfs", MS_NOSUID, "mode=0755")
    _lay_image(root, programs, tools)
    # Outer paths first, so that a mount below another one is not hidden by it.
    for mount in sorted(container.get("volumeMounts", []), key=lambda one: one["mountPath"]):
        if mount.get("subPath") or mount.get("subPathExpr"):
            raise NotSupported(f"subPath of {mount['mountPath']}")
        inside = mount["mountPath"].replace("/var/run/", "/run/", 1) if mount["mountPath"].startswith("/var/run/") else mount["mountPath"]
        _bind(volumes[mount["name"]], root + inside, mount.get("readOnly", False))
    outer, inner = pod["spec"].get("securityContext", {}), container.get("securityContext", {})
    if inner.get("readOnlyRootFilesystem"):
        _mount(None, root, None, MS_BIND | MS_REMOUNT | MS_RDONLY)
    if inner.get("capabilities", {}).get("add") or inner.get("privileged"):
        raise NotSupported("added capabilities and privileged containers")
    os.chroot(root)
    os.chdir(container.get("workingDir") or "/")
    user = inner.get("runAsUser", outer.get("runAsUser"))
    group = inner.get("runAsGroup", outer.get("runAsGroup", 0))
    if user is None and (inner.get("runAsNonRoot") or outer.get("runAsNonRoot")):
        raise NotSupported("runAsNonRoot without runAsUser: the image would have to say which user")
    os.setgroups([outer["fsGroup"]] if "fsGroup" in outer else [])
    os.setgid(group)
    if user:
        os.setuid(user)
    if inner.get("allowPrivilegeEscalation") is False and _libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_NO_NEW_PRIVS)")
