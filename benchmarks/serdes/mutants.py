"""Malformed records for the timed functions: each must yield a value or a typed error, and soon."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

from contractlog.serdes.errors import SerializationError

__all__ = ["Fed", "feed"]

HEADER: Final = 5  #: bytes before the body
LONGEST_SECONDS: Final = 1.0  #: limit for one record
LENGTHS: Final = (b"\xfe\xff\xff\xff\x0f", b"\x01", b"\xff" * 10, b"\x80" * 12 + b"\x00", b"\xfe\xff\xff\xff\xff\x01")
STRANGE: Final[tuple[Any, ...]] = (
    None, True, -1, 2**31, 2**63, 1.7, float("nan"), "x", "\ud800", b"\xff", [], {}, (), [None], {"": None}, object(),
)  # fmt: skip


@dataclass(slots=True)
class Fed:
    """The results of the malformed records."""

    values: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    harmful: list[str] = field(default_factory=list)
    slowest: float = 0.0

    @property
    def passed(self) -> bool:
        """True if there were only values and typed errors, in time."""
        return not self.harmful and self.slowest < LONGEST_SECONDS

    def hold(self, back: Callable[[Any], Any], made: Any) -> None:
        """Record a failure if what was written cannot be read."""
        try:
            back(made)
        except Exception as error:  # noqa: BLE001 -- whatever was written must be readable
            self.harmful.append(f"{type(error).__name__}: {error} for the written {made!r}"[:300])

    def __str__(self) -> str:
        refused = sum(self.refused.values())
        told = f"mutants: {self.values} values, {refused} refused, slowest {self.slowest * 1e3:.1f} ms"
        return told if self.passed else f"{told}, HARMFUL {len(self.harmful)}: {self.harmful[:2]}"


def feed(
    call: Callable[[Any], Any], arguments: Sequence[Any], number: int, back: Callable[[Any], Any] | None = None
) -> Fed:
    """Call a function with malformed records made from good ones; ``back`` must read what it writes."""
    fed, random = Fed(), Random(number)
    for _ in range(number):
        good = random.choice(arguments)
        broken = broken_frame(random, good, arguments) if isinstance(good, bytes) else broken_value(random, good)
        began = time.process_time()
        try:
            made = call(broken)
        except SerializationError as error:
            outcome = error.outcome
            fed.refused[type(error).__name__ if outcome is None else outcome.name] += 1
        except Exception as error:  # noqa: BLE001 -- any other exception is a defect
            fed.harmful.append(f"{type(error).__name__}: {error} for {broken!r}"[:300])
        else:
            fed.values += 1
            if back is not None and made is not None:
                fed.hold(back, made)
        fed.slowest = max(fed.slowest, time.process_time() - began)
    return fed


def broken_frame(random: Random, good: bytes, others: Sequence[bytes]) -> bytes:
    """Return a frame with one or two changes; its first five bytes change in only one of a hundred."""
    data = bytearray(good)
    first = HEADER if random.randrange(100) and len(data) > HEADER else 0
    for _ in range(random.randint(1, 2)):
        at = random.randrange(first, len(data)) if len(data) > first else first
        other = random.choice(others)[HEADER:]
        end = random.randrange(at, len(data)) if at < len(data) else at
        match random.randrange(8):
            case 0:
                data[at : at + 1] = bytes([data[at] ^ 1 << random.randrange(8)]) if at < len(data) else b""
            case 1:
                data[at : at + 1] = random.randbytes(1)
            case 2:
                del data[at:]
            case 3:
                data[at:at] = random.randbytes(random.randint(1, 4))
            case 4:
                del data[at : at + random.randint(1, 8)]
            case 5:
                data[at : at + 1] = random.choice(LENGTHS)
            case 6:
                data[at:end] = other[: random.randrange(1, 20)]
            case 7:
                data[at:at] = data[at:end]
    return bytes(data)


def broken_value(random: Random, good: Any) -> Any:
    """Return a value with something unusual somewhere in it."""
    if isinstance(good, dict) and good and random.randrange(10):
        key = random.choice(list(good))
        if not random.randrange(10):
            return {name: item for name, item in good.items() if name != key}
        return good | {key: broken_value(random, good[key])}
    if isinstance(good, list) and good and random.randrange(5):
        at = random.randrange(len(good))
        return [*good[:at], broken_value(random, good[at]), *good[at + 1 :]]
    return random.choice(STRANGE)
