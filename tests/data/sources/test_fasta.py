"""FASTA files."""

import bz2
import gzip

import numpy as np
import pytest

from mercer.data import TableError, as_blocks, open_source
from mercer.structures import Strings
from mercer.testing import check_reader

SEQUENCES = ["ACGTACGTAA", "", "GG", "ACGT" * 50, "TTnnTT", "A"]
LABELS = np.array(["x", "y", "x", "x", "y", "two words"], dtype=object)


def written(line=60):
    parts = []
    for i, (sequence, label) in enumerate(zip(SEQUENCES, LABELS, strict=True)):
        lines = [sequence[j : j + line] for j in range(0, len(sequence), line)]
        parts.append("\n".join([f">read{i} {label}", *lines]) + "\n")
    return "".join(parts).encode()


@pytest.mark.parametrize(("suffix", "pack"), [(".fasta", bytes), (".fa.gz", gzip.compress), (".fna.bz2", bz2.compress)])
def test_the_laws_of_a_source(tmp_path, suffix, pack):
    path = tmp_path / f"reads{suffix}"
    path.write_bytes(pack(written()))
    X = Strings(SEQUENCES)
    check_reader(lambda: path, X)
    check_reader(lambda: as_blocks(path, target="description"), X, LABELS)
    ids = np.array([f"read{i}" for i in range(len(SEQUENCES))], dtype=object)
    check_reader(lambda: as_blocks(path, target="id"), X, ids)


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 64])
def test_records_are_found_wherever_the_file_is_cut(tmp_path, monkeypatch, chunk):
    monkeypatch.setattr("mercer.data.sources.fasta._CHUNK_BYTES", chunk)
    path = tmp_path / "reads.fasta"
    path.write_bytes(written(line=3).replace(b"\n", b"\r\n"))
    found = [text for block in as_blocks(path) for text in block.tolist()]
    assert found == [text.encode() for text in SEQUENCES]


def test_white_space_and_signs_inside_records(tmp_path):
    path = tmp_path / "reads.fasta"
    path.write_bytes(b"\n\n>a >b\n AC GT\t\n\nAC*-\n>c\nA>C")
    [block] = as_blocks(path, target="id").labelled()
    assert block.X.tolist() == [b"ACGTAC*-", b"A>C"]
    assert block.y.tolist() == ["a", "c"]


def test_faults_are_named(tmp_path):
    path = tmp_path / "reads.fasta"
    path.write_text(">a x\nAC\n>b\nGG\n")
    with pytest.raises(TableError, match=r"record 1 has no description, which is the target"):
        list(as_blocks(path, target="description"))
    path.write_text("ACGT\n>a\nAC\n")
    with pytest.raises(TableError, match=r"record 0 must begin with '>', got b'ACGT"):
        list(as_blocks(path))
    path.write_text("\n")
    with pytest.raises(TableError, match="there are no records"):
        list(as_blocks(path))
    with pytest.raises(TableError, match="'sequence' is the column of objects"):
        as_blocks(path, target="sequence")
    with pytest.raises(TableError, match=r"'lable' is not a column"):
        as_blocks(path, target="lable")
    with pytest.raises(TableError, match="leave columns out"):
        as_blocks(path, columns=["id"])
    whole = gzip.compress(written())
    (tmp_path / "cut.fa.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(TableError, match="not a readable FASTA file"):
        list(as_blocks(tmp_path / "cut.fa.gz"))


def test_the_columns_of_a_source(tmp_path):
    path = tmp_path / "reads.faa"
    path.write_text(">a x\nAC\n")
    source = open_source(path)
    assert dict(source.kinds) == {"sequence": "object", "id": "category", "description": "category"}
    assert source.type_of("id") == "text"
