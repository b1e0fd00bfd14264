"""Layouts that pack or unpack a run of adjacent floats and doubles in one call."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import lru_cache

from contractlog.serdes.avro.codecs import DoubleCodec, FloatCodec

__all__ = ["packing"]


def packing(nodes: Sequence[FloatCodec]) -> struct.Struct:
    """Return the layout of a run of floats and doubles."""
    return _layout("".join("d" if isinstance(node, DoubleCodec) else "f" for node in nodes))


@lru_cache(256)
def _layout(letters: str) -> struct.Struct:
    return struct.Struct(f"<{letters}")
