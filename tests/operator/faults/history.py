"""Everything that happened to pods and jobs, from two watches, and what must hold at every moment of it.

Owns the record and its rules: no node ever promised or bound beyond its GPUs, no pod made with a node name, no two
attempts at once, a rank's node fixed within its attempt, counters that never go back. Leaves the stories to the tests.
"""
import http.client
import json
import ssl
import threading
import time

GPU = "nvidia.com/gpu"


class Broken(AssertionError):
    pass


class Watch(threading.Thread):
    """Follows one kind in all namespaces from a list on; survives a restarted API server."""

    def __init__(self, cluster, path, events):
        super().__init__(daemon=True)
        self.cluster, self.path, self.events, self.over = cluster, path, events, False
        listed = cluster.get(path)
        self.version = listed["metadata"]["resourceVersion"]
        for item in listed["items"]:
            events.append((int(item["metadata"]["resourceVersion"]), "LISTED", path, item))
        self.start()

    def run(self):
        while not self.over:
            try:
                self.follow()
            except (OSError, http.client.HTTPException, ssl.SSLError, ValueError):
                pass
            time.sleep(0.2)

    def follow(self):
        connection = http.client.HTTPSConnection(self.cluster.host, self.cluster.port, context=self.cluster.tls, timeout=30)
        try:
            connection.request("GET", f"{self.path}?watch=1&allowWatchBookmarks=true&resourceVersion={self.version}")
            answer = connection.getresponse()
            if answer.status != 200:
                answer.read()
                return
            while not self.over:
                line = answer.readline()
                if not line:
                    return
                event = json.loads(line)
                if event["type"] == "ERROR":
                    self.events.append((int(self.version), "GAP", self.path, event["object"]))
                    self.version = self.cluster.get(self.path)["metadata"]["resourceVersion"]
                    return
                self.version = event["object"]["metadata"]["resourceVersion"]
                if event["type"] != "BOOKMARK":
                    self.events.append((int(self.version), event["type"], self.path, event["object"]))
        finally:
            connection.close()


def gpus_of(pod):
    return sum(int(c.get("resources", {}).get("requests", {}).get(GPU, 0)) for c in pod["spec"]["containers"])


def target(pod):
    """The node the pod is on or pinned to."""
    if pod["spec"].get("nodeName"):
        return pod["spec"]["nodeName"]
    affinity = pod["spec"].get("affinity", {}).get("nodeAffinity", {}).get("requiredDuringSchedulingIgnoredDuringExecution", {})
    for term in affinity.get("nodeSelectorTerms", []):
        for field in term.get("matchFields", []):
            if field["key"] == "metadata.name":
                return field["values"][0]
    return None


class History:
    def __init__(self, cluster):
        self.events = []
        self.watches = [Watch(cluster, path, self.events) for path in ("/api/v1/pods", "/apis/verl.run/v1alpha1/verljobs")]

    def stop(self):
        for watch in self.watches:
            watch.over = True

    def made(self, name_prefix):
        """Names of pods that were ever made, in order."""
        return [item["metadata"]["name"] for _, kind, path, item in list(self.events)
                if kind == "ADDED" and path == "/api/v1/pods" and item["metadata"]["name"].startswith(name_prefix)]

    def check(self, gpus=8, placements=True):
        """Replays all in the order of the API server's own revisions. `placements`: promises count too, not only pods."""
        replay = Replay(gpus, placements)
        for event in sorted(list(self.events), key=lambda one: one[0]):
            replay.take(*event)
        return replay


class Replay:
    def __init__(self, gpus, placements):
        self.gpus, self.placements = gpus, placements
        self.pods, self.jobs, self.fixed = {}, {}, {}
        self.steps = self.most = 0

    def take(self, version, kind, path, item):
        self.steps += 1
        meta = item.get("metadata", {})
        if kind == "GAP":
            return
        key = (meta.get("namespace"), meta["name"])
        if path == "/api/v1/pods":
            self.pod(kind, key, item)
        else:
            self.job(kind, key, item)
        self.sum(version, kind, path, key)

    def pod(self, kind, key, pod):
        if kind == "DELETED":
            self.pods.pop(key, None)
            return
        labels = pod["metadata"].get("labels", {})
        if kind == "ADDED" and "verl.run/job-name" in labels:
            if pod["spec"].get("nodeName"):
                raise Broken(f"pod {key} was made with spec.nodeName")
            attempt = labels["verl.run/attempt"]
            for other, there in self.pods.items():
                more = there["metadata"].get("labels", {})
                same = [o["uid"] for o in there["metadata"].get("ownerReferences", [])] == [o["uid"] for o in pod["metadata"].get("ownerReferences", [])]
                if same and more.get("verl.run/job-name") == labels["verl.run/job-name"] and more.get("verl.run/attempt") != attempt:
                    raise Broken(f"pod {key} was made while {other} of another attempt was there")
        self.pods[key] = pod

    def job(self, kind, key, job):
        if kind == "DELETED":
            self.jobs.pop(key, None)
            return
        uid, status = job["metadata"]["uid"], job.get("status", {})
        before = self.jobs.get(key)
        if before and before["metadata"]["uid"] == uid:
            was = before.get("status", {})
            for path in (("observedGeneration",), ("attempts", "started"), ("attempts", "infrastructureRestarts"), ("attempts", "userRestarts")):
                old, new = was, status
                for word in path:
                    old, new = (old or {}).get(word), (new or {}).get(word)
                if (new or 0) < (old or 0):
                    raise Broken(f"job {key}: {'.'.join(path)} went from {old} to {new}")
            if was.get("finishedAt") and was.get("finishedAt") != status.get("finishedAt"):
                raise Broken(f"job {key}: the end was written twice")
            earlier = {c["type"]: c for c in was.get("conditions", [])}
            for condition in status.get("conditions", []):
                old = earlier.get(condition["type"])
                if old and old["status"] == condition["status"] and old["lastTransitionTime"] != condition["lastTransitionTime"]:
                    raise Broken(f"job {key}: {condition['type']} moved in time without a change of its status")
        placement = status.get("placement")
        if placement:
            nodes = [(r["rank"], r["node"], r["nodeUID"], r["bootID"]) for r in placement["ranks"]]
            known = self.fixed.setdefault((uid, placement["attempt"]), nodes)
            # A withdrawn placement had no pods: the next one has another number.
            if known != nodes:
                raise Broken(f"job {key}: attempt {placement['attempt']} moved from {known} to {nodes}")
        self.jobs[key] = job

    def sum(self, version, kind, path, key):
        use = {}
        held = set()
        for pod_key, pod in self.pods.items():
            labels = pod["metadata"].get("labels", {})
            for owner in pod["metadata"].get("ownerReferences", []):
                held.add((owner["uid"], labels.get("verl.run/attempt"), labels.get("verl.run/rank")))
            if pod.get("status", {}).get("phase") in ("Succeeded", "Failed") or not gpus_of(pod):
                continue
            node = target(pod)
            if node:
                use.setdefault(node, []).append((gpus_of(pod), f"pod {pod_key[1]}"))
        if self.placements:
            for job_key, job in self.jobs.items():
                status = job.get("status", {})
                placement = status.get("placement")
                if not placement or status.get("finishedAt") or job["metadata"].get("deletionTimestamp"):
                    continue
                pools = {pool["name"]: pool["gpusPerNode"] for pool in job["spec"]["pools"]}
                for rank in placement["ranks"]:
                    if (job["metadata"]["uid"], str(placement["attempt"]), str(rank["rank"])) not in held:
                        use.setdefault(rank["node"], []).append((pools[rank["pool"]], f"promise to {job_key[1]}"))
        for node, users in use.items():
            total = sum(count for count, _ in users)
            self.most = max(self.most, total)
            if total > self.gpus:
                raise Broken(f"node {node} has {self.gpus} GPUs, {total} are given at revision {version} ({kind} {path} {key[1]}): "
                             + ", ".join(f"{count} to {who}" for count, who in users))
