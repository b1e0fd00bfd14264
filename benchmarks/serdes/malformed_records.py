"""Malformed records for the timed functions, each of which must soon yield a value or a typed error."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

from contractlog.serdes.errors import SerializationError

__all__ = ["MalformedResults", "call_with_malformed_records"]

HEADER_LENGTH: Final = 5  #: bytes before the body
LONGEST_SECONDS: Final = 1.0  #: limit for one record
LENGTHS: Final = (b"\xfe\xff\xff\xff\x0f", b"\x01", b"\xff" * 10, b"\x80" * 12 + b"\x00", b"\xfe\xff\xff\xff\xff\x01")
UNUSUAL_VALUES: Final[tuple[Any, ...]] = (
    None, True, -1, 2**31, 2**63, 1.7, float("nan"), "x", "\ud800", b"\xff", [], {}, (), [None], {"": None}, object(),
)  # fmt: skip


@dataclass(slots=True)
class MalformedResults:
    """The results of the malformed records."""

    values: int = 0
    rejections: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    slowest: float = 0.0

    @property
    def is_passed(self) -> bool:
        """True if there were only values and typed errors, in time."""
        return not self.failures and self.slowest < LONGEST_SECONDS

    def check_readable(self, read_back: Callable[[Any], Any], written: Any) -> None:
        """Record a failure if what was written cannot be read."""
        try:
            read_back(written)
        except Exception as error:  # noqa: BLE001 -- whatever was written must be readable
            self.failures.append(f"{type(error).__name__}: {error} for the written {written!r}"[:300])

    def __str__(self) -> str:
        rejections = sum(self.rejections.values())
        summary = f"mutants: {self.values} values, {rejections} refused, slowest {self.slowest * 1e3:.1f} ms"
        return summary if self.is_passed else f"{summary}, HARMFUL {len(self.failures)}: {self.failures[:2]}"


def call_with_malformed_records(
    call: Callable[[Any], Any], arguments: Sequence[Any], number: int, read_back: Callable[[Any], Any] | None = None
) -> MalformedResults:
    """Call a function with malformed records made from good ones; ``back`` must read what it writes."""
    results, random = MalformedResults(), Random(number)
    for _ in range(number):
        valid = random.choice(arguments)
        malformed = (
            create_malformed_frame(random, valid, arguments)
            if isinstance(valid, bytes)
            else create_malformed_value(random, valid)
        )
        start_time = time.process_time()
        try:
            result = call(malformed)
        except SerializationError as error:
            outcome = error.outcome
            results.rejections[type(error).__name__ if outcome is None else outcome.name] += 1
        except Exception as error:  # noqa: BLE001 -- any other exception is a defect
            results.failures.append(f"{type(error).__name__}: {error} for {malformed!r}"[:300])
        else:
            results.values += 1
            if read_back is not None and result is not None:
                results.check_readable(read_back, result)
        results.slowest = max(results.slowest, time.process_time() - start_time)
    return results


def create_malformed_frame(random: Random, valid: bytes, others: Sequence[bytes]) -> bytes:
    """Return a frame with one or two changes; its first five bytes change in only one of a hundred."""
    data = bytearray(valid)
    first = HEADER_LENGTH if random.randrange(100) and len(data) > HEADER_LENGTH else 0
    for _ in range(random.randint(1, 2)):
        at = random.randrange(first, len(data)) if len(data) > first else first
        other = random.choice(others)[HEADER_LENGTH:]
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


def create_malformed_value(random: Random, valid: Any) -> Any:
    """Return a value with something unusual somewhere in it."""
    if isinstance(valid, dict) and valid and random.randrange(10):
        key = random.choice(list(valid))
        if not random.randrange(10):
            return {name: item for name, item in valid.items() if name != key}
        return valid | {key: create_malformed_value(random, valid[key])}
    if isinstance(valid, list) and valid and random.randrange(5):
        at = random.randrange(len(valid))
        return [*valid[:at], create_malformed_value(random, valid[at]), *valid[at + 1 :]]
    return random.choice(UNUSUAL_VALUES)
