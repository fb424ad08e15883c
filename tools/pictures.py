"""Write the pictures of README and docs that come from the examples: python tools/pictures.py."""

import runpy
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

ROOT = Path(__file__).parent.parent
# Which figure of which example is which picture.
PICTURES = {
    "first_steps.png": ("plot_3_digits.py", 1),
    "infinite_led.png": ("plot_4_led.py", 1),
}

for name, (example, figure) in PICTURES.items():
    plt.close("all")
    runpy.run_path(str(ROOT / "examples" / example))
    plt.figure(figure).savefig(ROOT / "docs" / "images" / name, dpi=150)
