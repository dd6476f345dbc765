#!/usr/bin/env python3
"""Checks that every case of the corpus is asserted: each number, name and verdict of its `expected` stands in the body of a test of
its id, or in prose.tsv with the reason why it is no assertion; a case whose behaviour is another part's stands in elsewhere.tsv
(with the test that shows it) or open.tsv.

usage: coverage.py [--case ID] [--corpus DIR]
"""
import argparse
import os
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent

# Words of `expected` that say how grave something is, and what an assertion of that looks like.
VERDICTS = {
    "error": r"Severity::Error|document_error|NotReady",
    "errors": r"Severity::Error",
    "fails": r"Severity::Error|Severity::Unknown",
    "NotReady": r"Severity::(Error|Unknown)|not_ready|NotReady",
    "warning": r"Severity::Warning",
    "warnings": r"Severity::Warning",
    "information": r"Severity::Info|information",
    "Ready": r"ready|Ready|at_least",
    "accepted": r"at_least|empty\(\)|ready",
}
# Uppercase words that are the field's nouns, not names of one case.
NOUNS = set("""GPU GPUs NIC NICs CPU CPUs NUMA NCCL MTU RDMA IB HCA HCAs API TCP UDP IP IPv4 IPv6 GID GIDs RoCE NVLink PCIe PCI MPI UTC XML JSON
YAML CSV VM VMs MIG P2P TSV SR-IOV IPoIB I/O OS ID IDs ENOMEM DST RTC MIB MiB KiB GiB GB MB KB kB Mb/s Gb/s GB/s MiB/s GHz ms us ns s ASCII
DNS TLS HTTP CUDA NVML OFI InfiniBand DGX-2 POWER8 Kubernetes KubeRay Ray RayJob RayCluster verl PyTorch Gloo DMA DMA-BUF LID SM""".split())


def strip_comments(text):
    return re.sub(r"//[^\n]*", "", text)


def bodies():
    """id → the text of all test bodies of that id."""
    found = {}
    for file in sorted(HERE.glob("*_cases.cpp")):
        text = file.read_text()
        for match in re.finditer(r"^CORPUS\((\w+),", text, re.M):
            end = re.search(r"^}", text[match.start():], re.M)
            body = text[match.start():match.start() + (end.end() if end else len(text))]
            found[match.group(1)] = found.get(match.group(1), "") + strip_comments(body)
    return found


def rows(name, columns):
    path = HERE / name
    if not path.exists():
        return []
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    table = [line.split("\t") for line in lines[1:]]
    wrong = [row for row in table if len(row) != columns or not all(row)]
    if wrong:
        sys.exit(f"{name}: {len(wrong)} rows have not {columns} filled columns, the first is {wrong[0]}")
    return table


def number(text):
    try:
        return float(text.replace("'", "").rstrip("uUlLfF") if not text.lower().startswith("0x") else int(text.replace("'", ""), 16))
    except ValueError:
        return None


def numbers_in(text):
    """Every number of a body: literals with separators, those inside texts, and their products with powers of ten."""
    found = set()
    for match in re.finditer(r"0[xX][0-9a-fA-F']+|\d[\d']*(?:\.\d+)?(?:[eE][+-]?\d+)?", text):
        value = number(match.group())
        if value is not None:
            found.add(value)
    return found


def tokens(expected):
    """(kind, token) of all that has to be asserted."""
    out = []
    for word in re.findall(r"[^\s;,()\"{}\[\]=>]+", expected):
        word = word.strip(".:'`")
        if not word or word in NOUNS:
            continue
        if word in VERDICTS:
            out.append(("verdict", word))
        elif re.fullmatch(r"[+-]?\d[\d.]*%?", word):
            out.append(("number", word.lstrip("+-").rstrip("%")))
        elif re.search(r"\d|_|::|/", word) or re.fullmatch(r"[A-Z][A-Z-]+", word) or re.search(r"[a-z][A-Z]", word):
            out.append(("name", word))
    return out


def said(kind, token, body, numbers):
    if kind == "verdict":
        return re.search(VERDICTS[token], body) is not None
    if kind == "number":
        if any(number(token) == value for value in numbers):
            return True
        return token in body
    if token in body or token.strip("^=<>+-") in body:
        return True
    # A range or a list of names glued by a sign: each part has to be there.
    parts = [part for part in re.split(r"[-/:|^=+]|\.\.", token) if part]
    return len(parts) > 1 and all(said("number" if number(part) is not None else "name", part, body, numbers) for part in parts)


def exists(test):
    """Does a test of that name stand in the tree? `Suite.Name`, a ctest name, or file.py::Class.method."""
    if "::" in test:
        path, name = test.split("::", 1)
        return (ROOT / path).exists() and name.split(".")[-1] in (ROOT / path).read_text()
    suite, _, name = test.partition(".")
    pattern = re.compile(r"TEST(?:_[FP])?\(\s*%s\s*,\s*%s\s*\)" % (re.escape(suite), re.escape(name)))
    for folder in ("tests/unit", "tests/operator", "tests/client", "tests/agent"):
        for file in (ROOT / folder).rglob("*.cpp"):
            if name and pattern.search(file.read_text()):
                return True
    return any(test in file.read_text() for file in (ROOT / "tests").rglob("CMakeLists.txt"))


def check(case, expected, found, prose):
    body = found.get(case, "")
    numbers = numbers_in(body)
    excused = {row[1] for row in prose if row[0] in (case, "*")}
    missing = []
    for kind, token in tokens(expected):
        if token not in excused and not said(kind, token, body, numbers) and token not in missing:
            missing.append(token)
    return missing


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case")
    parser.add_argument("--corpus", default=os.environ.get("VERL_CORPUS", ROOT.parent / "shared" / "corpus"))
    options = parser.parse_args()
    table = pathlib.Path(options.corpus) / "cases.tsv"
    if not table.exists():
        if os.environ.get("CI") == "true":
            sys.exit(f"CI=true and no corpus at {table.parent}")
        print(f"skipped: no corpus at {table.parent}")
        return
    cases = {row[0]: row[4] for row in (line.split("\t") for line in table.read_text().splitlines()[1:])}
    found, prose = bodies(), rows("prose.tsv", 3)
    elsewhere, unwritten = rows("elsewhere.tsv", 3), rows("open.tsv", 2)
    problems = []
    for row in elsewhere:
        if not exists(row[1]):
            problems.append(f"{row[0]}: elsewhere.tsv names {row[1]}, which is no test of this tree")
    for case, body_id in [(row[0], row[0]) for row in prose + elsewhere + unwritten if row[0] != "*"]:
        if case not in cases:
            problems.append(f"{case}: no such case")
    asserted = 0
    for case, expected in cases.items():
        if options.case and case != options.case:
            continue
        if case in found:
            missing = check(case, expected, found, prose)
            if missing:
                problems.append(f"{case}: not asserted: {' '.join(missing)}")
            else:
                asserted += 1
        elif not any(row[0] == case for row in elsewhere + unwritten):
            problems.append(f"{case}: no test, and neither elsewhere.tsv nor open.tsv says why")
    print("\n".join(problems))
    print(f"{asserted} of {len(cases)} cases asserted whole here, {len({r[0] for r in elsewhere})} shown elsewhere, {len({r[0] for r in unwritten})} open; {len(problems)} problems")
    sys.exit(1 if problems else 0)


main()
