"""The API server as the administrator sees it: JSON over HTTPS with the kubeconfig's client certificate.

Owns reading a kubeconfig and single requests. Leaves what is asked for to its callers. Standard library only; kubectl
merges the kubeconfig files.
"""
import http.client
import json
import os
import ssl
import subprocess
import tempfile
import urllib.parse


class ApiError(Exception):
    def __init__(self, code, message):
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


def _decoded(text):
    import base64
    return base64.b64decode(text)


class Cluster:
    """One API server and one identity: the kubeconfig's own, or the bearer of a token."""

    def __init__(self, kubeconfig=None, token=None):
        command = ["kubectl", "config", "view", "--raw", "--flatten", "--minify", "-o", "json"]
        if kubeconfig:
            command.append(f"--kubeconfig={kubeconfig}")
        config = json.loads(subprocess.run(command, check=True, capture_output=True, timeout=30).stdout)
        cluster = config["clusters"][0]["cluster"]
        user = config["users"][0]["user"]
        url = urllib.parse.urlsplit(cluster["server"])
        self.host, self.port = url.hostname, url.port or 443
        self.ca = _decoded(cluster["certificate-authority-data"]).decode()
        self.tls = ssl.create_default_context(cadata=self.ca)
        self.token = token or user.get("token")
        if not token and "client-certificate-data" in user:
            with tempfile.TemporaryDirectory() as folder:
                files = []
                for name in ("client-certificate-data", "client-key-data"):
                    files.append(os.path.join(folder, name))
                    with open(files[-1], "wb") as out:
                        out.write(_decoded(user[name]))
                self.tls.load_cert_chain(*files)

    def bearer(self, token):
        """The same server for whoever holds the token."""
        other = object.__new__(Cluster)
        other.host, other.port, other.ca, other.token = self.host, self.port, self.ca, token
        other.tls = ssl.create_default_context(cadata=self.ca)
        return other

    def request(self, method, path, body=None, content="application/json", timeout=10):
        """The decoded answer; ApiError for anything from 400 up, OSError where there is no answer."""
        headers = {"Accept": "application/json", "User-Agent": "verl-tests"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        if body is not None:
            headers["Content-Type"] = content
            body = body if isinstance(body, (str, bytes)) else json.dumps(body)
        connection = http.client.HTTPSConnection(self.host, self.port, context=self.tls, timeout=timeout)
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            text = answer.read(64 << 20)
        finally:
            connection.close()
        if answer.status >= 400:
            try:
                message = json.loads(text)["message"]
            except (ValueError, KeyError, TypeError):
                message = text[:400].decode(errors="replace")
            raise ApiError(answer.status, message)
        return json.loads(text)

    def get(self, path):
        return self.request("GET", path)

    def bound_token(self, pod, seconds=3600, audience=None):
        """What the kubelet would ask for: a token that carries the pod and its node."""
        meta = pod["metadata"]
        spec = {"expirationSeconds": seconds,
                "boundObjectRef": {"apiVersion": "v1", "kind": "Pod", "name": meta["name"], "uid": meta["uid"]}}
        if audience:
            spec["audiences"] = [audience]
        account = pod["spec"].get("serviceAccountName", "default")
        path = f"/api/v1/namespaces/{meta['namespace']}/serviceaccounts/{account}/token"
        request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
        return self.request("POST", path, request)["status"]["token"]
