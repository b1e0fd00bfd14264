"""SVG elements as text; all external values are escaped here."""

from __future__ import annotations

from markupsafe import Markup, escape

__all__ = ["document", "element", "text"]


def element(name: str, *children: str, **attributes: object) -> Markup:
    """Write one element; ``class_`` becomes ``class``, underscores become hyphens, strings are escaped.

    >>> element("rect", class_="bar", x=1.5, stroke_width=2)
    Markup('<rect class="bar" x="1.5" stroke-width="2"/>')
    """
    written = Markup("").join(
        Markup(' {}="{}"').format(key.rstrip("_").replace("_", "-"), _format_value(value))
        for key, value in attributes.items()
    )
    inside = Markup("").join(escape(child) for child in children)
    tag = Markup(name)  # noqa: S704 - names are constants of this package
    if not children:
        return Markup("<{}{}/>").format(tag, written)
    return Markup("<{0}{1}>{2}</{0}>").format(tag, written, inside)


def text(content: str, *, x: float, y: float, class_: str = "label", anchor: str = "start") -> Markup:
    """Write a line of text."""
    return element("text", content, x=x, y=y, class_=class_, text_anchor=anchor)


def document(title: str, *children: str, width: int, height: float) -> Markup:
    """Write a whole picture; screen readers read its title."""
    return element(
        "svg",
        element("title", title),
        *children,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width} {_format_value(height)}",
        role="img",
        aria_label=title,
    )


def _format_value(value: object) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
