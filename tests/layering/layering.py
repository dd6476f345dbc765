#!/usr/bin/env python3
"""Checks every project include against the arrow table of docs/architecture.md.

usage: layering.py [--root DIR] [--seed]
--seed also plants violations in a copy of the tree and fails unless each is found.
"""
import argparse
import pathlib
import re
import shutil
import sys
import tempfile

SOURCES = {".h", ".cpp", ".cu", ".c"}
TREES = ["src/common", "operator", "node-agent", "kubectl-verl"]
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def read_table(root):
    """folder → set of folders it may include, all relative to the root."""
    text = (root / "docs/architecture.md").read_text()
    section = text.split("## Arrow table", 1)[1]
    table = {}
    for row in re.findall(r"^\| `([^`]+)`[^|]* \| ([^|]+) \|$", section, re.M):
        allowed = set()
        for name in (part.strip() for part in row[1].split(",")):
            if name != "nothing":
                allowed.add(name if (root / name).is_dir() or name.startswith(("operator", "node-agent", "kubectl")) else "src/common/" + name)
        table[row[0]] = allowed
    return table


def folder_of(table, path):
    """The longest folder of the table that holds the path."""
    best = None
    for folder in table:
        if path.startswith(folder + "/") and (best is None or len(folder) > len(best)):
            best = folder
    return best


def find_include(root, including, name):
    """The project file that an include names, relative to the root, or None."""
    for base in (root, root / "src/common", including.parent):
        file = base / name
        if file.is_file() and root in file.resolve().parents:
            return str(file.resolve().relative_to(root))
    return None


def check(root):
    root = root.resolve()
    table, problems = read_table(root), []
    for tree in TREES:
        for file in sorted((root / tree).rglob("*")):
            if file.suffix not in SOURCES:
                continue
            path = str(file.relative_to(root))
            source = folder_of(table, path)
            if file.name != "main.cpp" and source is None:
                problems.append(f"{path}: its folder is not in the arrow table")
                continue
            for number, line in enumerate(file.read_text().splitlines(), 1):
                found = INCLUDE.match(line)
                if not found:
                    continue
                target = find_include(root, file, found[2])
                if target is None:
                    continue
                at = f"{path}:{number}: includes {target}"
                if found[1] == "<":
                    problems.append(f"{at} with angle brackets")
                if target.endswith("main.cpp"):
                    problems.append(f"{at}; nothing includes a main")
                if file.name == "main.cpp":
                    continue
                wanted = folder_of(table, target)
                if wanted is None:
                    problems.append(f"{at}, whose folder is not in the arrow table")
                elif wanted != source and wanted not in table[source]:
                    problems.append(f"{at}; {source} may not include {wanted}")
    return problems


SEEDS = [
    ("src/common/base/seeded.cpp", '#include "api/condition.h"\n'),
    ("src/common/base/seeded.cpp", "#include <base/text.h>\n"),
    ("operator/core/seeded.cpp", '#include "codec/decode.h"\n'),
    ("src/common/kube/runtime/seeded.cpp", '#include "kube/client/transport.h"\n'),
    ("src/common/unlisted/seeded.cpp", "int x;\n"),
    ("operator/core/placement/seeded.h", '#include "operator/snapshot/assemble.h"\n'),
]


def seeded(root):
    missed = []
    for name, text in SEEDS:
        with tempfile.TemporaryDirectory() as copy_name:
            copy = pathlib.Path(copy_name)
            for tree in TREES + ["docs"]:
                shutil.copytree(root / tree, copy / tree)
            file = copy / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
            if not any("seeded" in problem for problem in check(copy)):
                missed.append(f"a planted violation was not found: {name}: {text.strip()}")
    return missed


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("--seed", action="store_true")
    options = parser.parse_args()
    problems = check(options.root)
    if options.seed:
        problems += seeded(options.root)
    print("\n".join(problems) if problems else "every include follows the arrow table")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
