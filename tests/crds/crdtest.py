"""Cases against the real apiserver: an object is built from a base and a few changes, sent as a dry run, and what the
server says is compared word for word. Owns the HTTPS client, the small language of cases, and running one case.
Leaves which cases exist to cases/*.json, and which schema is installed to check and mutate.

A case: {"name", "base", "set": {path: value}, "remove": [path], "errors": ["field: message", ...]}
  path    spec.pools[0].nodes; a key with dots in brackets: spec.nccl.env[NCCL_DEBUG]
  value   plain JSON, or {"$repeat": "a", "times": 9}, {"$items": 9, "of": "x{i}"}, {"$entries": 9, "key": "k{i}", "of": "v"}
  verb    create (default), update (of the object that was stored as the base says), status (a write of the status)
  errors  all that the server finds, in any order; none: the object is accepted
  expect  {path: value}: what the accepted object holds; null: the field is absent
"""
import base64
import copy
import glob
import http.client
import json
import os
import re
import ssl
import subprocess
import tempfile
import threading
import time
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
REPO = os.path.dirname(os.path.dirname(HERE))
# Beside a finding that makes rules unsafe to run, the server says that it did not run them.
NOT_CHECKED = "some validation rules were not checked because the object was invalid"


class Client:
    """The apiserver of $KUBECONFIG; one connection a thread."""

    def __init__(self):
        view = json.loads(subprocess.run(["kubectl", "config", "view", "--raw", "--flatten", "--minify", "-o", "json"],
                                         check=True, capture_output=True, timeout=20).stdout)
        cluster, user = view["clusters"][0]["cluster"], view["users"][0]["user"]
        self.address = urllib.parse.urlparse(cluster["server"])
        self.context = ssl.create_default_context(cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
        with tempfile.TemporaryDirectory() as folder:
            pair = os.path.join(folder, "pair.pem")
            with open(pair, "wb") as out:
                out.write(base64.b64decode(user["client-certificate-data"]) + base64.b64decode(user["client-key-data"]))
            self.context.load_cert_chain(pair)
        self.local = threading.local()

    def call(self, method, path, body=None, content_type="application/json"):
        """(status code, parsed body). While the server replaces the storage of a CRD that has just changed it answers 503."""
        deadline = time.monotonic() + 20
        while True:
            code, content = self.once(method, path, body, content_type)
            if code != 503 or time.monotonic() > deadline:
                return code, content
            time.sleep(0.2)

    def once(self, method, path, body, content_type):
        text = None if body is None else json.dumps(body)
        for attempt in (0, 1):
            connection = getattr(self.local, "connection", None)
            if connection is None:
                connection = self.local.connection = http.client.HTTPSConnection(
                    self.address.hostname, self.address.port, context=self.context, timeout=60)
            try:
                connection.request(method, path, text, {"Content-Type": content_type, "Accept": "application/json"})
                reply = connection.getresponse()
                content = reply.read()
                try:
                    return reply.status, json.loads(content)
                except ValueError:
                    return reply.status, {"message": content.decode(errors="replace")}
            except (http.client.HTTPException, OSError):
                connection.close()
                self.local.connection = None
                if attempt:
                    raise


def steps(path):
    return [int(part[1:-1]) if re.fullmatch(r"\[\d+\]", part) else part.strip("[]").lstrip(".")
            for part in re.findall(r"\[[^\]]*\]|[^.\[]+", path)]


def grown(value, index=0):
    """The value with its macros written out."""
    if isinstance(value, list):
        return [grown(item, index) for item in value]
    if isinstance(value, str):
        return value.replace("{i}", str(index))
    if not isinstance(value, dict):
        return value
    if "$repeat" in value:
        return value["$repeat"] * value["times"]
    if "$items" in value:
        return [grown(value["of"], i) for i in range(value["$items"])]
    if "$entries" in value:
        return {value["key"].replace("{i}", str(i)): grown(value["of"], i) for i in range(value["$entries"])}
    return {key: grown(item, index) for key, item in value.items()}


def put(target, path, value):
    *way, last = steps(path)
    for step, following in zip(way, way[1:] + [last]):
        if isinstance(step, int):
            while len(target) <= step:
                target.append([] if isinstance(following, int) else {})
            target = target[step]
        else:
            target = target.setdefault(step, [] if isinstance(following, int) else {})
    if isinstance(last, int) and len(target) <= last:
        target.append(value)
    else:
        target[last] = value


def drop(target, path):
    *way, last = steps(path)
    for step in way:
        target = target[step]
    del target[last]


def at(value, path):
    for step in steps(path):
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def changed(base, case):
    out = copy.deepcopy(base)
    for path in case.get("remove", []):
        drop(out, path)
    for path, value in case.get("set", {}).items():
        put(out, path, grown(value))
    return out


class Suite:
    """The cases of one kind: cases/<plural>.json."""

    def __init__(self, file):
        with open(file, encoding="utf-8") as text:
            content = json.load(text)
        self.kind, self.plural, self.namespaced = content["kind"], content["plural"], content["namespaced"]
        self.bases, self.cases = content["bases"], content["cases"]
        names = [case["name"] for case in self.cases]
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise SystemExit(f"{file}: two cases are named {sorted(twice)}")


def suites():
    return [Suite(file) for file in sorted(glob.glob(os.path.join(HERE, "cases", "*.json")))]


class Target:
    """Where a suite is tried: the group its kind is installed in. Objects that updates start from are made when needed."""

    def __init__(self, client, suite, group="verl.run"):
        self.client, self.suite, self.group = client, suite, group
        self.stored, self.lock = {}, threading.Lock()
        where = "namespaces/default/" if suite.namespaced else ""
        self.path = f"/apis/{group}/v1alpha1/{where}{suite.plural}"

    def of_group(self, obj):
        return {**copy.deepcopy(obj), "apiVersion": f"{self.group}/v1alpha1", "kind": self.suite.kind}

    def store(self, base):
        """The stored object of that base: made for real, its status written too."""
        with self.lock:
            if base not in self.stored:
                wanted = self.of_group(self.suite.bases[base])
                wanted["metadata"]["name"] = base
                self.client.call("DELETE", f"{self.path}/{base}")
                code, made = self.client.call("POST", f"{self.path}?fieldValidation=Strict", wanted)
                if code == 201 and "status" in wanted:
                    made["status"] = wanted["status"]
                    code, made = self.client.call("PUT", f"{self.path}/{base}/status?fieldValidation=Strict", made)
                if code not in (200, 201):
                    raise SystemExit(f"{self.suite.kind}: base {base} was refused: {made.get('message')}")
                self.stored[base] = made
            return self.stored[base]

    def errors(self, case):
        """What the server says to the case, sorted, and the object it would store."""
        verb, base = case.get("verb", "create"), case.get("base", "minimal")
        query = "dryRun=All&fieldValidation=Strict"
        if verb == "create":
            fresh = self.of_group(self.suite.bases[base])
            fresh["metadata"]["name"] = "new"  # the bases may be stored under their own names
            code, reply = self.client.call("POST", f"{self.path}?{query}", changed(fresh, case))
        else:
            sub = "/status" if verb == "status" else ""
            code, reply = self.client.call("PUT", f"{self.path}/{base}{sub}?{query}", changed(self.store(base), case))
        if code in (200, 201):
            return [], reply
        if code == 400:  # strict decoding
            found = re.search(r"strict decoding error: (.*)$", reply.get("message", ""), re.DOTALL)
            return sorted(found.group(1).split(", ")) if found else [reply.get("message")], None
        causes = (reply.get("details") or {}).get("causes") or []
        if code != 422 or not causes:
            return [f"{code}: {reply.get('message')}"], None
        return sorted({f"{cause.get('field')}: {cause.get('message')}" for cause in causes
                       if NOT_CHECKED not in cause.get("message", "")}), None

    def failure(self, case):
        """None, or in words how the case differs from what it says."""
        errors, stored = self.errors(case)
        wanted = sorted(case["errors"])
        if errors != wanted:
            return "\n".join(["the server says:"] + [f"    {line}" for line in errors or ["(accepted)"]] +
                             ["the case says:"] + [f"    {line}" for line in wanted or ["(accepted)"]])
        for path, value in case.get("expect", {}).items():
            if stored is not None and at(stored, path) != grown(value):
                return f"{path} is {json.dumps(at(stored, path))}, not {json.dumps(grown(value))}"
        return None
