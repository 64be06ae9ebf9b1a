"""Importing mercer is light; its names are lazy, few, and those of the typed stub."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import mercer


def _run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_import_loads_neither_scipy_nor_scikit_learn():
    loaded = _run("import sys, mercer; print(sorted({m.partition('.')[0] for m in sys.modules}))")
    assert not {"scipy", "sklearn", "numpy"} & set(ast.literal_eval(loaded))


def test_every_public_name_loads():
    for name in mercer.__all__:
        assert getattr(mercer, name) is not None
    assert set(mercer.__all__) == set(dir(mercer))


def test_the_lazy_names_are_those_of_the_stub():
    stub = ast.parse(Path(mercer.__file__).with_suffix(".pyi").read_text())
    imported = [
        (alias.asname, node.module) for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names
    ]
    assert dict(imported) == mercer._MODULE_OF
    assert len(imported) == len(dict(imported))
    assert {"__version__", *dict(imported)} == set(mercer.__all__)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Nonsense'"):
        _ = mercer.Nonsense


def test_show_versions_says_which_core(capsys):
    mercer.show_versions()
    printed = capsys.readouterr().out
    assert "core: " in printed
    assert "simd: " in printed
    assert "threads: " in printed


def test_the_top_is_small_enough_to_read():
    names = [name for name in mercer.__all__ if name != "__version__"]
    assert len(names) <= 75, "leave what operators and feature_map make in mercer.kernels and mercer.features"


def test_names_of_scikit_learn_say_what_takes_their_place():
    with pytest.raises(AttributeError, match=r"'RBFSampler'. Take mercer.FourierFeatures\(Gaussian\(gamma=...\)\)$"):
        _ = mercer.RBFSampler
    for spelled in mercer._SPELLED.values():
        assert spelled.partition("(")[0] in mercer.__all__
    with pytest.raises(AttributeError, match=r"no attribute 'nothing'$"):
        _ = mercer.nothing
