"""Sphinx configuration. ``scripts/build_docs.sh`` builds the pages and runs every code block in them."""

import os
import sys
from importlib.metadata import version as version_of
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
# MathJax's own files, so that formulas need no network to be read.
MATHJAX = str(Path(find_spec("sphinx-mathjax-offline").origin).parent / "static")
os.environ.setdefault("MERCER_PAPERS", str(HERE.parent / "papers"))
# The path of the site at its host.
BASE = os.environ.get("MERCER_DOCS_BASE", "/")

project = "mercer"
author = "The mercer developers"
copyright = "the mercer developers, BSD-3 licence"
version = release = version_of("mercer")

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx_gallery.gen_gallery",
    "run_blocks",
    "paper_verdicts",
    "docstrings",
    "benchmark_figure",
    "api_index",
    "notebooks",
]
notebook_pages = ["tutorial"]
exclude_patterns = ["_build", "api/generated/*.txt", "examples", "README.md"]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
templates_path = ["_templates"]
suppress_warnings = ["config.cache"]  # sphinx-gallery's settings hold functions

myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "attrs_block"]
myst_heading_anchors = 3
mathjax_path = "mathjax/tex-chtml.js"
mathjax4_config = mathjax3_config = {"options": {"enableMenu": False}}

autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r".*\.py",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "remove_config_comments": True,
    "image_scrapers": ("matplotlib",),
    "abort_on_example_error": True,
    "reset_modules": ("matplotlib", "gallery_style.reset"),
    "default_thumb_file": None,
    "parallel": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "mercer"
html_static_path = ["_static", MATHJAX]
html_css_files = ["mercer.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "mercer"},
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "navbar_align": "left",
    "header_links_before_dropdown": 8,
    "show_prev_next": False,
    # scripts/publish_docs.py writes the list of versions, at the root of a site that holds a folder per version.
    "switcher": {
        "json_url": f"{BASE}versions.json",
        "version_match": os.environ.get("MERCER_DOCS_VERSION", "dev"),
    },
    "check_switcher": False,
    "navbar_end": ["version-switcher", "theme-switcher"],
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "tutorial": [], "choosing": [], "papers": []}
