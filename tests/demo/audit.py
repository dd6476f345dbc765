"""What the API server's audit log must say after the story: nobody took a short cut.

Reads the log, not the programs' own words. Each rule is one function; a violation names the event.
"""
import json

AGENT_EXTRA = "authentication.kubernetes.io/node-name"


class Violation(Exception):
    pass


def events(path):
    with open(path) as log:
        for line in log:
            event = json.loads(line)
            if event.get("stage") == "ResponseComplete" and event.get("responseStatus", {}).get("code", 0) < 300:
                yield event


def what(event):
    ref = event.get("objectRef", {})
    return (f"{event['user']['username']} did {event['verb']} {ref.get('resource')}/{ref.get('subresource', '')} "
            f"{ref.get('namespace', '')}/{ref.get('name', '')}")


def check(path, fleet):
    agent = f"system:serviceaccount:{fleet.operator_space}:verl-operator-agent"
    operator = f"system:serviceaccount:{fleet.operator_space}:verl-operator"
    seen = {"bindings": 0, "agent status": 0, "pods": 0}
    for event in events(path):
        ref, user, verb = event.get("objectRef", {}), event["user"], event["verb"]
        resource, sub, name = ref.get("resource"), ref.get("subresource", ""), user["username"]
        writes = verb in ("create", "update", "patch", "delete", "deletecollection")
        if not writes:
            continue
        if resource == "pods" and sub == "binding":
            seen["bindings"] += 1
            if name != "system:kube-scheduler":
                raise Violation(f"a pod was bound by somebody else than the scheduler: {what(event)}")
        if resource == "pods" and sub == "" and verb == "create" and ref.get("namespace") == fleet.name_space:
            seen["pods"] += 1
            if name != operator:
                raise Violation(f"a job's pod was made by somebody else than the operator: {what(event)}")
            if event.get("requestObject", {}).get("spec", {}).get("nodeName"):
                raise Violation(f"a pod was created with spec.nodeName: {what(event)}")
        if resource == "nodereadinesses" and sub == "status":
            if name == agent:
                seen["agent status"] += 1
                if user.get("extra", {}).get(AGENT_EXTRA, [""])[0] != ref.get("name"):
                    raise Violation(f"an agent wrote the report of another node: {what(event)}")
            elif name != operator:
                raise Violation(f"a report's status was written by neither agent nor operator: {what(event)}")
        if "system:masters" in user.get("groups", []) and name not in ("system:apiserver", "kwok"):
            if resource == "pods" and sub == "" and verb != "patch" or resource == "verljobs" and sub == "status" or resource == "nodereadinesses":
                raise Violation(f"the administrator did the operator's or an agent's work: {what(event)}")
    for kind, count in seen.items():
        if count == 0:
            raise Violation(f"the audit log shows no {kind}: the check proved nothing")
