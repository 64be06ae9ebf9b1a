"""The look of the gallery's figures: legible on a light and on a dark page."""

from typing import Any


def reset(gallery_conf: dict[str, Any], fname: Any) -> None:
    """Set matplotlib's defaults before every example."""
    import matplotlib.pyplot as plt  # noqa: PLC0415 - sphinx-gallery chooses the backend first

    plt.rcParams.update(
        {
            "figure.figsize": (7.2, 3.8),
            "figure.dpi": 110,
            "savefig.facecolor": "white",
            "font.size": 10,
            "axes.grid": True,
            "grid.alpha": 0.25,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.prop_cycle": plt.cycler(color=["#0b5394", "#b45309", "#15803d", "#9d174d", "#6d28d9", "#374151"]),
            "figure.constrained_layout.use": True,
        }
    )
