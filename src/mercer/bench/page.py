"""The base of all offline pages: a template, one style sheet, and a security policy that allows nothing else."""

import base64
import hashlib
import re
from pathlib import Path

_TEMPLATES = Path(__file__).parent / "template"
_RAISED = str.maketrans("-0123456789dp", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹ᵈᵖ")


def render(template: str, folder: Path = _TEMPLATES, **content: object) -> str:
    """Return a page as text, from a template in ``folder``, which may extend the templates of this package."""
    import jinja2  # noqa: PLC0415 - optional

    from mercer.bench.figures import swatch  # noqa: PLC0415 - needs matplotlib

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([folder, _TEMPLATES]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=lambda value: typeset(value) if type(value) is str else value,  # on purpose not its safe subclass
    )
    environment.globals["swatch"] = swatch
    style = (_TEMPLATES / "style.css").read_text(encoding="utf-8")
    return environment.get_template(template).render(**content, style=style, policy=policy(style))


def policy(style: str) -> str:
    """Return the content security policy of a page, which allows only the style sheet inside the page."""
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def typeset(text: str) -> str:
    """Return text with inner products in angle brackets, powers raised (numbers, p and d), and sigma as the letter.

    >>> typeset("(1+<x,y>)^10")
    '(1+⟨x,y⟩)¹⁰'
    >>> typeset("|x|^2p in R^d")
    '|x|²ᵖ in Rᵈ'
    """
    text = text.replace("<x,y>", "\N{MATHEMATICAL LEFT ANGLE BRACKET}x,y\N{MATHEMATICAL RIGHT ANGLE BRACKET}")
    text = re.sub(r"\bsigma\b", "\N{GREEK SMALL LETTER SIGMA}", text)
    return re.sub(r"(?<=[\w)\u27e9|])\^(-?[\ddp]+)(?!\w)", lambda power: power[1].translate(_RAISED), text)
