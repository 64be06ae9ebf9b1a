"""``mercer bench``."""

import json


def test_the_tables_of_benchmarks(run):
    tables = json.loads(run("bench", "list", "--json").stdout)["tables"]
    assert "maps" in tables
    done = run("bench", "run", "nonsense")
    assert (done.exit_code, "the tables are " in done.stderr) == (2, True)
