"""Fail if the linker could replace code of one instruction-set object by code of another.

An inline function or template that two objects define is a weak (or GNU unique) symbol. The linker keeps one body for
both, possibly one with instructions that an older processor lacks. So the objects of csrc/level_*.cpp must define no
such symbol. The only global symbol that they define is their table.

    python scripts/check_symbols.py [BUILD_DIRECTORY]

Without a directory, a build is made in a temporary one.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SHARED = {"W": "weak", "w": "weak", "V": "weak object", "v": "weak object", "u": "unique"}
TABLE = re.compile(r"mercer::level_\w+::level$")
SYMBOL = re.compile(r"^(?P<address>[0-9a-f]*)\s+(?P<kind>\w) (?P<name>.*)$")


def build(directory: Path) -> None:
    configure = ["cmake", "-S", str(ROOT), "-B", str(directory), f"-DPython_EXECUTABLE={sys.executable}"]
    subprocess.run(configure, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", str(directory)], check=True, stdout=subprocess.DEVNULL)


def complaints(path: Path) -> list[str]:
    """Return one line for each symbol that the object should not define."""
    listing = subprocess.run(["nm", "--demangle", str(path)], check=True, capture_output=True, text=True).stdout
    found = []
    for line in listing.splitlines():
        symbol = SYMBOL.match(line.strip())
        if symbol is None or not symbol["address"]:  # undefined here, defined in another object
            continue
        kind, name = symbol["kind"], symbol["name"]
        if kind in SHARED:
            found.append(f"{path.name}: {SHARED[kind]} symbol {name}")
        elif kind.isupper() and not TABLE.match(name):
            found.append(f"{path.name}: global symbol {name}")
    return found


def check(directory: Path) -> int:
    objects = sorted(path for path in directory.rglob("level_*") if path.suffix in {".o", ".obj"})
    if not objects:
        print(f"no object of csrc/level_*.cpp under {directory}")
        return 1
    found = [complaint for path in objects for complaint in complaints(path)]
    print("\n".join(found) if found else f"{len(objects)} instruction-set objects share no symbol")
    return 1 if found else 0


def main() -> int:
    if len(sys.argv) > 1:
        return check(Path(sys.argv[1]))
    with tempfile.TemporaryDirectory() as directory:
        build(Path(directory))
        return check(Path(directory))


if __name__ == "__main__":
    sys.exit(main())
