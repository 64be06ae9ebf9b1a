"""Speed against the peers, as ratios within one run, with the answer checked before it is timed.

``python -m benchmarks maps`` prints a table and writes it as JSON with the machine's description.
"""
