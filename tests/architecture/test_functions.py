"""Functions stay short, simple, and readable where they are called."""

import re
import subprocess
import sys

import lizard

from architecture.source import (
    PYTHON_FOLDERS,
    ROOT,
    assert_none,
    cpp_files,
    functions,
    is_test,
    relative,
)

MAX_LINES = 80
MAX_COMPLEXITY = 10
MAX_PARAMETERS = 10

# Signatures that are not ours to choose: scikit-learn's methods, and what the public API fixed.
SCIKIT_LEARN_METHODS = {"fit", "fit_predict", "fit_transform", "partial_fit", "score"}
FIXED_IN_API = {
    "Distribution.from_samples",
    "NodeStatistics.add",
    "decompose_global",
    "entropy",
    "forest_gap",
    "honest_folds",
    "honest_global_mdi",
    "honest_mdi",
    "infinite_interactions",
    "infinite_mdi",
    "is_locally_relevant",
    "local_game",
    "local_mdi",
    "local_relevance",
    "mutual_information",
    "population_local_mdi",
    "with_gradients",
}
DECISION = re.compile(r"\b(?:if|for|while|case|catch)\b")
COMMENT_OR_TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)


def is_exempt(function):
    name, owner = function.node.name, function.owner
    if owner is None:
        return name in FIXED_IN_API
    if name == "__init__":
        bases = {getattr(base, "id", getattr(base, "attr", "")) for base in owner.bases}
        return "BaseEstimator" in bases
    fixed_by_python = name.startswith("__") and name.endswith("__")
    return fixed_by_python or name in SCIKIT_LEARN_METHODS or f"{owner.name}.{name}" in FIXED_IN_API


def cpp_functions():
    for path in cpp_files():
        lines = path.read_text(encoding="utf-8").split("\n")
        for function in lizard.analyze_file(str(path)).function_list:
            code = "\n".join(lines[function.start_line - 1 : function.end_line])
            name = f"{relative(path)}:{function.start_line} {function.name}"
            yield name, function, COMMENT_OR_TEXT.sub("", code)


def test_bodies_are_short():
    assert_none([f.name for f in functions(*PYTHON_FOLDERS) if f.body_lines > MAX_LINES])


def test_few_parameters():
    many = [f for f in functions(*PYTHON_FOLDERS) if f.n_parameters > MAX_PARAMETERS]
    assert_none([f.name for f in many if not is_exempt(f)])


def test_parameters_are_named_after_the_second():
    # Tests are free: pytest passes their parameters by name.
    many = [f for f in functions(*PYTHON_FOLDERS) if len(f.positional) > 2 and not is_test(f.path)]
    assert_none([f.name for f in many if not is_exempt(f)])


def test_python_is_simple():
    rule = ["--select=C901", f"--config=lint.mccabe.max-complexity={MAX_COMPLEXITY}"]
    folders = [str(ROOT / folder) for folder in PYTHON_FOLDERS if (ROOT / folder).exists()]
    ruff = [sys.executable, "-m", "ruff", "check", "--isolated", "--ignore-noqa", "--no-cache"]
    run = subprocess.run([*ruff, *rule, *folders], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


def test_cpp_bodies_are_short():
    frame = 2  # the line of the signature and the closing brace
    long = [name for name, f, _ in cpp_functions() if f.length > MAX_LINES + frame]
    assert_none(long)


def test_cpp_is_simple():
    knotty = {name: 1 + len(DECISION.findall(code)) for name, _, code in cpp_functions()}
    assert_none([name for name, count in knotty.items() if count > MAX_COMPLEXITY])


def test_cpp_has_few_parameters():
    many = [name for name, f, _ in cpp_functions() if f.parameter_count > MAX_PARAMETERS]
    assert_none(many)
