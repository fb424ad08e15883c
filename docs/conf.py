"""Settings of the documentation; `make docs` builds it and treats warnings as errors."""

import os
import re
from importlib.metadata import version as installed_version

project = "localmdi"
author = "The localmdi developers"
version = release = installed_version("localmdi")

extensions = [
    "matplotlib.sphinxext.plot_directive",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "_static", "_templates"]
html_static_path = ["_static"]
html_css_files = ["narrow.css"]
html_theme = "pydata_sphinx_theme"
html_title = "localmdi"
html_extra_path = ["paper"]  # the reproduction, one page that `python -m paper --full` made
html_theme_options = {
    "header_links_before_dropdown": 4,
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
}
# The published pages choose among versions: every one of them asks the newest for the list,
# docs/_static/switcher.json. Pages that are read from a disk cannot ask, and have no menu.
published_at = os.environ.get("READTHEDOCS_CANONICAL_URL")
if published_at:
    newest = published_at.rstrip("/").rsplit("/", 1)[0] + "/latest/_static/switcher.json"
    html_theme_options |= {
        "switcher": {"json_url": newest, "version_match": version},
        "check_switcher": False,  # a test reads the list; building needs no network
        "navbar_end": ["version-switcher", "theme-switcher"],
    }
# The four parts are in the header; a landing page has nothing beside it.
html_sidebars = {"index": []}

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

# One page per public object; a class page lists its members once, by autodoc.
autosummary_generate = True
autodoc_member_order = "bysource"
default_role = "autolink"  # `local_mdi` in a docstring is a link
autodoc_typehints = "none"  # the types stand in the numpydoc sections
numpydoc_show_class_members = False

# Pictures: the page on displays draws its own, and every example is run.
plot_formats = [("png", 110)]
plot_include_source = True
plot_html_show_formats = False
plot_html_show_source_link = False
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "within_subsection_order": "FileNameSortKey",
    "capture_repr": (),  # a display is seen, not printed
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "remove_config_comments": True,
    "write_computation_times": False,
    "min_reported_time": float("inf"),
    # Every page of the API shows the examples that use its function, with their pictures.
    "doc_module": ("localmdi",),
    "backreferences_dir": "generated/backreferences",
}

# `make links` asks other sites; pages that a release will put there are not asked for.
linkcheck_ignore = [
    r"https://localmdi\.readthedocs\.io.*",
    r"https://github\.com/localmdi/localmdi.*",
]
linkcheck_anchors_ignore_for_url = [r"https://github\.com/.*"]  # made by scripts
linkcheck_timeout = 20
linkcheck_retries = 3
linkcheck_rate_limit_timeout = 60.0
linkcheck_report_timeouts_as_broken = False


def escape_bars(app, what, name, obj, options, lines):
    """Keep |S| in prose as it is written; to reStructuredText it would be a substitution."""
    in_example = False
    for index, line in enumerate(lines):
        in_example = line.lstrip().startswith(">>>") or (in_example and bool(line.strip()))
        if not in_example:
            parts = line.split("``")  # every second part is a literal
            parts[::2] = [part.replace("|", r"\|") for part in parts[::2]]
            lines[index] = "``".join(parts)


def skip_generated(app, what, name, obj, skip, options):
    """Leave out scikit-learn's metadata routing: its generated docstrings link to its own pages."""
    return True if re.fullmatch(r"set_\w+_request|get_metadata_routing", name) else None


def link_gallery(app, docname, source):
    """Turn links to an example's program, which are right in the repository, into its page."""
    source[0] = re.sub(r"\]\(\.\./examples/(\w+)\.py\)", r"](gallery/\1.rst)", source[0])


def setup(app):
    app.connect("source-read", link_gallery)
    app.connect("autodoc-skip-member", skip_generated)
    after_numpydoc = 900
    app.connect("autodoc-process-docstring", escape_bars, priority=after_numpydoc)
