"""The folder on the path, for per_row.py: importlib mode adds no directory of its own."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
