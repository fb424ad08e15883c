"""Write the pictures of README and docs that come from the examples: python tools/pictures.py."""

import runpy
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

ROOT = Path(__file__).parent.parent
# Which figure of which example is which picture.
PICTURES = {
    "plot_4_led.py": {1: "infinite_led.png"},
    "plot_8_honest.py": {1: "first_steps.png", 2: "honest.png"},
}

for example, names in PICTURES.items():
    plt.close("all")
    runpy.run_path(str(ROOT / "examples" / example))
    for figure, name in names.items():
        plt.figure(figure).savefig(ROOT / "docs" / "images" / name, dpi=150)
