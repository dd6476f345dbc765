"""What the chart's tests share: helm, rendered objects, and where things are."""
import os
import subprocess
import sys

import yaml

sys.dont_write_bytecode = True
SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
CHART = os.path.join(SOURCE, "helm/verl-operator")
NAMESPACE = "verl-system"
RELEASE = "verl-operator"
YAML = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def put_tools_on_path():
    """helm and kubectl of the running plane, or those that were built for one."""
    tools = os.environ.get("VERL_PLANE_BIN")
    if not tools:
        build = os.path.join(SOURCE, "scripts/lib/build-control-plane")
        tools = subprocess.run([build], check=True, capture_output=True, text=True).stdout.strip()
    os.environ["PATH"] = tools + os.pathsep + os.environ["PATH"]


def run(*words, stdin=None, check=True, timeout=180):
    done = subprocess.run(words, input=stdin, capture_output=True, text=True, timeout=timeout, check=False)
    if check and done.returncode != 0:
        raise AssertionError(f"{' '.join(words)} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def settings(values):
    """{"a.b": 1} as helm's own words."""
    words = []
    for key, value in values.items():
        words += ["--set-json", f"{key}={value}"]
    return words


def load_all(text):
    return [document for document in yaml.load_all(text, YAML) if document]


def load(path):
    with open(path, encoding="utf-8") as file:
        return yaml.load(file, YAML)


def render(values=None, release=RELEASE, namespace=NAMESPACE, more=()):
    """Rendered objects by (kind, name)."""
    text = run("helm", "template", release, CHART, "-n", namespace, *settings(values or {}), *more).stdout
    objects = load_all(text)
    found = {(one["kind"], one["metadata"]["name"]): one for one in objects}
    assert len(found) == len(objects), "two objects of one kind have the same name"
    return found


def refusal(values):
    """What helm says when it does not take the values; None when it does."""
    done = run("helm", "template", RELEASE, CHART, "-n", NAMESPACE, *settings(values), check=False)
    return None if done.returncode == 0 else done.stderr
