#!/usr/bin/env python3
"""Every name in the installed NCCL library is in the catalogue or in the reviewed list of constants (constants.txt).

A name in a library is a text NCCL_[A-Z0-9_]+ between two NUL bytes: what getenv is called with, and words of enumerations.
The wheel is downloaded once with pip; its names are kept in the cache. Without a network the test is skipped, in CI it fails.
"""
import fcntl
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

VERSION = "2.32.3"
PACKAGE = f"nvidia-nccl-cu13=={VERSION}"
SOURCE = Path(__file__).resolve().parent
CATALOGUE = SOURCE.parent.parent / "src" / "common" / "diagnosis" / "nccl"
SKIPPED = 77


def cache_folder():
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = Path(home) / "verl-operator"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def names_in(library):
    """The lookahead leaves the closing NUL for the next name."""
    return {match.decode() for match in re.findall(rb"\0(NCCL_[A-Z0-9_]+)(?=\0)", library)}


def download(folder):
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--dest", folder, PACKAGE]
    subprocess.run(command, check=True, timeout=540)
    (wheel,) = Path(folder).glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (member,) = [name for name in archive.namelist() if name.endswith("/libnccl.so.2")]
        return names_in(archive.read(member))


def library_names():
    kept = cache_folder() / f"nccl-names-{VERSION}.txt"
    with open(kept.with_suffix(".lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            with tempfile.TemporaryDirectory(dir=cache_folder()) as folder:
                part = Path(folder) / "names"
                part.write_text("\n".join(sorted(download(folder))) + "\n", encoding="utf-8")
                part.rename(kept)
        return set(kept.read_text(encoding="utf-8").split())


def catalogue_names():
    rows = [re.findall(r'^    \{"([A-Z0-9_]+)", ', path.read_text(encoding="utf-8"), re.M) for path in sorted(CATALOGUE.glob("catalogue_*.cpp"))]
    return [name for table in rows for name in table]


def constants():
    lines = (SOURCE / "constants.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def complaints(library, catalogue, reviewed):
    yield from (f"{name} is in the library {VERSION} and unknown here" for name in sorted(library - set(catalogue) - set(reviewed)))
    yield from (f"{name} is both in the catalogue and in constants.txt" for name in sorted(set(catalogue) & set(reviewed)))
    yield from (f"{name} stands in constants.txt and not in the library" for name in sorted(set(reviewed) - library))
    yield from (f"{name} stands twice in the catalogue" for name in sorted({one for one in catalogue if catalogue.count(one) > 1}))
    if len(library) < 300 or len(catalogue) < 450:
        yield f"only {len(library)} names in the library and {len(catalogue)} in the catalogue: the extraction is wrong"


def main():
    assert names_in(b"\0NCCL_A\0NCCL_B\0xNCCL_C\0NCCL_D %s\0") == {"NCCL_A", "NCCL_B"}
    try:
        library = library_names()
    except (OSError, subprocess.SubprocessError) as error:
        print(f"cannot get {PACKAGE}: {error}")
        return 1 if os.environ.get("CI") == "true" else SKIPPED
    found = list(complaints(library, catalogue_names(), constants()))
    print("\n".join(found) or f"{len(library)} names, all known")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
