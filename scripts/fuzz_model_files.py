"""Load mutated model files: every one must load or raise ModelFileError, and never run, crash or hang.

Half of the files are mutated at random bytes (flipped, cut, repeated, zeroed, spliced with another file), which the
checksum must notice. The other half are forged: their description or arrays are changed in meaningful ways and the
checksum is made right again, so that the decoder itself is tried; where such a model loads it is also used, and may
then raise an ordinary error.

    python scripts/fuzz_model_files.py --files 10000 --seed 0
"""

import argparse
import hashlib
import io
import json
import random
import sys
import time
import warnings
from collections import Counter

import numpy as np
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer.storage import ModelFileError, container, dumps, load

SLOWEST = 5.0  # seconds that one file may take
ROWS = np.random.RandomState(0).rand(120, 4)
STRANGE = [
    None, True, -1, 0, 2**63, 10**30, 1e308, "", "x", "__class__", "os.system", "Gaussian", "TensorSketch", "coef_",
    [], {}, [[]], {"kind": "array", "tensor": "t0"}, {"kind": "array", "tensor": "t9999"}, {"kind": "pickle"},
    {"kind": "float", "value": "nan"}, {"kind": "list", "items": [1, 2]}, {"kind": "slice", "value": [0, 1, 2]},
    {"kind": "kernel", "class": "Polynomial", "fields": {"degree": 65536}},
    {"kind": "kernel", "class": "VovkPolynomial", "fields": {"degree": 10**9}},
    {"kind": "estimator", "class": "KernelRidge", "params": {}, "state": {"predict": 1}},
    {"kind": "estimator", "class": "sklearn.pipeline.Pipeline", "params": {"steps": []}, "state": {}},
]  # fmt: skip


def models():
    """Return a few fitted models that together hold every kind of node."""
    labels = np.array(["a", "b", "c"], dtype=object)[np.arange(len(ROWS)) % 3]
    gaussian = mercer.Gaussian(gamma=1.0)
    yield mercer.KernelRidgeClassifier(gaussian + 0.1 * mercer.Linear(), n_components=16, random_state=0).fit(
        ROWS, labels
    )
    yield mercer.TensorSketch(gaussian, n_components=16, random_state=np.random.RandomState(0)).fit(ROWS)
    yield mercer.MEKA(gaussian, n_clusters=2, rank=3, random_state=0).fit(ROWS)
    composed = mercer.Composed(mercer.Exponential(gamma=1.0), gaussian)
    yield mercer.RandomMaclaurin(composed, n_components=8, random_state=0).fit(ROWS)
    sparse_rows = sparse.csr_array(np.where(ROWS > 0.5, ROWS, 0))
    yield mercer.Nystroem(gaussian, n_components=5, random_state=0).fit(sparse_rows)
    yield mercer.Fastfood(gaussian, n_components=16, random_state=0).fit(ROWS)
    yield mercer.KernelRidge(alpha="gcv", alphas=[0.1, 1.0], n_components=8, random_state=0).fit(ROWS, ROWS[:, :2])
    yield make_pipeline(StandardScaler(), mercer.KernelRidge(n_components=4, random_state=0)).fit(ROWS, ROWS[:, 0])


def damaged(data, others, rng):
    """Return the bytes changed at a random place."""
    data = bytearray(data)
    where = rng.randrange(min(len(data), 4000)) if rng.random() < 0.7 else rng.randrange(len(data))
    way = rng.randrange(6)
    if way == 0:
        data[where] ^= 1 << rng.randrange(8)
    elif way == 1:
        del data[where:]
    elif way == 2:
        data[where:where] = data[where : where + rng.randrange(1, 100)] or b"\0"
    elif way == 3:
        size = rng.randrange(1, 50)
        data[where : where + size] = rng.randbytes(size)
    elif way == 4:
        other = rng.choice(others)
        data[where:] = other[where:]
    else:
        data[:8] = rng.choice([0, 1, 2**31, 2**62, len(data), rng.randrange(10_000)]).to_bytes(8, "little")
    return bytes(data)


def forged(data, rng):
    """Return a file with changed contents and a right checksum."""
    about, tensors = container.read(io.BytesIO(data))
    for _ in range(rng.randrange(1, 4)):
        if rng.random() < 0.7:
            holder, key = rng.choice(list(places(about)))
            changed(holder, key, rng)
        elif tensors:
            name = rng.choice(list(tensors))
            tensors[name] = changed_array(tensors[name], rng)
    try:
        return bytes(container.to_bytes(about, tensors))
    except ValueError:  # a mutation that is no JSON at all
        return data


def places(node):
    """Yield every (holder, key) of a tree of lists and dicts."""
    keys = range(len(node)) if isinstance(node, list) else list(node)
    for key in keys:
        yield node, key
        if isinstance(node[key], list | dict):
            yield from places(node[key])


def changed(holder, key, rng):
    way = rng.randrange(4)
    if way == 0 and isinstance(holder, dict):
        holder[rng.choice(["predict", "__dict__", "__class__", "kernel_", "x_", "_fit", "coef_", "class"])] = (
            holder.pop(key)
        )
    elif way == 1 and isinstance(holder[key], list) and holder[key]:
        holder[key] = rng.choice([holder[key][:-1], holder[key] * 2, [holder[key]]])
    elif way == 2 and isinstance(holder[key], int | float) and not isinstance(holder[key], bool):
        holder[key] = rng.choice([-1, 0, 1, 7, 2**31, 2**62, 0.5, holder[key] + 1])
    else:
        holder[key] = json.loads(json.dumps(rng.choice(STRANGE)))


def changed_array(values, rng):
    way = rng.randrange(4)
    if way == 0:
        return np.zeros(tuple(rng.randrange(4) for _ in range(rng.randrange(4))), dtype=values.dtype)
    if way == 1:
        return values.astype(rng.choice(["f4", "f8", "i4", "i8", "u1", "?"]))
    noisy = bytearray(values.tobytes())
    for _ in range(min(len(noisy), 5)):
        noisy[rng.randrange(len(noisy))] = rng.choice([0, 255, rng.randrange(256)])
    return np.frombuffer(bytes(noisy), dtype=values.dtype).reshape(values.shape)


def used(model):
    """Use a model that loaded from a forged file; any ordinary error will do."""
    for name in ("predict", "transform"):
        if not hasattr(type(model), name):
            continue
        try:
            with mercer.config_context(memory=2**30):
                getattr(model, name)(ROWS[:5])
        except Exception as error:
            return type(error).__name__
    return "works"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rng = random.Random(options.seed)  # noqa: S311
    originals = [dumps(model) for model in models()]
    known = {hashlib.sha256(data).digest() for data in originals}
    outcomes, faults, slowest = Counter(), [], 0.0
    for number in range(options.files):
        forge = number % 2 == 1
        original = rng.choice(originals)
        data = forged(original, rng) if forge else damaged(original, originals, rng)
        begin = time.perf_counter()
        try:
            model = load(io.BytesIO(data))
            is_same = hashlib.sha256(data).digest() in known
            outcomes["unchanged" if is_same else "forged, loads" if forge else "DAMAGED, LOADS"] += 1
            if not is_same and not forge:
                faults.append((number, "a damaged file loads"))
            elif forge:
                outcomes[f"forged, loads, then {used(model)}"] += 1
        except ModelFileError:
            outcomes["forged, refused" if forge else "damaged, refused"] += 1
        except Exception as error:
            faults.append((number, repr(error)))
        slowest = max(slowest, time.perf_counter() - begin)
    for name, count in sorted(outcomes.items()):
        sys.stdout.write(f"{count:7d}  {name}\n")
    sys.stdout.write(f"slowest file {slowest:.2f} s; {len(faults)} faults\n")
    for number, fault in faults[:20]:
        sys.stdout.write(f"file {number}: {fault}\n")
    return 1 if faults or slowest > SLOWEST else 0


if __name__ == "__main__":
    sys.exit(main())
