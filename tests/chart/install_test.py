#!/usr/bin/env python3
"""The chart on a real control plane: install, upgrade, uninstall, rights, admission policies, and the launcher.

Runs under `scripts/control-plane run --`. The methods of a class are one story, told in the order of their names.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import chart  # noqa: E402
from cluster import ApiError, Cluster  # noqa: E402
from render_test import MATRIX  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
NS = chart.NAMESPACE
REPORTS = "/apis/verl.run/v1alpha1/nodereadinesses"
LEASES = f"/apis/coordination.k8s.io/v1/namespaces/{NS}/leases"
MERGE = "application/merge-patch+json"
APPLY = "application/apply-patch+yaml"
# No real program listens here, and two operators on one machine would share its ports.
VALUES = {"operator.replicas": 2, "operator.healthPort": 0, "operator.metricsPort": 0}

NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {
    "annotations": {"kwok.x-k8s.io/node": "fake"}, "labels": {"kwok.x-k8s.io/node": "fake"}},
    "status": {"capacity": {"cpu": "64", "memory": "512Gi", "pods": "110", "nvidia.com/gpu": "8"},
               "allocatable": {"cpu": "64", "memory": "512Gi", "pods": "110", "nvidia.com/gpu": "8"}}}

JOB = {"apiVersion": "verl.run/v1alpha1", "kind": "VerlJob", "metadata": {"name": "live", "namespace": "default"},
       "spec": {"image": "registry.example/verl:0.9.1", "trainer": {"module": "verl.trainer.main_ppo"},
                "pools": [{"name": "main", "nodes": 2, "gpusPerNode": 8}]}}

api = None


def eventually(what, ask, seconds=30):
    """Asks until the answer is true; gives the answer."""
    until = time.monotonic() + seconds
    while True:
        answer = ask()
        if answer:
            return answer
        if time.monotonic() > until:
            raise AssertionError(f"not so after {seconds} s: {what}")
        time.sleep(0.1)


def helm(*words, check=True):
    return chart.run("helm", *words, check=check)


def install(folder=chart.CHART):
    """With --wait: the controllers have made all pods and kwok has them Running when it returns."""
    return helm("install", chart.RELEASE, folder, "-n", NS, "--create-namespace", "--wait", "--timeout", "90s",
                *chart.settings(VALUES))


def pods(component):
    found = api.get(f"/api/v1/namespaces/{NS}/pods?labelSelector=app.kubernetes.io/component={component}")["items"]
    return [pod for pod in found if "deletionTimestamp" not in pod["metadata"]]


def agent_on(node):
    return next(pod for pod in pods("agent") if pod["spec"]["nodeName"] == node)


def report(name, uid):
    return {"apiVersion": "verl.run/v1alpha1", "kind": "NodeReadiness", "metadata": {"name": name}, "spec": {"nodeUID": uid}}


def lease(name, namespace=NS, **spec):
    """A node's heartbeat as the operator makes it."""
    labels = {"app.kubernetes.io/name": "verl-operator", "app.kubernetes.io/component": "heartbeat"}
    return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": name, "namespace": namespace, "labels": labels},
            "spec": {"holderIdentity": name, "leaseDurationSeconds": 90, **spec}}


def condition(kind, status="True", reason="Because"):
    return {"type": kind, "status": status, "reason": reason, "message": "said", "lastTransitionTime": "2026-01-02T03:04:05Z"}


def attempt(method, path, body):
    """The answer, None when it was refused."""
    try:
        return api.request(method, path, body)
    except ApiError:
        return None


def served(path):
    """Established is not yet served: the first answers may be 404 or 429."""
    try:
        return api.get(path) is not None
    except ApiError:
        return False


def read(path):
    """The text; empty while there is no such file."""
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8") as file:
        return file.read()


def setUpModule():
    global api
    api = Cluster()
    # The last one is called like the operator's own Lease.
    for name in ("n1", "n2", "n3", "verl-operator"):
        node = json.loads(json.dumps(NODE))
        node["metadata"]["name"] = name
        api.request("POST", "/api/v1/nodes", node)
    eventually("the nodes are Ready", lambda: all(
        any(one["type"] == "Ready" and one["status"] == "True" for one in node["status"].get("conditions", []))
        for node in api.get("/api/v1/nodes")["items"]))


class Life(unittest.TestCase):
    """Installed, upgraded under live objects, uninstalled, installed again."""
    maxDiff = None

    def live(self):
        """What must come through unharmed."""
        kept = {}
        for path in ("/apis/verl.run/v1alpha1/namespaces/default/verljobs/live", f"{REPORTS}/n1"):
            found = api.get(path)
            kept[path] = (found["metadata"]["uid"], found["metadata"]["generation"], found["spec"], found.get("status"))
        return kept

    def key(self):
        return api.get(f"/api/v1/namespaces/{NS}/secrets/verl-operator-key")["data"]["key"]

    def test_1_install(self):
        said = install().stdout
        self.assertIn("pod-security.kubernetes.io/enforce=privileged", said)
        self.assertEqual(2, len(pods("operator")))
        self.assertEqual(["n1", "n2", "n3", "verl-operator"], sorted(pod["spec"]["nodeName"] for pod in pods("agent")))
        for plural in ("verljobs", "nodereadinesses", "readinesspolicies"):
            eventually(f"{plural} are served", lambda p=plural: served(f"/apis/verl.run/v1alpha1/{p}"))

    def test_2_policies_are_free_of_type_errors(self):
        base = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
        for name in ("verl-operator-own-report", "verl-operator-own-lease", "verl-operator-own-jobs"):
            status = eventually(f"{name} was checked", lambda n=name: api.get(f"{base}/{n}").get("status"))
            self.assertEqual({}, status["typeChecking"], name)

    def test_3_every_preset_is_a_policy_the_api_server_takes(self):
        folder = os.path.join(chart.CHART, "files/presets")
        for name in sorted(os.listdir(folder)):
            chart.run("kubectl", "create", "--dry-run=server", "-f", os.path.join(folder, name))

    def test_4_upgrade_with_a_changed_crd_keeps_live_objects(self):
        api.request("POST", "/apis/verl.run/v1alpha1/namespaces/default/verljobs", JOB)
        uid = api.get("/api/v1/nodes/n1")["metadata"]["uid"]
        api.request("POST", REPORTS, report("n1", uid))
        api.request("PATCH", f"{REPORTS}/n1/status", {"status": {"verdict": "Ready", "conditions": [condition("Ready")]}}, MERGE)
        before, key = self.live(), self.key()
        with tempfile.TemporaryDirectory() as folder:
            newer = os.path.join(folder, "verl-operator")
            shutil.copytree(chart.CHART, newer)
            path = os.path.join(newer, "files/crds/verljobs.yaml")
            crd = chart.load(path)
            spec = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
            spec["properties"]["newField"] = {"type": "string", "description": "Something new."}
            with open(path, "w", encoding="utf-8") as out:
                json.dump(crd, out)
            helm("upgrade", chart.RELEASE, newer, "-n", NS, "--wait", "--timeout", "90s", *chart.settings(VALUES))
        self.assertEqual(before, self.live())
        self.assertEqual(key, self.key())
        # An unknown field would be refused; the old CRD knew none of this name.
        newer = json.loads(json.dumps(JOB))
        newer["metadata"]["name"], newer["spec"]["newField"] = "newer", "x"
        path = "/apis/verl.run/v1alpha1/namespaces/default/verljobs?dryRun=All&fieldValidation=Strict"
        made = eventually("the new field is served", lambda: attempt("POST", path, newer))
        self.assertEqual("x", made["spec"]["newField"])

    def test_5_uninstall_leaves_crds_objects_and_the_key_and_nothing_else(self):
        before, key = self.live(), self.key()
        said = helm("uninstall", chart.RELEASE, "-n", NS, "--wait", "--timeout", "90s").stdout
        self.assertIn("kept", said)
        self.assertEqual(before, self.live())
        self.assertEqual(key, self.key())
        left = chart.run("kubectl", "get", "-A", "-o", "name", "-l", f"app.kubernetes.io/instance={chart.RELEASE}",
                         ",".join(self.kinds())).stdout.split()
        self.assertEqual(["customresourcedefinition.apiextensions.k8s.io/nodereadinesses.verl.run",
                          "customresourcedefinition.apiextensions.k8s.io/readinesspolicies.verl.run",
                          "customresourcedefinition.apiextensions.k8s.io/verljobs.verl.run",
                          "secret/verl-operator-key"], sorted(left))

    def kinds(self):
        """Every kind that any rendering of the chart holds."""
        everything = chart.render({"operator.replicas": 2})
        return sorted({kind.lower() for kind, _ in everything} | {"pod", "replicaset", "controllerrevision"})

    def test_6_installed_again_it_finds_all_as_it_was(self):
        before, key = self.live(), self.key()
        install()
        self.assertEqual(before, self.live())
        self.assertEqual(key, self.key())

    def test_7_a_second_release_is_refused(self):
        done = helm("install", "other", chart.CHART, "-n", "elsewhere", "--create-namespace", check=False)
        self.assertNotEqual(0, done.returncode)
        self.assertIn("verl-operator", done.stderr)
        chart.run("helm", "uninstall", "other", "-n", "elsewhere", check=False)

    def test_8_the_operator_meets_restricted_and_agents_need_privileged(self):
        rendered = chart.render()
        templates = {"operator": rendered[("Deployment", "verl-operator")], "agent": rendered[("DaemonSet", "verl-operator-agent")]}
        for level, wanted in (("restricted", {"operator": True, "agent": False}), ("baseline", {"operator": True, "agent": False}),
                              ("privileged", {"operator": True, "agent": True})):
            api.request("POST", "/api/v1/namespaces", {"metadata": {
                "name": f"level-{level}", "labels": {"pod-security.kubernetes.io/enforce": level}}})
            eventually("the namespace has its accounts", lambda n=level: "default" in json.dumps(
                api.get(f"/api/v1/namespaces/level-{n}/serviceaccounts")))
            for name, template in templates.items():
                spec = dict(template["spec"]["template"]["spec"], serviceAccountName="default")
                pod = {"metadata": {"name": name}, "spec": spec}
                try:
                    api.request("POST", f"/api/v1/namespaces/level-{level}/pods?dryRun=All", pod)
                    taken = True
                except ApiError as error:
                    self.assertIn("violates PodSecurity", error.message)
                    taken = False
                self.assertEqual(wanted[name], taken, f"{name} under {level}")


    def test_9_the_api_server_takes_every_rendering(self):
        for name, values in MATRIX.items():
            with self.subTest(name):
                text = helm("template", chart.RELEASE, chart.CHART, "-n", NS, *chart.settings(values)).stdout
                chart.run("kubectl", "apply", "--server-side", "--force-conflicts", "--dry-run=server", "-f", "-", stdin=text)


class Rights(unittest.TestCase):
    """What the accounts may do, as the API server adds it up for the very tokens the pods get."""
    maxDiff = None

    def listed(self, pod, namespace):
        client = api.bearer(api.bound_token(pod))
        body = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectRulesReview", "spec": {"namespace": namespace}}
        rules = client.request("POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", body)["status"]["resourceRules"]
        verbs = {}
        for rule in rules:
            for group in rule["apiGroups"]:
                for resource in rule["resources"]:
                    only = f" {','.join(rule['resourceNames'])}" if rule.get("resourceNames") else ""
                    verbs.setdefault(f"{resource}.{group}".rstrip(".") + only, set()).update(rule["verbs"])
        return "".join(f"{name}: {' '.join(sorted(found))}\n" for name, found in sorted(verbs.items()))

    def test_they_are_those_of_the_golden_files(self):
        for component, pod in (("operator", pods("operator")[0]), ("agent", agent_on("n1"))):
            for place, namespace in (("own namespace", NS), ("other namespace", "default")):
                with self.subTest(f"{component}, {place}"):
                    path = os.path.join(HERE, "golden", f"rights-{component}-{place.replace(' ', '-')}.txt")
                    seen = self.listed(pod, namespace)
                    if os.environ.get("VERL_UPDATE_GOLDEN"):
                        os.makedirs(os.path.dirname(path), exist_ok=True)
                        with open(path, "w", encoding="utf-8") as out:
                            out.write(seen)
                    with open(path, encoding="utf-8") as wanted:
                        self.assertEqual(wanted.read(), seen)

    def test_no_secret_can_be_read_not_even_by_an_empty_patch(self):
        client = api.bearer(api.bound_token(pods("operator")[0]))
        secret = f"/api/v1/namespaces/{NS}/secrets/verl-operator-key"
        for method, path, body in (("GET", secret, None), ("GET", secret.rpartition("/")[0], None), ("PATCH", secret, {}),
                                   ("DELETE", secret, None)):
            with self.assertRaises(ApiError, msg=f"{method} {path}") as refused:
                client.request(method, path, body, MERGE)
            self.assertEqual(403, refused.exception.code)
        owner = {"apiVersion": "verl.run/v1alpha1", "kind": "VerlJob", "name": "live", "uid": "u"}
        created = {"metadata": {"name": "token-of-a-job", "ownerReferences": [owner]}, "stringData": {"token": "x"}}
        client.request("POST", "/api/v1/namespaces/default/secrets?dryRun=All", created)

    def test_people_get_jobs_with_the_roles_they_have(self):
        def may(role, verb, resource):
            body = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": {
                "user": f"a-{role}", "resourceAttributes": {
                    "namespace": "default", "verb": verb, "group": "verl.run", "resource": resource}}}
            return api.request("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", body)["status"]["allowed"]

        for role in ("view", "edit", "admin"):
            api.request("POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings", {
                "metadata": {"name": f"a-{role}"}, "subjects": [{"kind": "User", "name": f"a-{role}", "apiGroup": "rbac.authorization.k8s.io"}],
                "roleRef": {"kind": "ClusterRole", "name": role, "apiGroup": "rbac.authorization.k8s.io"}})
            eventually(f"{role} may look", lambda r=role: may(r, "list", "verljobs"))
            if role != "view":
                eventually(f"{role} may create", lambda r=role: may(r, "create", "verljobs"))
        self.assertFalse(may("view", "create", "verljobs"))
        for role in ("view", "edit", "admin"):
            self.assertFalse(may(role, "patch", "verljobs/status"), role)
            self.assertFalse(may(role, "patch", "nodereadinesses/status"), role)


class Policies(unittest.TestCase):
    """Admission holds an agent to what is its own, whatever RBAC gives it: here it may do anything to both kinds."""
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.uid = {node["metadata"]["name"]: node["metadata"]["uid"] for node in api.get("/api/v1/nodes")["items"]}
        cls.operator = api.bearer(api.bound_token(pods("operator")[0]))
        cls.agent = {name: api.bearer(api.bound_token(agent_on(name))) for name in cls.uid}
        cls.unbound = api.bearer(api.request(
            "POST", f"/api/v1/namespaces/{NS}/serviceaccounts/verl-operator-agent/token",
            {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 600}})["status"]["token"])
        # Made by the operator's account: its rights are tried on the way.
        for name in ("n2", "verl-operator"):
            cls.operator.request("POST", REPORTS, report(name, cls.uid[name]))
        cls.operator.request("POST", REPORTS, report("n3", "the-machine-that-was-n3-before"))
        for name in ("n1", "n2", "n3", "verl-operator"):
            status = {"apiVersion": "verl.run/v1alpha1", "kind": "NodeReadiness", "metadata": {"name": name},
                      "status": {"verdict": "Ready", "conditions": [condition("Ready")]}}
            cls.operator.request("PATCH", f"{REPORTS}/{name}/status?fieldManager=verl-operator&force=true", status, APPLY)
        for name in ("n1", "n2", "n3"):
            cls.operator.request("POST", LEASES, lease(name))
        lead = lease("verl-operator")
        del lead["metadata"]["labels"]
        cls.operator.request("POST", LEASES, lead)
        api.request("POST", "/apis/coordination.k8s.io/v1/namespaces/default/leases", lease("n1", "default"))
        # With the chart's own role first: what an agent is there for.
        cls.narrow = {}
        for name, ask in cls.duties().items():
            try:
                ask()
                cls.narrow[name] = "allowed"
            except ApiError as error:
                cls.narrow[name] = str(error)
        wide = {"metadata": {"name": "agents-may-anything"}, "rules": [
            {"apiGroups": ["verl.run"], "resources": ["nodereadinesses", "nodereadinesses/status"], "verbs": ["*"]},
            {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["*"]}]}
        base = "/apis/rbac.authorization.k8s.io/v1"
        api.request("POST", f"{base}/clusterroles", wide)
        api.request("POST", f"{base}/clusterrolebindings", {
            "metadata": {"name": "agents-may-anything"},
            "subjects": [{"kind": "ServiceAccount", "name": "verl-operator-agent", "namespace": NS}],
            "roleRef": {"kind": "ClusterRole", "name": "agents-may-anything", "apiGroup": "rbac.authorization.k8s.io"}})
        eventually("the wide role counts", lambda: cls.refusal(
            lambda: cls.agent["n1"].request("GET", LEASES.replace(NS, "default"))) is None)

    @classmethod
    def duties(cls):
        agent = cls.agent["n1"]
        return {
            "reads its report": lambda: agent.get(f"{REPORTS}/n1"),
            "applies its status": lambda: agent.request("PATCH", f"{REPORTS}/n1/status?fieldManager=verl-node-agent", cls.status("n1"), APPLY),
            "patches its status": lambda: agent.request("PATCH", f"{REPORTS}/n1/status", {"status": {"bootID": "b"}}, MERGE),
            "reads its lease": lambda: agent.get(f"{LEASES}/n1"),
            "patches its lease": lambda: agent.request("PATCH", f"{LEASES}/n1", {"spec": {"renewTime": "2026-01-02T03:04:05.000000Z"}}, MERGE),
        }

    @staticmethod
    def status(name, **more):
        return {"apiVersion": "verl.run/v1alpha1", "kind": "NodeReadiness", "metadata": {"name": name},
                "status": {"bootID": "b", "conditions": [condition("Healthy")], **more}}

    @staticmethod
    def refusal(ask):
        """None when it was allowed, else code and message."""
        try:
            ask()
            return None
        except ApiError as error:
            return error.code, error.message

    def outcome(self, row, dry=False):
        """None when it came out as wanted, else what was seen."""
        who, _, method, path, body, content, wanted = row
        if dry and "dryRun" not in path:
            path += ("&" if "?" in path else "?") + "dryRun=All"
        seen = self.refusal(lambda: who.request(method, path, body, content))
        if wanted is None:
            return seen
        if seen is None:
            return "was allowed"
        return None if wanted in seen[1] and seen[0] == 422 else f"wanted {wanted!r}, saw {seen}"

    def check(self, rows):
        for row in rows:
            with self.subTest(row[1]):
                self.assertIsNone(self.outcome(row))

    def test_with_the_charts_own_role_an_agent_does_its_duty(self):
        self.assertEqual({name: "allowed" for name in self.narrow}, self.narrow)

    def report_rows(self):
        n1, url = self.agent["n1"], f"{REPORTS}/n1"
        own, nothing_else = "may write only the report of that very node", "an agent updates the status of its report and nothing else"
        verdict, ready = "status.verdict is written by the operator", "type Ready is written by the operator"
        current = api.get(url)
        changed = json.loads(json.dumps(current))
        changed["status"]["bootID"] = "c"
        merge_ready = lambda *conditions: {"status": {"conditions": list(conditions)}}  # noqa: E731
        return [
            (n1, "own spec, put", "PUT", url, current, "application/json", nothing_else),
            (n1, "own status, put", "PUT", f"{url}/status", changed, "application/json", None),
            (n1, "own status, merge patch", "PATCH", f"{url}/status", {"status": {"bootID": "b"}}, MERGE, None),
            (n1, "own status, apply", "PATCH", f"{url}/status?fieldManager=verl-node-agent", self.status("n1"), APPLY, None),
            (n1, "own status, forced apply", "PATCH", f"{url}/status?fieldManager=verl-node-agent&force=true", self.status("n1"), APPLY, None),
            (n1, "own status, dry run", "PATCH", f"{url}/status?dryRun=All", {"status": {"bootID": "x"}}, MERGE, None),
            (n1, "other's status, merge patch", "PATCH", f"{REPORTS}/n2/status", {"status": {"bootID": "x"}}, MERGE, own),
            (n1, "other's status, apply", "PATCH", f"{REPORTS}/n2/status?fieldManager=a", self.status("n2"), APPLY, own),
            (n1, "other's status, dry run", "PATCH", f"{REPORTS}/n2/status?dryRun=All", {"status": {"bootID": "x"}}, MERGE, own),
            (n1, "other's status, put", "PUT", f"{REPORTS}/n2/status", api.get(f"{REPORTS}/n2"), "application/json", own),
            (self.agent["n2"], "the other way round", "PATCH", f"{url}/status", {"status": {"bootID": "x"}}, MERGE, own),
            (self.agent["n3"], "the report of the machine that had this name", "PATCH", f"{REPORTS}/n3/status", {"status": {"bootID": "x"}}, MERGE, own),
            (n1, "own spec, merge patch", "PATCH", url, {"spec": {"gpus": 8}}, MERGE, nothing_else),
            (n1, "own labels", "PATCH", url, {"metadata": {"labels": {"a": "b"}}}, MERGE, nothing_else),
            (n1, "own finalizers", "PATCH", url, {"metadata": {"finalizers": ["a.b/c"]}}, MERGE, nothing_else),
            (n1, "create", "POST", REPORTS, report("n9", self.uid["n1"]), "application/json", nothing_else),
            (n1, "create by apply", "PATCH", f"{REPORTS}/n9?fieldManager=a", report("n9", self.uid["n1"]), APPLY, nothing_else),
            (n1, "delete own", "DELETE", url, None, None, nothing_else),
            (n1, "delete other's", "DELETE", f"{REPORTS}/n2", None, None, nothing_else),
            (self.unbound, "a token without a pod", "PATCH", f"{url}/status", {"status": {"bootID": "x"}}, MERGE, "not bound to a pod on a node"),
            (n1, "verdict changed", "PATCH", f"{url}/status", {"status": {"verdict": "NotReady"}}, MERGE, verdict),
            (n1, "verdict removed", "PATCH", f"{url}/status", {"status": {"verdict": None}}, MERGE, verdict),
            (n1, "verdict applied with force", "PATCH", f"{url}/status?fieldManager=a&force=true", self.status("n1", verdict="Unknown"), APPLY, verdict),
            (n1, "whole status removed", "PATCH", f"{url}/status", {"status": None}, MERGE, verdict),
            (n1, "Ready changed", "PATCH", f"{url}/status", merge_ready(condition("Ready", "False")), MERGE, ready),
            (n1, "Ready given another reason", "PATCH", f"{url}/status", merge_ready(condition("Ready", "True", "Mine")), MERGE, ready),
            (n1, "Ready left out", "PATCH", f"{url}/status", merge_ready(condition("Healthy")), MERGE, ready),
            (n1, "Ready applied with force", "PATCH", f"{url}/status?fieldManager=a&force=true",
             {**self.status("n1"), "status": {"conditions": [condition("Ready", "False")]}}, APPLY, ready),
            (self.operator, "the operator changes its part", "PATCH", f"{url}/status", merge_ready(condition("Ready", "True", "Newer")), MERGE, None),
        ]

    def test_reports(self):
        n1 = self.agent["n1"]
        self.check(self.report_rows())
        # A collection is deleted one by one, each past the policy.
        seen = self.refusal(lambda: n1.request("DELETE", REPORTS))
        self.assertIsNotNone(seen)
        self.assertIn("nothing else", seen[1])
        self.assertEqual({"n1", "n2", "n3", "verl-operator"}, {one["metadata"]["name"] for one in api.get(REPORTS)["items"]})

    def test_labels_sent_along_with_a_status_are_dropped(self):
        self.agent["n1"].request("PATCH", f"{REPORTS}/n1/status", {"metadata": {"labels": {"a": "b"}}, "status": {"bootID": "b"}}, MERGE)
        self.assertNotIn("a", api.get(f"{REPORTS}/n1")["metadata"].get("labels", {}))

    def lease_rows(self):
        n1, url, renewed = self.agent["n1"], f"{LEASES}/n1", {"spec": {"renewTime": "2026-01-02T03:04:06.000000Z"}}
        own, nothing_else = "may renew only the heartbeat of that node", "renews the Lease that the operator made for its node and nothing else"
        metadata = "changes the spec of its Lease, not its metadata"
        applied = lambda name: {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": name}, **renewed}  # noqa: E731
        return [
            (n1, "own, put", "PUT", url, api.get(url), "application/json", None),
            (n1, "own, merge patch", "PATCH", url, renewed, MERGE, None),
            (n1, "own, apply", "PATCH", f"{url}?fieldManager=verl-node-agent&force=true", applied("n1"), APPLY, None),
            (n1, "other's, merge patch", "PATCH", f"{LEASES}/n2", renewed, MERGE, own),
            (n1, "other's, apply", "PATCH", f"{LEASES}/n2?fieldManager=a&force=true", applied("n2"), APPLY, own),
            (n1, "other's, put", "PUT", f"{LEASES}/n2", api.get(f"{LEASES}/n2"), "application/json", own),
            (n1, "the operator's lead", "PATCH", f"{LEASES}/verl-operator", renewed, MERGE, own),
            (self.agent["verl-operator"], "the lead, from a node of that name", "PATCH", f"{LEASES}/verl-operator", renewed, MERGE, own),
            (n1, "create", "POST", LEASES, lease("n9"), "application/json", nothing_else),
            (n1, "delete own", "DELETE", url, None, None, nothing_else),
            (n1, "own name, another namespace", "PATCH", url.replace(NS, "default"), renewed, MERGE, nothing_else),
            (n1, "labels", "PATCH", url, {"metadata": {"labels": {"a": "b"}}}, MERGE, metadata),
            (n1, "finalizers", "PATCH", url, {"metadata": {"finalizers": ["a.b/c"]}}, MERGE, metadata),
            (n1, "owner", "PATCH", url, {"metadata": {"ownerReferences": [
                {"apiVersion": "v1", "kind": "Node", "name": "n1", "uid": self.uid["n1"]}]}}, MERGE, metadata),
            (self.operator, "the operator, any of them", "PATCH", f"{LEASES}/n2", renewed, MERGE, None),
            (self.unbound, "a token without a pod", "PATCH", url, renewed, MERGE, "not bound to a pod on a node"),
        ]

    def test_leases(self):
        self.check(self.lease_rows())

    def operator_rows(self):
        """Dry runs, all of them: it is admission that is asked."""
        owner = [{"apiVersion": "verl.run/v1alpha1", "kind": "VerlJob", "name": "live", "uid": "u", "controller": True, "blockOwnerDeletion": True}]
        base, owned = "/api/v1/namespaces/default", "creates and deletes only what a VerlJob owns"

        def pod(owners=owner, init=None, capabilities=("IPC_LOCK",), **more):
            security = {"capabilities": {"add": list(capabilities)}}
            spec = {"containers": [{"name": "ray", "image": "x", "securityContext": security}], "automountServiceAccountToken": False, **more}
            if init:
                spec["initContainers"] = [{"name": "init", "image": "x", "securityContext": init}]
            return {"metadata": {"name": "p", "ownerReferences": owners}, "spec": spec}

        def row(what, body, wanted, plural="pods"):
            return self.operator, what, "POST", f"{base}/{plural}", body, "application/json", wanted

        return [
            row("a job's pod", pod(hostNetwork=True, capabilities=("IPC_LOCK", "SYS_NICE")), None),
            row("a job's secret", {"metadata": {"name": "s", "ownerReferences": owner}}, None, "secrets"),
            row("a stranger's pod", pod(owners=[]), owned),
            row("another kind's pod", pod(owners=[dict(owner[0], apiVersion="batch/v1", kind="Job")]), owned),
            row("a stranger's secret", {"metadata": {"name": "s"}}, owned, "secrets"),
            row("hostPID", pod(hostPID=True), "shares the processes or the memory"),
            row("hostIPC", pod(hostIPC=True), "shares the processes or the memory"),
            row("privileged", pod(init={"privileged": True}), "is privileged"),
            row("a capability", pod(capabilities=("SYS_ADMIN",)), "no capabilities but IPC_LOCK and SYS_NICE"),
            row("a capability of an init container", pod(init={"capabilities": {"add": ["NET_RAW"]}}), "no capabilities but"),
            (self.operator, "delete an agent", "DELETE", f"/api/v1/namespaces/{NS}/pods/{agent_on('n1')['metadata']['name']}", None, None, owned),
        ]

    def test_what_the_operator_may_make(self):
        for row in self.operator_rows():
            with self.subTest(row[1]):
                self.assertIsNone(self.outcome(row, dry=True))

    def test_the_operator_deletes_a_jobs_pod(self):
        job = api.get("/apis/verl.run/v1alpha1/namespaces/default/verljobs/live")
        owner = {"apiVersion": "verl.run/v1alpha1", "kind": "VerlJob", "name": "live", "uid": job["metadata"]["uid"]}
        pod = {"metadata": {"name": "rank-0", "ownerReferences": [owner]}, "spec": {"containers": [{"name": "ray", "image": "x"}]}}
        made = self.operator.request("POST", "/api/v1/namespaces/default/pods", pod)
        self.operator.request("DELETE", "/api/v1/namespaces/default/pods/rank-0", {"preconditions": {"uid": made["metadata"]["uid"]}})

    def test_without_any_one_rule_something_comes_out_differently(self):
        base = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
        for name, rows in (("verl-operator-own-report", self.report_rows), ("verl-operator-own-lease", self.lease_rows),
                           ("verl-operator-own-jobs", self.operator_rows)):
            rules = api.get(f"{base}/{name}")["spec"]["validations"]
            for index, rule in enumerate(rules):
                rest = rules[:index] + rules[index + 1:]
                api.request("PATCH", f"{base}/{name}", {"spec": {"validations": rest}}, MERGE)
                try:
                    eventually(f"a case of {name} misses {rule}", lambda r=rows: any(self.outcome(row, dry=True) for row in r()), 10)
                finally:
                    api.request("PATCH", f"{base}/{name}", {"spec": {"validations": rules}}, MERGE)
                eventually(f"{name} is whole again", lambda r=rows: not any(self.outcome(row, dry=True) for row in r()), 10)

    def test_a_second_served_version_is_covered(self):
        path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/nodereadinesses.verl.run"
        crd = api.get(path)
        newer = dict(json.loads(json.dumps(crd["spec"]["versions"][0])), name="v1alpha2", storage=False)
        api.request("PATCH", path, {"spec": {"versions": crd["spec"]["versions"] + [newer]}}, MERGE)
        url = REPORTS.replace("v1alpha1", "v1alpha2")
        eventually("v1alpha2 is served", lambda: self.refusal(lambda: api.get(url)) is None)
        seen = self.refusal(lambda: self.agent["n1"].request("PATCH", f"{url}/n2/status", {"status": {"bootID": "x"}}, MERGE))
        self.assertIsNotNone(seen, "was allowed")
        self.assertIn("may write only the report of that very node", seen[1])


class Launcher(unittest.TestCase):
    """Processes stand in for the chart's pods exactly as these say."""
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="verl-launch-test.")
        os.chmod(cls.folder, 0o755)
        cls.bin = os.path.join(cls.folder, "bin")
        os.mkdir(cls.bin)
        for name in ("verl-operator", "verl-node-agent"):
            path = os.path.join(cls.bin, name)
            with open(path, "w", encoding="utf-8") as out:
                out.write("#!/bin/busybox sh\necho started\nwhile :; do /bin/busybox sleep 0.2; done\n")
            os.chmod(path, 0o755)
        for node in ("n1", "n2", "n3", "verl-operator"):
            for path in ("sys", "proc", "etc"):
                os.makedirs(os.path.join(cls.folder, "trees", node, path))
            with open(os.path.join(cls.folder, "trees", node, "etc/nccl.conf"), "w", encoding="utf-8") as out:
                out.write(f"NODE={node}\n")

    @classmethod
    def tearDownClass(cls):
        cls.launch("stop")
        shutil.rmtree(cls.folder)

    @classmethod
    def launch(cls, command, *words, check=True):
        more = [] if command == "stop" else ["-n", NS, "--bin", cls.bin, "--tool", "/bin/busybox", "--owner", str(os.getpid())]
        return chart.run(os.path.join(HERE, "launch.py"), command, "--state", os.path.join(cls.folder, "state"), *more, *words, check=check)

    @staticmethod
    def seen(pid, name):
        with open(f"/proc/{pid}/{name}", "rb") as file:
            return [word.decode() for word in file.read().split(b"\0") if word]

    def inside(self, pid, path):
        with open(f"/proc/{pid}/root{path}", encoding="utf-8") as file:
            return file.read()

    def started(self, log):
        eventually("the program runs", lambda: read(log) == "started\n")

    def whoami(self, token):
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
        return api.bearer(token).request("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", body)["status"]["userInfo"]

    def test_1_agents_run_on_recorded_hosts_as_their_own_account(self):
        lines = self.launch("all", "--selector", "app.kubernetes.io/component=agent", "--count", "4", "--logs", f"{self.folder}/logs",
                            "--host-trees", f"{self.folder}/trees").stdout.split("\n")[:-1]
        self.assertEqual(4, len(lines))
        for line in lines:
            pid, pod, node = line.split(" ")
            self.started(f"{self.folder}/logs/{pod}.log")
            self.assertEqual(["/usr/bin/verl-node-agent", "run", "--root=/host", f"--lease-namespace={NS}"], self.seen(pid, "cmdline")[-4:])
            self.assertEqual({"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/", "HOSTNAME": node,
                              "KUBERNETES_SERVICE_HOST": api.host, "KUBERNETES_SERVICE_PORT": str(api.port),
                              "KUBERNETES_SERVICE_PORT_HTTPS": str(api.port), "NODE_NAME": node, "POD_NAMESPACE": NS},
                             dict(word.split("=", 1) for word in self.seen(pid, "environ")))
            self.assertEqual(f"NODE={node}\n", self.inside(pid, "/host/etc/nccl.conf"))
            self.assertEqual(["etc", "proc", "sys"], sorted(os.listdir(f"/proc/{pid}/root/host")))
            folder = "/var/run/secrets/kubernetes.io/serviceaccount"
            # Links are followed by this machine's root, so the name without them.
            folder = folder.replace("/var/run", "/run")
            self.assertEqual(NS, self.inside(pid, f"{folder}/namespace"))
            self.assertEqual(api.ca.strip(), self.inside(pid, f"{folder}/ca.crt").strip())
            user = self.whoami(self.inside(pid, f"{folder}/token"))
            self.assertEqual(f"system:serviceaccount:{NS}:verl-operator-agent", user["username"])
            self.assertEqual([node], user["extra"]["authentication.kubernetes.io/node-name"])
            self.assertEqual([pod], user["extra"]["authentication.kubernetes.io/pod-name"])
            with open(f"/proc/{pid}/status", encoding="utf-8") as file:
                status = dict(line.split(":", 1) for line in file.read().splitlines())
            self.assertEqual(["65532"] * 4, status["Uid"].split())
            self.assertEqual(["0000000000000000"] * 2, [status["CapEff"].strip(), status["CapPrm"].strip()])
            self.assertEqual("1", status["NoNewPrivs"].strip())
            self.assertEqual(int(pid), os.getpgid(int(pid)))

    def test_2_the_operator_finds_its_files(self):
        pod = pods("operator")[0]["metadata"]["name"]
        log = f"{self.folder}/operator.log"
        pid = self.launch("pod", pod, "--log", log).stdout.strip()
        self.started(log)
        words = self.seen(pid, "cmdline")
        self.assertEqual("run", words[words.index("--config=/etc/verl-operator/config.yaml") - 1])
        self.assertEqual({"POD_NAME": pod, "POD_NAMESPACE": NS}, {
            word.split("=", 1)[0]: word.split("=", 1)[1] for word in self.seen(pid, "environ") if word.startswith("POD_")})
        config = api.get(f"/api/v1/namespaces/{NS}/configmaps/verl-operator")["data"]
        self.assertEqual(config["config.yaml"], self.inside(pid, "/etc/verl-operator/config.yaml"))
        self.assertEqual(config["preset.yaml"], self.inside(pid, "/etc/verl-operator/presets/on-prem.yaml"))
        self.assertRegex(self.inside(pid, "/etc/verl-operator-key/key"), r"^[A-Za-z0-9]{64}$")
        self.assertFalse(os.path.exists(f"/proc/{pid}/root/host"))
        self.assertFalse(os.path.exists(f"/proc/{pid}/root{chart.SOURCE}"))

    def test_3_a_deleted_pod_ends_its_program(self):
        pod = agent_on("n2")["metadata"]["name"]
        log = f"{self.folder}/second.log"
        pid = int(self.launch("pod", pod, "--log", log, "--host-path", f"/sys={self.folder}/trees/n2/sys").stdout)
        self.started(log)
        api.request("DELETE", f"/api/v1/namespaces/{NS}/pods/{pod}")
        eventually("the program ended", lambda: not os.path.exists(f"/proc/{pid}"))
        self.assertEqual("-15", eventually("its end is noted", lambda: read(f"{log}.exit").strip()))

    def test_4_what_cannot_be_as_the_pod_says_is_an_error(self):
        pod = agent_on("n1")["metadata"]["name"]
        for words, wanted in ((["pod", pod, "--host-trees", f"{self.folder}/none"], "hostPath /sys: "),
                              (["pod", "nobody", "--timeout", "0.5"], "no running pods"),
                              (["pod", pod, "--bin", f"{self.folder}/trees"], "/usr/bin/verl-node-agent does not start: FileNotFoundError")):
            with self.subTest(wanted):
                done = self.launch(*words, check=False)
                self.assertEqual(1, done.returncode)
                self.assertIn(wanted, done.stderr)
                self.assertEqual("", done.stdout)

    def test_5_stop_leaves_nothing(self):
        self.launch("stop")
        left = [name for name in os.listdir(f"{self.folder}/state") if not name.endswith((".log", ".exit"))]
        self.assertEqual([], left)
        mine = subprocess.run(["grep", "-l", "-s", self.bin, *(f"/proc/{pid}/cmdline" for pid in os.listdir("/proc") if pid.isdigit())],
                              capture_output=True, text=True, check=False).stdout
        self.assertEqual("", mine)


def load_tests(loader, *_):
    """Life first: the others need what it leaves installed."""
    return unittest.TestSuite(loader.loadTestsFromTestCase(case) for case in (Life, Rights, Policies, Launcher))


if __name__ == "__main__":
    if not os.environ.get("VERL_PLANE_DIR"):
        sys.exit("this runs on a control plane: scripts/control-plane run -- tests/chart/install_test.py")
    chart.put_tools_on_path()
    unittest.main(verbosity=2)
