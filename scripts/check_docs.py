"""Check the built documentation: every public name has an entry, every link a target, no page needs a network."""

import importlib
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sphinx.util.inventory import InventoryFile

import mercer

PACKAGES = ("kernels", "structures", "features", "gram", "learners", "data", "datasets", "storage", "bench", "testing")


class _Links(HTMLParser):
    """The links and anchors of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.anchors.add(value)
            elif name in {"href", "src"} and value and tag in {"a", "img", "script", "link"}:
                self.links.append(value)


def missing_entries(folder: Path) -> list[str]:
    """Return the public names without an entry, neither under their package nor under ``mercer``."""
    with (folder / "objects.inv").open("rb") as file:
        inventory = InventoryFile.load(file, "", lambda base, path: path)
    known = {name for kind, names in inventory.items() if kind.startswith("py:") for name in names}
    public = {f"mercer.{name}" for name in mercer.__all__ if not name.startswith("_") and name != "datasets"}
    public |= {f"mercer.config.{name}" for name in ("Config", "config_context", "get_config")}
    for package in PACKAGES:
        public |= {f"mercer.{package}.{name}" for name in importlib.import_module(f"mercer.{package}").__all__}
    return sorted(name for name in public if name not in known and f"mercer.{name.rpartition('.')[2]}" not in known)


def broken_links(folder: Path) -> list[str]:
    """Return the links between pages, to anchors and to files, that lead nowhere."""
    pages = {}
    for path in folder.rglob("*.html"):
        if "_static" not in path.parts:
            pages[path] = _Links()
            pages[path].feed(path.read_text())
    broken = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchors = pages[target].anchors if target in pages else {parts.fragment}
            if not target.exists() or (parts.fragment and unquote(parts.fragment) not in anchors):
                broken.append(f"{path}: {link}")
    return broken


def network(folder: Path) -> list[str]:
    """Return the scripts, styles and images that a page would load from the network."""
    pattern = re.compile(r'<(?:script|img|link rel="stylesheet")[^>]+(?:src|href)="https?:')
    pages = (path for path in folder.rglob("*.html") if "_static" not in path.parts)
    return [str(path) for path in pages if pattern.search(path.read_text())]


def main() -> None:
    folder = Path(sys.argv[1]).resolve()
    wrong = [f"no entry for {name}" for name in missing_entries(folder)]
    wrong += [f"broken link: {link}" for link in broken_links(folder)]
    wrong += [f"loads from the network: {page}" for page in network(folder)]
    print("\n".join(wrong), end="\n" if wrong else "")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
