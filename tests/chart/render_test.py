#!/usr/bin/env python3
"""The chart without a cluster: what renders, what is refused and how it is said."""
import json
import os
import re
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import chart  # noqa: E402

# Every switch at a value other than its default, alone and together.
MATRIX = {
    "defaults": {},
    "two operators": {"operator.replicas": 2},
    "no ports": {"operator.healthPort": 0, "operator.metricsPort": 0},
    "no metrics": {"operator.metricsPort": 0},
    "no agents": {"agent.enabled": "false"},
    "no preset, no levels": {"preset": '""', "topology.levels": "[]"},
    "another preset": {"preset": '"h100-roce"'},
    "own key": {"operatorKey.existingSecret": '"ours"'},
    "pinned images": {"operator.image.digest": json.dumps("sha256:" + "0" * 64), "agent.image.digest": json.dumps("sha256:" + "1" * 64),
                      "image.registry": '"10.0.0.1:5000/a/b"', "image.pullSecrets": '["one","two"]', "image.pullPolicy": '"Always"'},
    "own classes": {"operator.priorityClassName": '"system-cluster-critical"', "agent.priorityClassName": '"system-node-critical"',
                    "priorityClasses.job.create": "false", "priorityClasses.components.create": "false"},
    "nothing optional": {"crds.enabled": "false", "flowSchema.enabled": "false", "networkPolicy.enabled": "false",
                         "podDisruptionBudget.enabled": "false", "admissionPolicies.enabled": "false", "operator.replicas": 2},
    "placed": {"operator.nodeSelector": '{"pool":"system"}', "operator.tolerations": '[{"operator":"Exists"}]',
               "operator.affinity": '{"nodeAffinity":{}}', "agent.nodeSelector": '{"nvidia.com/gpu.present":"true"}',
               "agent.tolerations": "[]", "agent.hostMounts": '["/sys"]', "agent.maxUnavailable": 3,
               "networkPolicy.metricsFrom": '[{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"monitoring"}}}]',
               "extraLabels": '{"team":"ml","example.com/x":""}', "docsUrl": '"https://example.com/docs"'},
}

WRONG_VALUES = [  # values, what the message must say
    ({"replicas": 2}, "additional properties 'replicas' not allowed"),
    ({"operator.replica": 2}, "additional properties 'replica' not allowed"),
    ({"operator.replicas": '"2"'}, "got string, want integer"),
    ({"operator.replicas": -1}, "minimum: got -1, want 1"),
    ({"operator.replicas": 0}, "at '/operator/replicas': minimum: got 0, want 1"),
    ({"image.tag": '"a b"'}, "/image/tag"),
    ({"image.registry": '"example.com/"'}, "/image/registry"),
    ({"image.registry": '"Example.com/Upper"'}, "/image/registry"),
    ({"operator.image.digest": '"sha256:123"'}, "/operator/image/digest"),
    ({"agent.image.repository": '""'}, "/agent/image/repository"),
    ({"preset": '"h200"'}, "/preset"),
    ({"topology.levels": '[{"name":"rack"}]'}, "missing property 'key'"),
    ({"topology.levels": '[{"name":"Rack","key":"a/b"}]'}, "/topology/levels/0/name"),
    ({"topology.levels": '[{"name":"rack","key":"a b"}]'}, "/topology/levels/0/key"),
    ({"ports.last": 30000}, "maximum: got 30,000, want 29,999"),
    ({"ports.first": 80}, "minimum: got 80, want 1,024"),
    ({"operator.healthPort": 80}, "/operator/healthPort"),
    ({"operator.leaderElection.retryPeriodSeconds": 0}, "minimum: got 0, want 1"),
    ({"agent.hostMounts": '["/"]'}, "/agent/hostMounts/0"),
    ({"agent.hostMounts": '["/etc/../root"]'}, "/agent/hostMounts/0"),
    ({"agent.hostMounts": '["/sys","/sys"]'}, "/agent/hostMounts"),
    ({"agent.maxUnavailable": '"0%"'}, "/agent/maxUnavailable"),
    ({"agent.tolerations": '[{"Key":"a"}]'}, "additional properties 'Key' not allowed"),
    ({"docsUrl": '"https://example.com/docs/"'}, "/docsUrl"),
    ({"docsUrl": '"javascript:x"'}, "/docsUrl"),
    ({"extraLabels": '{"a b":"c"}'}, "invalid propertyName 'a b'"),
    ({"extraLabels": '{"a":"b c"}'}, "/extraLabels/a"),
    ({"priorityClasses.job.value": 2000000000}, "/priorityClasses/job/value"),
]

WRONG_RELATIONS = [
    ({"image.tag": '"latest"'}, "image.tag: latest is refused: it names another image tomorrow"),
    ({"operator.leaderElection.leaseDurationSeconds": 10}, "leaseDurationSeconds 10 must be greater than renewDeadlineSeconds 10"),
    ({"operator.leaderElection.retryPeriodSeconds": 9}, "renewDeadlineSeconds 10 must be greater than 1.2 x retryPeriodSeconds 9"),
    ({"ports.first": 29985}, "first 29985 to last 29999 holds no block of 16 ports"),
    ({"ports.last": 19999}, "first 20000 to last 19999 holds no block of 16 ports"),
    ({"heartbeat.busySeconds": 31}, "busySeconds 31 must not be greater than idleSeconds 30"),
    ({"operator.healthPort": 8080}, "healthPort and metricsPort are both 8080"),
    ({"topology.levels": '[{"name":"rack","key":"a"},{"name":"rack","key":"b"}]'}, "two levels are called rack"),
    ({"topology.levels": '[{"name":"rack","key":"a"},{"name":"row","key":"a"}]'}, "two levels have the label a"),
]

ALLOWED_RELATIONS = [
    {"operator.leaderElection.leaseDurationSeconds": 4, "operator.leaderElection.renewDeadlineSeconds": 3,
     "operator.leaderElection.retryPeriodSeconds": 1},
    {"ports.first": 29984},
    {"operator.healthPort": 0, "operator.metricsPort": 0},
]


def leaves(value, path=""):
    """The values a user sets, in order. What is empty, or made of words that are not ours, is one value."""
    if isinstance(value, dict) and value and path.rsplit(".", 1)[-1] not in ("resources",):
        for key, inner in value.items():
            yield from leaves(inner, f"{path}.{key}" if path else key)
    else:
        yield path, value


def pod_spec(objects, kind, name):
    return objects[(kind, name)]["spec"]["template"]["spec"]


class Chart(unittest.TestCase):
    maxDiff = None

    def test_lint_has_nothing_to_say(self):
        text = chart.run("helm", "lint", "--strict", chart.CHART).stdout
        self.assertEqual([], [line for line in text.splitlines() if re.match(r"\[(WARNING|ERROR)\]", line)])

    def test_every_combination_renders(self):
        for name, values in MATRIX.items():
            with self.subTest(name):
                self.assertTrue(chart.render(values))

    def test_wrong_values_are_refused_by_name(self):
        for values, wanted in WRONG_VALUES:
            with self.subTest(str(values)):
                said = chart.refusal(values)
                self.assertIsNotNone(said, "was taken")
                self.assertIn(wanted, said)

    def test_a_default_taken_away_by_null_is_refused_by_path(self):
        """Of every value, and of the objects they lie in."""
        values = chart.load(os.path.join(chart.CHART, "values.yaml"))
        paths = [path for path, _ in leaves(values)]
        paths += sorted({path.rsplit(".", 1)[0] for path in paths if "." in path} - {"operator.resources", "agent.resources"})
        self.assertIn("topology.levels", paths)
        self.assertIn("operator.leaderElection", paths)
        for path in paths:
            with self.subTest(path):
                folder, _, name = path.rpartition(".")
                said = chart.refusal({path: "null"})
                self.assertIsNotNone(said, "was taken")
                self.assertIn(f"at '/{folder.replace('.', '/')}'" if folder else "at ''", said)
                self.assertIn(f"'{name}'", said)

    def test_values_that_contradict_each_other_are_refused_with_both_numbers(self):
        for values, wanted in WRONG_RELATIONS:
            with self.subTest(str(values)):
                said = chart.refusal(values)
                self.assertIsNotNone(said, "was taken")
                self.assertIn(wanted, said)

    def test_values_at_the_edge_are_taken(self):
        for values in ALLOWED_RELATIONS:
            with self.subTest(str(values)):
                self.assertIsNone(chart.refusal(values))

    def test_an_old_api_server_is_refused_rather_than_left_without_policies(self):
        done = chart.run("helm", "template", "x", chart.CHART, "--kube-version", "1.29.0", check=False)
        self.assertIn("kubeVersion", done.stderr)
        self.assertNotEqual(0, done.returncode)

    def test_the_schema_closes_every_object_that_is_not_named_free(self):
        schema = chart.load(os.path.join(chart.CHART, "values.schema.json"))
        free = {"global", "affinity", "quantities", "labels", "metricsFrom"}

        def look(node, path):
            if isinstance(node, dict):
                if node.get("type") == "object" and not free & set(path):
                    self.assertIs(node.get("additionalProperties"), False, "/".join(path))
                for key, inner in node.items():
                    look(inner, path + [key])
            elif isinstance(node, list):
                for inner in node:
                    look(inner, path)
        look(schema, [])

    def test_crds_are_those_of_the_source_and_stay(self):
        objects = chart.render()
        names = sorted(os.listdir(os.path.join(chart.SOURCE, "crds")))
        self.assertTrue(names)
        for name in names:
            source = chart.load(os.path.join(chart.SOURCE, "crds", name))
            rendered = objects[("CustomResourceDefinition", source["metadata"]["name"])]
            self.assertEqual(source["spec"], rendered["spec"], name)
            self.assertEqual("keep", rendered["metadata"]["annotations"]["helm.sh/resource-policy"])
        thrown = chart.render({"crds.keep": "false"})
        for (kind, _), one in thrown.items():
            if kind == "CustomResourceDefinition":
                self.assertNotIn("helm.sh/resource-policy", one["metadata"].get("annotations", {}))

    def test_a_packaged_chart_renders_the_same(self):
        with tempfile.TemporaryDirectory() as folder:
            chart.run("helm", "package", chart.CHART, "-d", folder)
            (name,) = os.listdir(folder)
            text = chart.run("helm", "template", chart.RELEASE, os.path.join(folder, name), "-n", chart.NAMESPACE).stdout
        packaged = {(one["kind"], one["metadata"]["name"]): one for one in chart.load_all(text)}
        here = chart.render()
        for objects in (packaged, here):
            del objects[("Secret", "verl-operator-key")]  # another one each time
        self.assertEqual(here, packaged)

    def test_names_fit_with_the_longest_release_name(self):
        for release in ("r" * 53, "verl-operator-" + "r" * 39, "r"):
            for (kind, name), one in chart.render(release=release).items():
                if kind != "CustomResourceDefinition":
                    self.assertLessEqual(len(name), 63, f"{kind} {name}")
                for key, value in one["metadata"]["labels"].items():
                    self.assertLessEqual(len(value), 63, key)

    def test_programs_start_with_the_agreed_words(self):
        objects = chart.render()
        operator = pod_spec(objects, "Deployment", "verl-operator")["containers"][0]
        self.assertEqual(["/usr/bin/verl-operator"], operator["command"])
        self.assertEqual(["run", "--config=/etc/verl-operator/config.yaml", "--token-key-file=/etc/verl-operator-key/key",
                          "--tools-image=registry.example/verl-operator/verl-node-agent:0.1.0",
                          "--leader-elect-lease-duration=15s", "--leader-elect-renew-deadline=10s",
                          "--leader-elect-retry-period=2s", "--health-port=8081", "--metrics-port=8080"], operator["args"])
        self.assertEqual({"POD_NAME": "metadata.name", "POD_NAMESPACE": "metadata.namespace"},
                         {one["name"]: one["valueFrom"]["fieldRef"]["fieldPath"] for one in operator["env"]})
        agent = pod_spec(objects, "DaemonSet", "verl-operator-agent")["containers"][0]
        self.assertEqual(["/usr/bin/verl-node-agent"], agent["command"])
        self.assertEqual(["run", "--root=/host", "--lease-namespace=$(POD_NAMESPACE)"], agent["args"])
        self.assertEqual({"NODE_NAME": "spec.nodeName", "POD_NAMESPACE": "metadata.namespace"},
                         {one["name"]: one["valueFrom"]["fieldRef"]["fieldPath"] for one in agent["env"]})

    def test_jobs_get_their_check_from_the_agents_image(self):
        for values in ({}, MATRIX["pinned images"], {"agent.enabled": "false", "image.tag": '"v9"'}):
            with self.subTest(str(values)):
                objects = chart.render(values)
                option = next(one for one in pod_spec(objects, "Deployment", "verl-operator")["containers"][0]["args"] if one.startswith("--tools-image="))
                agents = chart.render({**values, "agent.enabled": "true"})
                self.assertEqual("--tools-image=" + pod_spec(agents, "DaemonSet", "verl-operator-agent")["containers"][0]["image"], option)

    def test_the_configuration_is_what_was_set(self):
        for values, preset in (({}, "on-prem"), ({"preset": '"h100-roce"'}, "h100-roce"), ({"preset": '""'}, None)):
            with self.subTest(preset):
                objects = chart.render(values)
                content = objects[("ConfigMap", "verl-operator")]["data"]
                self.assertEqual({
                    "levels": [{"name": "zone", "key": "topology.kubernetes.io/zone"}, {"name": "block", "key": "verl.run/block"},
                               {"name": "rack", "key": "verl.run/rack"}],
                    "gpuResource": "nvidia.com/gpu", "ports": {"first": 20000, "last": 29999},
                    "heartbeat": {"idleSeconds": 30, "busySeconds": 10},
                    "presets": [f"/etc/verl-operator/presets/{preset}.yaml"] if preset else [], "docsUrl": "",
                }, chart.load_all(content["config.yaml"])[0])
                if preset:
                    self.assertEqual(f"preset-{preset}", chart.load_all(content["preset.yaml"])[0]["metadata"]["name"])
                volume = pod_spec(objects, "Deployment", "verl-operator")["volumes"][0]
                items = {item["key"]: item["path"] for item in volume["configMap"]["items"]}
                wanted = {"config.yaml": "config.yaml"}
                if preset:
                    wanted["preset.yaml"] = f"presets/{preset}.yaml"
                self.assertEqual(wanted, items)
                self.assertEqual(set(items), set(content))

    def test_presets_yield_to_policies_of_the_administrator(self):
        folder = os.path.join(chart.CHART, "files/presets")
        names = sorted(name.removesuffix(".yaml") for name in os.listdir(folder))
        schema = chart.load(os.path.join(chart.CHART, "values.schema.json"))
        self.assertEqual(names, sorted(set(schema["properties"]["preset"]["enum"]) - {""}))
        for name in names:
            policy = chart.load(os.path.join(folder, f"{name}.yaml"))
            self.assertEqual(f"preset-{name}", policy["metadata"]["name"])
            self.assertLess(policy["spec"]["priority"], 0)

    def test_no_pod_has_more_rights_on_its_host_than_it_needs(self):
        for name, values in MATRIX.items():
            objects = chart.render(values)
            for (kind, _), one in objects.items():
                if kind not in ("Deployment", "DaemonSet"):
                    continue
                with self.subTest(f"{name} {kind}"):
                    spec = one["spec"]["template"]["spec"]
                    self.assertIs(spec["automountServiceAccountToken"], False)
                    self.assertIs(spec["securityContext"]["runAsNonRoot"], True)
                    self.assertEqual("RuntimeDefault", spec["securityContext"]["seccompProfile"]["type"])
                    self.assertEqual(kind == "DaemonSet", spec.get("hostNetwork", False))
                    self.assertFalse(set(spec) & {"hostPID", "hostIPC", "initContainers"})
                    (container,) = spec["containers"]
                    self.assertEqual({"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
                                      "capabilities": {"drop": ["ALL"]}}, container["securityContext"])
                    self.assertIn("memory", container["resources"]["limits"])
                    self.assertNotIn(":latest", container["image"])
                    for mount in container["volumeMounts"]:
                        self.assertIs(mount["readOnly"], True, mount["name"])
                    paths = [volume["hostPath"]["path"] for volume in spec["volumes"] if "hostPath" in volume]
                    self.assertTrue(set(paths) <= {"/sys", "/proc", "/etc"} and (kind == "DaemonSet" or not paths))
                    token = [volume["projected"] for volume in spec["volumes"] if volume["name"] == "token"][0]
                    self.assertEqual(3600, token["sources"][0]["serviceAccountToken"]["expirationSeconds"])

    def test_no_class_of_ours_preempts(self):
        classes = [one for (kind, _), one in chart.render().items() if kind == "PriorityClass"]
        self.assertEqual(["verl-job", "verl-operator"], sorted(one["metadata"]["name"] for one in classes))
        for one in classes:
            self.assertEqual("Never", one["preemptionPolicy"], one["metadata"]["name"])
            self.assertNotIn("globalDefault", one)

    def test_roles_of_the_programs_hold_no_dangerous_right(self):
        harmful = {"*", "impersonate", "escalate", "bind", "deletecollection"}
        for (kind, name), one in chart.render().items():
            if kind not in ("Role", "ClusterRole") or one["metadata"]["labels"]["app.kubernetes.io/component"] == "users":
                continue
            for rule in one["rules"]:
                with self.subTest(f"{kind} {name} {rule}"):
                    self.assertFalse(harmful & set(rule["verbs"]))
                    self.assertFalse({"*", "rbac.authorization.k8s.io"} & set(rule["apiGroups"]))
                    self.assertNotIn("*", " ".join(rule["resources"]))
                    self.assertFalse([r for r in rule["resources"] if r.startswith(("pods/", "nodes/", "serviceaccounts"))])
                    if "secrets" in rule["resources"]:
                        self.assertEqual(["create"], rule["verbs"])
                    if "nodes" in rule["resources"]:
                        self.assertEqual(["get", "list", "watch"], rule["verbs"])

    def test_the_key_is_made_unless_there_is_one(self):
        import base64
        first, second = (chart.render()[("Secret", "verl-operator-key")] for _ in range(2))
        self.assertRegex(base64.b64decode(first["data"]["key"]).decode(), r"^[A-Za-z0-9]{64}$")
        self.assertNotEqual(first["data"], second["data"])
        self.assertEqual("keep", first["metadata"]["annotations"]["helm.sh/resource-policy"])
        objects = chart.render({"operatorKey.existingSecret": '"ours"'})
        self.assertFalse([name for kind, name in objects if kind == "Secret"])
        volumes = {one["name"]: one for one in pod_spec(objects, "Deployment", "verl-operator")["volumes"]}
        self.assertEqual("ours", volumes["key"]["secret"]["secretName"])

    def test_disruption_budget_only_where_one_can_go(self):
        self.assertNotIn(("PodDisruptionBudget", "verl-operator"), chart.render())
        self.assertIn(("PodDisruptionBudget", "verl-operator"), chart.render({"operator.replicas": 2}))

    def test_without_ports_nothing_is_probed_or_admitted(self):
        objects = chart.render({"operator.healthPort": 0, "operator.metricsPort": 0})
        container = pod_spec(objects, "Deployment", "verl-operator")["containers"][0]
        self.assertFalse({"ports", "livenessProbe", "readinessProbe"} & set(container))
        self.assertEqual([], objects[("NetworkPolicy", "verl-operator")]["spec"]["ingress"])

    def test_the_documentation_lists_every_value_with_its_default(self):
        with open(os.path.join(chart.SOURCE, "docs/install.md"), encoding="utf-8") as file:
            rows = dict(re.findall(r"^\| `([A-Za-z.]+)` \| `(.*?)` \|", file.read(), re.M))
        values = chart.load(os.path.join(chart.CHART, "values.yaml"))
        self.assertEqual({path: json.dumps(value) for path, value in leaves(values)}, rows)


if __name__ == "__main__":
    chart.put_tools_on_path()
    unittest.main(verbosity=2)
