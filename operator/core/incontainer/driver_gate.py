"""Entry of container "driver" in the head pod: lets the trainer start only on a whole, locked Ray cluster.

Decides: Ray answers 401 without the token; exactly the expected nodes are alive, with their addresses, GPUs and CPUs.
Then becomes the trainer by exec, so the container's exit code is the trainer's. Every other end leaves a reserved exit
code and a termination message. Leaves to others: what an exit means for the job (the operator).
Standard library only; the image's own Python runs it. Kubernetes expands "dollar dollar" and "dollar (NAME)": use neither.
Contract: docs/decisions/003-pod-commands.md.
"""
import collections
import json
import os
import signal
import sys
import time
import urllib.error
import urllib.request

UNAUTHENTICATED, NODES_MISSING, RAY_UNREACHABLE, MISCONFIGURED = 200, 201, 202, 203
TOKEN_REJECTED, TRAINER_NOT_EXECUTABLE, INTERRUPTED = 204, 205, 206

MESSAGE_LIMIT = 3500  # the kubelet keeps 4096 bytes of a termination message
BODY_LIMIT = 64 << 20
NAMED_NODES = 8
POLL_SECONDS, SPEAK_SECONDS = 1.0, 30.0

Node = collections.namedtuple("Node", "rank name address gpus cpus")
Answer = collections.namedtuple("Answer", "status body error")


class Ended(BaseException):  # not an Exception: raised by a signal too, no handler of failures may swallow it
    def __init__(self, code, reason, message, **fields):
        super().__init__(message)
        self.code, self.document = code, {"verl.run/gate": reason, "message": message, **fields}


# ---- deciding: values to values ----

def parse_expected(texts):
    rows = [row for text in texts for row in json.loads(text)]
    nodes = [Node(int(n["rank"]), str(n["node"]), str(n["address"]), int(n["gpus"]), int(n["cpus"])) for n in rows]
    if not nodes or len({n.address for n in nodes}) != len(nodes):
        raise ValueError("needs at least one node, and every address once")
    return nodes


def alive_nodes(document):
    """Rows of GET /api/v0/nodes that are ALIVE, or None where the document does not have that shape or is cut short."""
    try:
        listing = document["data"]["result"]
        rows = listing["result"]
        if document["result"] is not True or listing.get("partial_failure_warning") or len(rows) < listing["total"]:
            return None
        return [{"address": str(r["node_ip"]), "gpus": float((r["resources_total"] or {}).get("GPU", 0)),
                 "cpus": float((r["resources_total"] or {}).get("CPU", 0))} for r in rows if r["state"] == "ALIVE"]
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def compare(expected, alive):
    """What keeps the cluster from being the expected one: (missing, wrong, unexpected), lists of dicts for people."""
    by_address = collections.defaultdict(list)
    for row in alive:
        by_address[row["address"]].append(row)
    missing, wrong = [], []
    for node in expected:
        rows = by_address.pop(node.address, [])
        who = {"rank": node.rank, "node": node.name, "address": node.address}
        if not rows:
            missing.append(who)
        elif len(rows) > 1:
            wrong.append({**who, "why": "%d live Ray nodes share the address" % len(rows)})
        elif rows[0]["gpus"] != node.gpus:
            wrong.append({**who, "why": "%g GPUs, wants %d" % (rows[0]["gpus"], node.gpus)})
        elif rows[0]["cpus"] < node.cpus:
            wrong.append({**who, "why": "%g CPUs, wants at least %d" % (rows[0]["cpus"], node.cpus)})
    return missing, wrong, [{"address": address} for address in sorted(by_address)]


def describe(missing, wrong, unexpected):
    def some(rows, text):
        more = ", and %d more" % (len(rows) - NAMED_NODES) if len(rows) > NAMED_NODES else ""
        return ", ".join(text(r) for r in rows[:NAMED_NODES]) + more
    parts = []
    if missing:
        parts.append("not in Ray: " + some(missing, lambda r: "rank {rank} {node} ({address})".format(**r)))
    if wrong:
        parts.append("differs: " + some(wrong, lambda r: "rank {rank} {node} ({address}) {why}".format(**r)))
    if unexpected:
        parts.append("not of this job: " + some(unexpected, lambda r: r["address"]))
    return "; ".join(parts)


# ---- looking and doing ----

class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


# The job's http_proxy settings must not come between the gate and the head.
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}), NoRedirect)


def ask(url, token=None):
    request = urllib.request.Request(url, headers={"Authorization": "Bearer " + token} if token else {})
    try:
        with OPENER.open(request, timeout=10) as response:
            body = response.read(BODY_LIMIT + 1)
            return Answer(response.status, body, "") if len(body) <= BODY_LIMIT else Answer(0, b"", "answer too large")
    except urllib.error.HTTPError as error:
        return Answer(error.code, b"", "HTTP %d" % error.code)
    except (OSError, ValueError, urllib.error.URLError) as error:
        return Answer(0, b"", str(getattr(error, "reason", error)))
    except Exception as error:  # http.client raises its own family; a broken answer is an answer not had
        return Answer(0, b"", repr(error))


def say(text):
    print("driver_gate: " + text, flush=True)


def write_message(document):
    for key in ("missing", "wrong", "unexpected"):
        if key in document:
            document[key + "Count"] = len(document[key])
            document[key] = document[key][:NAMED_NODES]
    document["message"] = document["message"][:1500]
    text = json.dumps(document)
    if len(text) > MESSAGE_LIMIT:
        text = json.dumps({"verl.run/gate": document["verl.run/gate"], "message": document["message"]})
    try:
        with open(os.environ.get("VERL_RUN_TERMINATION_LOG", "/dev/termination-log"), "w") as log:
            log.write(text + "\n")
    except OSError as error:
        say("cannot write the termination message: %s" % error)


def setting(name):
    value = os.environ.get(name, "")
    if not value:
        raise Ended(MISCONFIGURED, "GateMisconfigured", name + " is empty; the operator sets it in the driver container")
    return value


def expected_texts():
    """The lists of nodes: VERL_RUN_EXPECTED_NODES, then _2, _3 and so on as long as there are any."""
    texts = [setting("VERL_RUN_EXPECTED_NODES")]
    while os.environ.get("VERL_RUN_EXPECTED_NODES_%d" % (len(texts) + 1)):
        texts.append(os.environ["VERL_RUN_EXPECTED_NODES_%d" % (len(texts) + 1)])
    return texts


class Gate:
    def __init__(self):
        self.url = "http://%s:%d" % (setting("VERL_RUN_HEAD_ADDRESS"), int(setting("VERL_RUN_PORT_BASE")) + 1)
        self.expected = parse_expected(expected_texts())
        self.trainer = json.loads(setting("VERL_RUN_TRAINER"))
        if not isinstance(self.trainer, list) or not self.trainer or not all(isinstance(a, str) for a in self.trainer):
            raise ValueError("VERL_RUN_TRAINER is not a JSON list of strings")
        gcs = "%s:%s" % (setting("VERL_RUN_HEAD_ADDRESS"), setting("VERL_RUN_PORT_BASE"))
        if setting("RAY_ADDRESS") != gcs:  # any other value joins, or silently starts, another cluster
            raise ValueError("RAY_ADDRESS is %s, wants %s" % (os.environ["RAY_ADDRESS"], gcs))
        self.seconds = float(setting("VERL_RUN_GATE_SECONDS"))
        self.deadline = time.monotonic() + self.seconds
        auth = setting("VERL_RUN_RAY_AUTH")
        if auth not in ("token", "disabled"):
            raise ValueError("VERL_RUN_RAY_AUTH is neither token nor disabled")
        self.token = None
        if auth == "token":
            with open(setting("RAY_AUTH_TOKEN_PATH")) as file:
                self.token = file.read().strip()
            if not self.token or not self.token.isascii() or any(c.isspace() for c in self.token):
                raise ValueError("the file of RAY_AUTH_TOKEN_PATH holds no token")
        self.state = {"waiting": "the Ray dashboard at " + self.url}
        self.spoken, self.spoken_at = "", 0.0

    def pause(self, waiting, **fields):
        """Remembers what is being waited for, says it when it changed, sleeps one poll. False once the deadline passed."""
        self.state = {"waiting": waiting, **fields}
        now = time.monotonic()
        if waiting != self.spoken or now - self.spoken_at >= SPEAK_SECONDS:
            say("%s; %d s left" % (waiting, max(0, self.deadline - now)))
            self.spoken, self.spoken_at = waiting, now
        if now >= self.deadline:
            return False
        time.sleep(min(POLL_SECONDS, self.deadline - now))
        return True

    def until(self, look):
        """Calls look() until it returns None (done); a text (and fields) is what is still awaited."""
        while True:
            awaited = look()
            if awaited is None:
                return
            text, code, reason, fields = awaited
            if not self.pause(text, **fields):
                raise Ended(code, reason, "after %g s: %s" % (self.seconds, text), **fields)

    def refuses_strangers(self, path):
        def look():
            answer = ask(self.url + path)
            if answer.status == 401:
                return None
            if answer.status == 0 or answer.status >= 500:  # not serving yet; it never counts as refused
                return ("Ray does not answer %s: %s" % (self.url + path, answer.error), RAY_UNREACHABLE, "RayUnreachable", {})
            raise Ended(UNAUTHENTICATED, "RayUnauthenticated",
                        "Ray answered HTTP %d to %s without a token, wants 401: whoever reaches this port can run code on the "
                        "job's nodes. Use an image with Ray 2.52 or newer." % (answer.status, path))
        self.until(look)

    def whole(self):
        answer = ask(self.url + "/api/v0/nodes?limit=10000&detail=1", self.token)
        if answer.status in (401, 403):
            raise Ended(TOKEN_REJECTED, "RayTokenRejected", "Ray answered HTTP %d to the job's own token" % answer.status)
        alive = None
        if answer.status == 200:
            try:
                alive = alive_nodes(json.loads(answer.body))
            except ValueError:
                pass
        if alive is None:
            why = answer.error or "its list of nodes is unreadable or incomplete"
            return ("Ray does not say which nodes it has: " + why, RAY_UNREACHABLE, "RayUnreachable", {})
        missing, wrong, unexpected = compare(self.expected, alive)
        if not (missing or wrong or unexpected):
            return None
        text = "%d of %d nodes ready; %s" % (len(self.expected) - len(missing) - len(wrong), len(self.expected),
                                             describe(missing, wrong, unexpected))
        return (text, NODES_MISSING, "NodesMissing", {"missing": missing, "wrong": wrong, "unexpected": unexpected})

    def run(self):
        if self.token:
            for path in ("/api/jobs/", "/api/v0/nodes"):
                self.refuses_strangers(path)
            say("Ray refuses requests without the token")
        self.until(self.whole)
        say("all %d nodes are in Ray with their GPUs and CPUs; starting the trainer" % len(self.expected))
        # Written before exec: an exit code counts as the trainer's only beside this message.
        write_message({"verl.run/gate": "Passed", "message": "trainer started", "nodes": len(self.expected)})
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        sys.stdout.flush()
        try:
            os.execvp(self.trainer[0], self.trainer)
        except OSError as error:
            raise Ended(TRAINER_NOT_EXECUTABLE, "TrainerNotExecutable", "cannot run %r: %s" % (self.trainer[0], error))


def main():
    gate = None

    def interrupted(*_):
        state = dict(gate.state) if gate else {"waiting": "its settings"}
        raise Ended(INTERRUPTED, "Interrupted", "told to stop while waiting: " + state.pop("waiting"), **state)

    try:
        signal.signal(signal.SIGTERM, interrupted)
        try:
            gate = Gate()
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise Ended(MISCONFIGURED, "GateMisconfigured", "settings of the driver container: %r" % error)
        gate.run()
    except Ended as end:
        say("%s: %s" % (end.document["verl.run/gate"], end))
        write_message(end.document)
        sys.exit(end.code)


if __name__ == "__main__":
    main()
