"""Where the tests of this folder find the brute force."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # importlib mode adds no directory of its own
