"""A TLS proxy between one program and the API server that counts what the program writes and puts faults in its way.

Owns passing requests on, numbering the writes, and the faults: kill before a write, after it, or after it with the answer
lost; hold a request; answer in the server's place; cut watches. Leaves which write meets which fault to the tests.
"""
import json
import os
import re
import signal
import socket
import ssl
import threading
import time
import urllib.parse

WRITES = ("POST", "PUT", "PATCH", "DELETE")


class Request:
    """One request of the program, as far as tests ask about it."""

    def __init__(self, method, target, body):
        self.method = method
        url = urllib.parse.urlsplit(target)
        self.path, self.query = url.path, urllib.parse.parse_qs(url.query)
        words = url.path.strip("/").split("/")
        words = words[3:] if words[0] == "apis" else words[2:]
        self.namespace = ""
        if len(words) > 2 and words[0] == "namespaces":
            self.namespace, words = words[1], words[2:]
        self.resource, self.name, self.sub = (words + ["", "", ""])[:3]
        self.text = body
        self.number = 0      # among the writes, from 1
        self.code = None     # what the API server answered; None while it has not

    @property
    def body(self):
        try:
            return json.loads(self.text)
        except ValueError:
            return {}

    @property
    def dry(self):
        return "dryRun" in self.query

    @property
    def is_write(self):
        return self.method in WRITES and not self.dry

    @property
    def is_watch(self):
        return self.query.get("watch", [""])[0] in ("1", "true")

    @property
    def step(self):
        """(verb, kind, step): what two runs of one story have in common."""
        kind = self.resource + (f"/{self.sub}" if self.sub else "")
        body = self.body
        name = self.name or body.get("metadata", {}).get("name", "")
        what = ""
        if kind == "verljobs/status":
            status = body.get("status", {})
            what = f"{name.split('-')[0]} {status.get('phase')}/{status.get('reason')}"
        elif self.resource == "pods":
            what = f"{name.split('-')[0]} {'head' if name.endswith('-0') else 'worker'}"
        elif self.resource == "leases":
            what = "leader" if name == "verl-operator" else "heartbeat"
        return (self.method, kind, what)

    def __str__(self):
        return f"{self.method} {self.path} ({self.step[2]})"


class Fault:
    """What a rule answers. kill-before, kill-lost (done, its answer lost), kill-after; lose-answer; refuse; cut: not passed on."""

    def __init__(self, kind, pid=None, answer=None):
        self.kind, self.pid, self.answer = kind, pid, answer


def refusal(code, reason, message, **headers):
    """An answer in the API server's place."""
    body = json.dumps({"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "reason": reason, "code": code}).encode()
    lines = [f"HTTP/1.1 {code} {reason}", "Content-Type: application/json", f"Content-Length: {len(body)}",
             "Date: " + time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime())]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def kill(pid):
    """SIGKILL, and back only when the process is gone."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    until = time.monotonic() + 10
    while time.monotonic() < until:
        try:
            with open(f"/proc/{pid}/stat") as stat:
                if stat.read().rpartition(")")[2].split()[0] == "Z":
                    return
        except OSError:
            return
        time.sleep(0.005)


class Closed(Exception):
    pass


class Stream:
    def __init__(self, sock):
        self.sock, self.rest = sock, b""

    def fill(self):
        data = self.sock.recv(65536)
        if not data:
            raise Closed()
        self.rest += data

    def until(self, mark):
        while mark not in self.rest:
            if len(self.rest) > 1 << 20:
                raise Closed()
            self.fill()
        head, _, self.rest = self.rest.partition(mark)
        return head + mark

    def exactly(self, size):
        while len(self.rest) < size:
            self.fill()
        data, self.rest = self.rest[:size], self.rest[size:]
        return data


def header(head, name):
    found = re.search(rb"\r\n" + name + rb":[ \t]*([^\r]*)\r\n", head, re.IGNORECASE)
    return found[1].decode() if found else ""


class Proxy:
    """`rule(request)` is asked on the connection's own thread before a request is passed on; it may wait there."""

    def __init__(self, plane, rule=None):
        self.rule = rule or (lambda request: None)
        self.seen = lambda request: None  # told after the answer to a request is known
        self.lock = threading.Lock()
        self.requests = []  # all that are no watches, in the order of arrival
        self.writes = 0
        self.watches = set()
        with open(os.path.join(plane, "run/server")) as file:
            url = urllib.parse.urlsplit(file.read().strip())
        self.upstream = (url.hostname, url.port)
        pki = os.path.join(plane, "pki")
        self.server_tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.server_tls.load_cert_chain(f"{pki}/serving.crt", f"{pki}/serving.key")
        self.client_tls = ssl.create_default_context(cafile=f"{pki}/ca.crt")
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self.listener.close()

    def cut_watches(self):
        with self.lock:
            victims, self.watches = self.watches, set()
        for sock in victims:
            _shut(sock)
        return len(victims)

    def _accept(self):
        while True:
            try:
                plain, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(plain,), daemon=True).start()

    def _serve(self, plain):
        client = server = None
        try:
            plain.settimeout(None)
            client = Stream(self.server_tls.wrap_socket(plain, server_side=True))
            while True:
                head = client.until(b"\r\n\r\n")
                body = client.exactly(int(header(head, b"content-length") or 0))
                method, target, _ = head.split(b"\r\n", 1)[0].decode().split(" ", 2)
                request = Request(method, target, body)
                with self.lock:
                    if request.is_write:
                        self.writes += 1
                        request.number = self.writes
                    if not request.is_watch:
                        self.requests.append(request)
                fault = self.rule(request)
                if fault and fault.kind == "kill-before":
                    kill(fault.pid)
                    return
                if fault and fault.kind == "refuse":
                    client.sock.sendall(fault.answer)
                    continue
                if fault and fault.kind == "cut":
                    return
                if server is None:
                    server = Stream(self.client_tls.wrap_socket(socket.create_connection(self.upstream, 10), server_hostname=self.upstream[0]))
                    server.sock.settimeout(None)
                server.sock.sendall(head + body)
                answer = server.until(b"\r\n\r\n")
                request.code = int(answer.split(b" ", 2)[1])
                if fault and fault.kind == "kill-lost":
                    self._drain(answer, server)
                    self.seen(request)
                    kill(fault.pid)
                    return
                if fault and fault.kind == "lose-answer":
                    self._drain(answer, server)
                    self.seen(request)
                    return
                if request.is_watch:
                    with self.lock:
                        self.watches.add(client.sock)
                self._relay(answer, server, client.sock)
                self.seen(request)
                if fault and fault.kind == "kill-after":
                    kill(fault.pid)
                    return
        except (OSError, Closed, ValueError, IndexError):
            pass
        finally:
            for sock in (plain, client and client.sock, server and server.sock):
                if sock:
                    _shut(sock)
            if client:
                with self.lock:
                    self.watches.discard(client.sock)

    @staticmethod
    def _pieces(answer, server):
        """The body as it comes, with its framing."""
        if header(answer, b"transfer-encoding").lower() == "chunked":
            while True:
                line = server.until(b"\r\n")
                size = int(line.split(b";")[0], 16)
                yield line + server.exactly(size + 2)
                if size == 0:
                    return
        else:
            left = int(header(answer, b"content-length") or 0)
            while left:
                piece = server.exactly(min(left, 65536))
                left -= len(piece)
                yield piece

    def _relay(self, answer, server, client):
        client.sendall(answer)
        for piece in self._pieces(answer, server):
            client.sendall(piece)

    def _drain(self, answer, server):
        for _ in self._pieces(answer, server):
            pass


def _shut(sock):
    try:
        sock.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    try:
        sock.close()
    except OSError:
        pass
