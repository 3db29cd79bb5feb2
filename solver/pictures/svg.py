"""SVG pictures: a canvas that numbers and texts go onto, its colours, and the finished picture, which can be saved.

The picture is built as an XML tree: whatever a point or a caption is called, it is text and never markup. Colours are
named, and a theme says what they are: ``light``, ``dark``, or ``auto``, which follows the reader's setting.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from xml.etree import ElementTree

from solver.errors import SolverError

Theme = Literal["auto", "light", "dark"]
Place = tuple[float, float]

UNIT = 60
"""User units of a length of 1 on a canvas."""

_FONT = "DejaVu Sans, Verdana, sans-serif"

# Blue and vermilion are told apart with every kind of colour vision.
_COMMON = {"win": "#0072b2", "loss": "#b84a00", "on-mark": "#ffffff"}
PALETTES: dict[str, dict[str, str]] = {
    "light": {
        **_COMMON,
        "ground": "#f6f1e7",
        "line": "#6b6155",
        "text": "#3a342d",
        "white": "#ffffff",
        "black": "#26221e",
        "rim": "#26221e",
        "mill": "#e0a82e",
        "last": "#8f3f71",
        "draw": "#ffffff",
        "on-draw": "#26221e",
        "target": "#007a5a",
    },
    "dark": {
        **_COMMON,
        "ground": "#2a2723",
        "line": "#a3988a",
        "text": "#e8e0d3",
        "white": "#f4f0e8",
        "black": "#0d0b0a",
        "rim": "#d8cfc0",
        "mill": "#b98318",
        "last": "#e3a5cc",
        "draw": "#f4f0e8",
        "on-draw": "#26221e",
        "target": "#4fd0a5",
    },
}


@dataclass(frozen=True, repr=False)
class Picture:
    """An SVG picture; a notebook shows it."""

    svg: str

    def _repr_svg_(self) -> str:
        return self.svg

    def __str__(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<Picture, {len(self.svg)} characters of SVG>"

    def save(self, path: str | Path, width: int | None = None) -> Path:
        """Write the picture as SVG or PNG, which the ending of ``path`` decides.

        :param width: of a PNG in pixels; the picture's own where it is None

        :raises SolverError: for another ending, a file that cannot be written, or a PNG without the extra ``pictures``
        """
        path = Path(path)
        if path.suffix not in (".svg", ".png"):
            raise SolverError(f"{path}: pictures are saved as .svg or .png; choose a name with one of these endings")
        data = self.svg.encode() if path.suffix == ".svg" else self.png(width)
        try:
            path.write_bytes(data)
        except OSError as error:
            raise SolverError(f"{path}: cannot be written ({error.strerror}); choose another file") from error
        return path

    def png(self, width: int | None = None) -> bytes:
        """The picture as PNG; a picture of the theme ``auto`` is light.

        :raises SolverError: without the extra ``pictures``
        """
        try:
            import resvg_py
        except ImportError as error:
            raise SolverError(
                f'PNG needs resvg-py ({error}); install it with pip install "merels[pictures]"'
            ) from error
        return bytes(resvg_py.svg_to_bytes(svg_string=self.svg, width=width))


def number(value: float) -> str:
    """A length in user units, to a tenth.

    >>> number(60.04), number(0.25)
    ('60', '0.2')
    """
    return f"{value:.1f}".removesuffix(".0")


class Canvas:
    """A picture while it is drawn; places and lengths are in units of :data:`UNIT`.

    :param left: how far the origin is from the left edge
    :param above: how far the origin is from the upper edge
    """

    def __init__(self, theme: Theme, left: float, above: float) -> None:
        self.theme, self.left, self.above = theme, left, above
        self.palette = PALETTES["light" if theme == "auto" else theme]
        self.root = ElementTree.Element("svg", xmlns="http://www.w3.org/2000/svg")

    def finish(self) -> Picture:
        """The picture."""
        return Picture(ElementTree.tostring(self.root, encoding="unicode"))

    def add_ground(self, width: float, height: float, pixels: int) -> None:
        """Set the size and paint the ground.

        :param pixels: the width in pixels
        """
        self.root.set("viewBox", f"0 0 {number(width * UNIT)} {number(height * UNIT)}")
        self.root.set("width", str(pixels))
        self.root.set("height", str(round(pixels * height / width)))
        if self.theme == "auto":
            self.root.set("class", "merels-auto")
            rules = "".join(
                f".merels-auto .{what}-{name}{{{what}:{colour}}}"
                for name, colour in PALETTES["dark"].items()
                for what in ("fill", "stroke")
            )
            self.add(self.root, "style").text = f"@media (prefers-color-scheme:dark){{{rules}}}"
        size = {"width": number(width * UNIT), "height": number(height * UNIT)}
        self.add(self.root, "rect", {"fill": "ground"}, class_="ground", rx=10, **size)

    def add(
        self, parent: ElementTree.Element, tag: str, paint: Mapping[str, str] | None = None, **attributes: object
    ) -> ElementTree.Element:
        """A new element. ``paint`` says which colour of the palette ``fill`` and ``stroke`` have.

        A colour is an attribute for every reader, and under the theme ``auto`` a class for the style sheet, too.
        """
        texts = {key.strip("_").replace("_", "-"): str(value) for key, value in attributes.items()}
        classes = [texts.pop("class")] if "class" in texts else []
        for what in ("fill", "stroke"):
            colour = (paint or {}).get(what)
            if colour is not None:
                texts[what] = self.palette[colour]
                if self.theme == "auto":
                    classes.append(f"{what}-{colour}")
        if classes:
            texts["class"] = " ".join(classes)
        return ElementTree.SubElement(parent, tag, texts)

    def at(self, place: Place) -> tuple[str, str]:
        """User units of a place on the board."""
        x, y = place
        return number((x + self.left) * UNIT), number((y + self.above) * UNIT)

    def circle(
        self, parent: ElementTree.Element, place: Place, radius: float, paint: Mapping[str, str], **more: object
    ) -> ElementTree.Element:
        x, y = self.at(place)
        return self.add(parent, "circle", paint, cx=x, cy=y, r=number(radius * UNIT), **more)

    def square(
        self, parent: ElementTree.Element, place: Place, side: float, paint: Mapping[str, str], **more: object
    ) -> None:
        x, y = self.at((place[0] - side / 2, place[1] - side / 2))
        width = number(side * UNIT)
        self.add(parent, "rect", paint, x=x, y=y, width=width, height=width, **more)

    def line(
        self, parent: ElementTree.Element, start: Place, end: Place, colour: str, width: float, **more: object
    ) -> None:
        (x1, y1), (x2, y2) = self.at(start), self.at(end)
        paint = {"stroke": colour}
        self.add(parent, "line", paint, x1=x1, y1=y1, x2=x2, y2=y2, stroke_width=number(width * UNIT), **more)

    def text(
        self, parent: ElementTree.Element, place: Place, text: str, size: float, colour: str, **more: object
    ) -> None:
        x, y = self.at((place[0], place[1] + 0.36 * size))  # half the height of a capital below the middle
        attributes = {"text_anchor": "middle", "font_family": _FONT, "font_size": number(size * UNIT), **more}
        self.add(parent, "text", {"fill": colour}, x=x, y=y, **attributes).text = text

    def group(self, name: str, parent: ElementTree.Element | None = None, **more: object) -> ElementTree.Element:
        return self.add(self.root if parent is None else parent, "g", None, class_=name, **more)
