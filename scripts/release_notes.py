"""Print the section of CHANGELOG.md that belongs to a version: ``python scripts/release_notes.py 0.1.0``."""

import re
import sys
from pathlib import Path

CHANGELOG = Path(__file__).parents[1] / "CHANGELOG.md"


def section(text: str, version: str) -> str:
    """Return the lines below the heading of a version, which must say when it was released."""
    found = re.search(rf"^## {re.escape(version)} \((.*?)\)\n(.*?)(?=^## |\Z)", text, flags=re.DOTALL | re.MULTILINE)
    if found is None:
        sys.exit(f"release notes: CHANGELOG.md has no section '## {version} (date)'.")
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", found[1]):
        sys.exit(f"release notes: version {version} has no date in CHANGELOG.md, but ({found[1]}).")
    return found[2].strip()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print(section(CHANGELOG.read_text(encoding="utf-8"), sys.argv[1]))
