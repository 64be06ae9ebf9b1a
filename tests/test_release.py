"""What a release needs: one version everywhere, notes with a date, a site of all versions, a workflow of wheels."""

import importlib.util
import json
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def _script(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_package_citation_and_changelog_name_one_version():
    version = _project()["project"]["version"]
    assert re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), flags=re.MULTILINE)[1] == version
    newest = re.search(r"^## (\S+) \((.+)\)$", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)
    assert newest[1] == version


NOTES = "# Changelog\n\n## 0.2.0 (unreleased)\n\n- new\n\n## 0.1.0 (2026-01-31)\n\n- old\n- older\n"


def test_the_notes_of_a_release_are_its_section():
    assert _script("release_notes").section(NOTES, "0.1.0") == "- old\n- older"


@pytest.mark.parametrize(("version", "message"), [("0.2.0", "has no date"), ("0.3.0", "has no section")])
def test_a_version_without_date_or_section_is_refused(version, message):
    with pytest.raises(SystemExit, match=message):
        _script("release_notes").section(NOTES, version)


def test_a_site_holds_all_versions_and_leads_to_the_newest(tmp_path):
    publish = _script("publish_docs").publish
    pages, site = tmp_path / "pages", tmp_path / "site"
    pages.mkdir()
    site.mkdir()
    (pages / "index.html").write_text("first")
    for version in ("dev", "0.9", "0.10"):
        publish(pages, site, version, "/mercer/")
    (pages / "index.html").write_text("second")
    publish(pages, site, "dev", "/mercer/")
    listed = json.loads((site / "versions.json").read_text())
    assert [entry["version"] for entry in listed] == ["0.10", "0.9", "dev"]  # by number, not by letter
    assert [entry["preferred"] for entry in listed] == [True, False, False]
    assert listed[0]["url"] == "/mercer/0.10/"
    assert "url=0.10/" in (site / "index.html").read_text()
    assert (site / "dev/index.html").read_text() == "second"
    assert (site / "0.9/index.html").read_text() == "first"


def test_wrong_versions_and_unbuilt_pages_are_refused(tmp_path):
    publish = _script("publish_docs").publish
    with pytest.raises(SystemExit, match=r"holds no index\.html"):
        publish(tmp_path, tmp_path / "site")
    (tmp_path / "index.html").write_text("")
    with pytest.raises(SystemExit, match="a version is two numbers"):
        publish(tmp_path, tmp_path / "site", "../elsewhere")


def test_wheels_are_built_for_three_systems_and_tried():
    workflow = (ROOT / ".github/workflows/wheels.yml").read_text()
    for system in ("ubuntu-24.04,", "macos-15,", "windows-2022]"):
        assert system in workflow
    settings = _project()["tool"]["cibuildwheel"]
    assert "scripts/smoke_test.py" in settings["test-command"]
    assert settings["environment"]["MERCER_REQUIRE_COMPILED"] == "1"
    for script in re.findall(r"scripts/\w+\.\w+", workflow + settings["test-command"]):
        assert (ROOT / script).is_file(), script
