#!/usr/bin/env python3
"""Every CamelCase word that decisions may give as a reason has a section in docs/conditions.md.

A word in quotes in these sources is a reason unless it is listed below as a word of Kubernetes. So a new reason fails here until it
is described, and a section whose reason is gone fails too.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
FOLDERS = ["operator/core/*.cpp", "operator/core/fit/*.h", "operator/controller/*.cpp", "kubectl-verl/*.cpp", "node-agent/agent/*.cpp"]
SOURCES = [source for folder in FOLDERS for source in sorted(ROOT.glob(folder))]
# Kinds, phases, condition types, operators, effects, policies, checks' words, fallbacks.
OTHER = set("""
    Pod Secret VerlJob Memory ClusterFirstWithHostNet Never Exists DoesNotExist In NotIn Equal NoSchedule NoExecute
    Failed Unknown Ready Reconciling Stalled Succeeded Suspended PlacementFound PodsCreated RayClusterReady PodScheduled DisruptionTarget
    Running Invalid Reconcile Healthy NotReady Opaque TCP UDP Ethernet InfiniBand Always Passed
    ACTIVE ContainerCreating PodInitializing ErrImage ImagePullBackOff OOMKilled Domain MTUInterface UnknownCheck Job Cluster Lease
    Node New Chosen Fit Unfit Plan Explanation ClusterSnapshot SelfSubjectReview Guaranteed Background ALL FallbackToLogsOnError HTTP RuntimeDefault
    """.split())
# Made from parts or from a table elsewhere: reasons of the kubelet that begin so, and of the gate.
MADE = {"OutOf"}


def main():
    headings = set(re.findall(r"^### (\w+)$", (ROOT / "docs/conditions.md").read_text(), re.M))
    found = {}
    for source in SOURCES:
        for word in re.findall(r'"([A-Z][A-Za-z]{2,})"', source.read_text()):
            found.setdefault(word, source.relative_to(ROOT))
    problems = [f"{where}: reason {word} has no section" for word, where in sorted(found.items()) if word not in headings and word not in OTHER]
    problems += [f"docs/conditions.md: nothing gives the reason {word}" for word in sorted(headings - set(found) - MADE)]
    print("\n".join(problems) or f"{len(headings)} reasons, each with a section")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
