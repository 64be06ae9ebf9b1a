"""Put built pages into a site of all versions: ``python scripts/publish_docs.py build/docs site --version 0.2``.

A site holds one folder per version, ``dev`` for pages without one, a list that the switcher of every version reads
(``versions.json``), and a first page that leads to the newest version. Folders of other versions stay as they are.
"""

import argparse
import json
import re
import shutil
from pathlib import Path

_FIRST_PAGE = '<!doctype html>\n<meta charset="utf-8">\n<meta http-equiv="refresh" content="0; url={folder}/">\n'


def publish(pages: Path, site: Path, version: str = "dev", base: str = "/") -> list[dict[str, object]]:
    """Replace the folder of a version, and return the list of versions, the newest first."""
    if not (pages / "index.html").is_file():
        raise SystemExit(f"publish: {pages} holds no index.html. Build the pages: bash scripts/build_docs.sh")
    if version != "dev" and not re.fullmatch(r"\d+\.\d+", version):
        raise SystemExit(f"publish: a version is two numbers, such as 0.2, got {version!r}.")
    shutil.rmtree(site / version, ignore_errors=True)
    shutil.copytree(pages, site / version)
    released = [path.name for path in site.iterdir() if re.fullmatch(r"\d+\.\d+", path.name)]
    released.sort(key=lambda name: tuple(map(int, name.split("."))), reverse=True)
    folders = released + ["dev"] * (site / "dev").is_dir()
    listed: list[dict[str, object]] = [
        {"name": folder, "version": folder, "url": f"{base}{folder}/", "preferred": folder == folders[0]}
        for folder in folders
    ]
    (site / "versions.json").write_text(json.dumps(listed, indent=1), "utf-8")
    (site / "index.html").write_text(_FIRST_PAGE.format(folder=folders[0]), "utf-8")
    return listed


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", type=Path)
    parser.add_argument("site", type=Path)
    parser.add_argument("--version", default="dev", help="two numbers, such as 0.2; dev by default")
    parser.add_argument("--base", default="/", help="the path of the site at its host, such as /mercer/")
    given = parser.parse_args()
    given.site.mkdir(parents=True, exist_ok=True)
    for entry in publish(given.pages, given.site, given.version, given.base):
        print(entry["name"], entry["url"])
