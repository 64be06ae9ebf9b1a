"""Tests stand where their source stands: src/mercer/a/b.py is tested by tests/a/test_b.py.

``ELSEWHERE`` lists modules whose tests stand in another place, with the reason.
"""

import ast
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parent
SOURCE = TESTS.parent / "src" / "mercer"

# Modules, or folders of them, by the tests that hold theirs.
ELSEWHERE = {
    "bench/comparison.py": ("cli/test_compare.py", "the experiment is tested by the command that runs it"),
    "data/lazy.py": ("engines/test_dask.py", "lazy results need a cluster that is started once"),
    "data/opening.py": ("data/test_blocks.py", "blocks are tested as they are made"),
    "data/sources/collections.py": ("engines/test_dask.py", "collections need a cluster that is started once"),
    "data/sources/compression.py": ("data/sources/test_files.py", "one law holds for all formats and compressions"),
    "data/sources/matrices.py": ("data/sources/test_files.py", "one law holds for all formats and compressions"),
    "features/structured/draws.py": ("features/structured/test_part_features.py", "two short draws of one map"),
    "kernels/structured/alphabets.py": ("kernels/structured/test_spectrum.py", "letters are tested in the kernels"),
    "learners/ridge_base.py": ("learners/test_ridge.py", "the base is tested by the learners that it is the base of"),
    "reference": ("core", "every primitive is compared with its compiled twin, and both with the definition"),
    "state": ("storage", "declarations are tested on the model files that they guard"),
    "validation": ("features/test_bad_input.py", "errors are tested where users meet them"),
    "stats/cross_moments.py": ("stats/test_base.py", "the laws of all sums are one test"),
    "stats/gradient.py": ("stats/test_base.py", "the laws of all sums are one test"),
    "stats/totals.py": ("stats/test_base.py", "the laws of all sums are one test"),
    "storage/decoder.py": ("storage/test_models.py", "decoder and encoder are tested by a round trip"),
    "storage/encoder.py": ("storage/test_models.py", "decoder and encoder are tested by a round trip"),
    "storage/foreign_rules.py": ("storage/test_foreign.py", "rules are tested by the pipelines that they guard"),
    "storage/registry.py": ("storage/test_models.py", "classes are registered to be saved and loaded"),
    "testing/estimators.py": (
        "test_refits.py",
        "rows and outputs for the law of refits",
    ),
    "testing/learners.py": ("learners", "every learner runs check_learner"),
    "versions.py": ("test_import.py", "one function, which prints"),
}


@cache
def modules():
    """Return the modules that define functions or classes (more than errors without code), by their paths."""
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        tree = ast.parse(path.read_text())
        defines = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
        only_names = path.name == "errors.py" and not any(isinstance(node, ast.FunctionDef) for node in ast.walk(tree))
        if defines and not only_names and path.name not in {"__init__.py", "__main__.py"}:
            found.append(str(path.relative_to(SOURCE)))
    return found


def has_its_test(module):
    path = Path(module)
    return (TESTS / path.parent / f"test_{path.name}").exists()


def is_elsewhere(module):
    return any(str(parent) in ELSEWHERE for parent in [Path(module), *Path(module).parents])


def test_every_module_has_its_test_in_its_place_or_says_where():
    without = [module for module in modules() if not has_its_test(module) and not is_elsewhere(module)]
    assert without == [], "write tests/<folder>/test_<module>.py, or say in ELSEWHERE where these are tested, and why"


def test_tests_elsewhere_exist():
    assert [place for place, _ in ELSEWHERE.values() if not (TESTS / place).exists()] == []
    assert [module for module in ELSEWHERE if not (SOURCE / module).exists() or has_its_test(module)] == []
