"""Settings of the documentation; `make docs` builds it and treats warnings as errors."""

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
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "_templates"]
html_theme = "pydata_sphinx_theme"
html_title = "localmdi"
html_extra_path = ["paper"]  # the reproduction, one page that `python -m paper --full` made
html_sidebars = {
    page: []
    for page in (
        "index",
        "adapters",
        "grow",
        "infinite",
        "plots",
        "report",
        "cli",
        "paper",
        "evaluation",
        "architecture",
        "stability",
        "contributing",
        "changelog",
    )
}

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

# One page per public object; a class page lists its members once, by autodoc.
autosummary_generate = True
autodoc_member_order = "bysource"
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
}


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


def setup(app):
    app.connect("autodoc-skip-member", skip_generated)
    after_numpydoc = 900
    app.connect("autodoc-process-docstring", escape_bars, priority=after_numpydoc)
