"""Detection of fields that a common function made: units, case, digests, parts of texts, joined texts.

Rows of the target are aligned with those of the source already. A function is proven if, in nearly all rows, the target
has the value that the function makes of the source's value, and far more rarely in other rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from contractlog.contracts.lineage.edges import LineageMethod
from contractlog.spark_validation.lineage.alignment import Alignment, RowPairs
from contractlog.spark_validation.lineage.function_forms import FORM_NAMES, decode_forms
from contractlog.spark_validation.lineage.linear_conversions import LinearConversion, find_linear_conversion
from contractlog.spark_validation.lineage.sample_arrays import Integers, SampledTopic
from contractlog.spark_validation.lineage.sampling import field_id

__all__ = ["FunctionField", "find_function_fields"]

MIN_ROWS: Final = 6
MIN_VALUES: Final = 3
MIN_AGREEMENT: Final = 0.95
MIN_BEYOND_CHANCE: Final = 0.3  #: minimum difference to the agreement with other rows
CASE: Final = FORM_NAMES.index("case and spaces")

Hashes = npt.NDArray[np.int64]
Formed = Mapping[int, Hashes]
"""Hash of each form, by row; -1 where a row's value has no such form."""


@dataclass(frozen=True, slots=True)
class FunctionField:
    """A source field from which a function makes a target field, alone or with others."""

    source: str
    method: LineageMethod
    description: str  #: the derivation in words
    score: float  #: share of rows that agree
    rows: RowPairs  #: the rows that agree


@dataclass(frozen=True, slots=True)
class _Rows:
    """Aligned rows of a source and a target, with the forms of their values."""

    source: SampledTopic
    target: SampledTopic
    alignment: Alignment
    source_forms: _FormTable
    target_forms: _FormTable


@dataclass(frozen=True, slots=True)
class _Match:
    source: int
    form: int
    share: float
    rows: Integers


def find_function_fields(
    source: SampledTopic, target: SampledTopic, alignment: Alignment, unexplained: AbstractSet[str]
) -> dict[str, list[FunctionField]]:
    """Return, by target field, the source fields that a function made it from."""
    converted = {}
    rows = _Rows(
        source, target, alignment, _FormTable(source, alignment.sources), _FormTable(target, alignment.targets)
    )
    for g, field in enumerate(target.fields):
        if field.name in unexplained:
            fields = _find_unit(rows, g) or _find_form(rows, g) or _find_join(rows, g)
            if fields:
                converted[field.name] = fields
    return converted


class _FormTable:
    """The forms of aligned rows, decoded on first use."""

    def __init__(self, topic: SampledTopic, rows: Integers) -> None:
        self._forms = [topic.forms[row] for row in rows.tolist()]
        self._decoded: list[dict[int, dict[int, int]]] | None = None
        self._by_field: dict[str, dict[int, Hashes]] = {}

    def of_field(self, field: str) -> Formed:
        """Return the forms of a field's values."""
        if self._decoded is None:
            self._decoded = [decode_forms(encoded) for encoded in self._forms]
        if field not in self._by_field:
            identity = field_id(field)
            rows = [forms.get(identity, {}) for forms in self._decoded]
            indexes = sorted(set().union(*rows))
            self._by_field[field] = {
                index: np.array([row.get(index, -1) for row in rows], np.int64) for index in indexes
            }
        return self._by_field[field]


def _find_unit(rows: _Rows, g: int) -> list[FunctionField]:
    source, target, alignment = rows.source, rows.target, rows.alignment
    best: tuple[float, int, LinearConversion] | None = None
    results = target.numbers[alignment.targets, g]
    numbers = np.isfinite(results)
    present = (target.cells[alignment.targets, g] != 0) & np.isfinite(target.numbers[alignment.targets]).any(axis=1)
    if np.count_nonzero(numbers) < max(MIN_ROWS, MIN_AGREEMENT * np.count_nonzero(present)):
        return []  # few of the values are numbers
    times = target.times[alignment.targets]
    for f in range(len(source.fields)):
        conversion = find_linear_conversion(source.numbers[alignment.sources, f], results, times)
        if conversion is not None and (best is None or conversion.score > best[0]):
            best = conversion.score, f, conversion
    if best is None:
        return []
    _, f, conversion = best
    name = source.fields[f].name
    description = f"{target.fields[g].name} = {conversion.describe(name)}"
    return [FunctionField(name, "linear", description, round(conversion.score, 4), alignment.pick(conversion.rows))]


def _find_form(rows: _Rows, g: int) -> list[FunctionField]:
    source, target, alignment = rows.source, rows.target, rows.alignment
    name = target.fields[g].name
    results = _short_cells(target, alignment.targets, g)
    folded = rows.target_forms.of_field(name).get(CASE)
    matches = []
    for f, field in enumerate(source.fields):
        forms = rows.source_forms.of_field(field.name)
        for index, hashes in forms.items():
            of_target = folded if index == CASE and folded is not None else results
            match = _match(f, index, hashes, of_target)
            if match is not None:
                matches.append(match)
    if not matches:
        return []
    best = max(matches, key=lambda match: (round(match.share, 2), len(match.rows), -match.form))
    method, words = _describe_form(best.form, source.fields[best.source].name)
    return [
        FunctionField(
            source.fields[best.source].name,
            method,
            f"{name} = {words}",
            round(best.share, 4),
            alignment.pick(best.rows),
        )
    ]


def _find_join(rows: _Rows, g: int) -> list[FunctionField]:
    """Find the source fields that the parts of a target are equal to, side by side."""
    source, target, alignment = rows.source, rows.target, rows.alignment
    name = target.fields[g].name
    matches = []
    for index, hashes in rows.target_forms.of_field(name).items():
        if FORM_NAMES[index].startswith(("before", "after", "between")):
            for f in range(len(source.fields)):
                match = _match(f, index, hashes, _short_cells(source, alignment.sources, f))
                if match is not None:
                    matches.append(match)
    chosen = _choose_parts(matches)
    names = [source.fields[match.source].name for match in chosen]
    words = f"{name} = {' + … + '.join(names)}" if len(names) > 1 else f"{name} has {''.join(names)} as a part"
    return [
        FunctionField(
            source.fields[match.source].name,
            "concatenation",
            words,
            round(match.share, 4),
            alignment.pick(match.rows),
        )
        for match in chosen
    ]


def _choose_parts(matches: Iterable[_Match]) -> list[_Match]:
    """Return the matches of parts that lie side by side and cover most, in the order of the text."""
    best: dict[int, _Match] = {}
    for match in matches:
        if match.form not in best or match.share > best[match.form].share:
            best[match.form] = match
    spans = {index: _span(index) for index in best}
    options: list[list[int]] = [[index] for index in best]
    for first in best:
        for last in best:
            if spans[first][0] is None and spans[last][1] is None and spans[first][1] is not None:
                middle = [index for index in best if spans[index] == (spans[first][1], spans[last][0])]
                if spans[first][1] == spans[last][0]:
                    options.append([first, last])
                elif middle:
                    options.append([first, middle[0], last])
    if not options:
        return []
    chosen = max(options, key=lambda option: (len(option), sum(best[index].share for index in option)))
    return [best[index] for index in chosen]


def _span(form: int) -> tuple[int | None, int | None]:
    """Return the separators at which a part begins and ends."""
    words = FORM_NAMES[form].split()
    if words[0] == "before":
        return None, int(words[-1])
    if words[0] == "after":
        return int(words[-1]), None
    return int(words[-3]), int(words[-1])


def _short_cells(topic: SampledTopic, rows: Integers, field: int) -> Hashes:
    """Return the upper 16 bits of each value's hash; -1 for null."""
    cells = topic.cells[rows, field]
    return np.where(cells == 0, -1, (cells >> np.uint32(16)).astype(np.int64))


def _match(source: int, form: int, hashes: Hashes, results: Hashes) -> _Match | None:
    present = np.flatnonzero((hashes >= 0) & (results >= 0))
    if len(present) < MIN_ROWS:
        return None
    own, other = hashes[present], results[present]
    equal = own == other
    share = float(np.mean(equal))
    if share < MIN_AGREEMENT or len(np.unique(own[equal])) < MIN_VALUES:
        return None
    chance = float(np.mean(np.roll(own, len(own) // 2) == other))
    if share - chance < MIN_BEYOND_CHANCE:
        return None
    return _Match(source, form, share, present[equal])


def _describe_form(form: int, source: str) -> tuple[LineageMethod, str]:
    name = FORM_NAMES[form]
    kind, _, rest = name.partition(" ")
    if form == CASE:
        return "case", f"{source} in another case, or with other spaces around it"
    if kind in {"first", "last"}:
        return "truncation", f"the {kind} {rest} characters of {source}"
    if kind in {"before", "after", "between"}:
        return "split", f"the part of {source} {name}"
    return "digest", f"{name} of {source}"
