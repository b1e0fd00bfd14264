"""Pipelines that make a topic from others, one function per kind of derivation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b, md5, sha256
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd
from topics import Domain, Random, Topic, TrueEdge

__all__ = ["PIPELINES", "derive_topic"]

Origins = dict[str, list[tuple[str, str]]]  #: sources of each field


@dataclass
class Draft:
    """The records of a target before they are written."""

    frame: pd.DataFrame
    times: npt.NDArray[np.int64]
    origins: Origins
    delayed: bool = True  #: false if the records keep the timestamps of the source
    directed: bool = True


Pipeline = Callable[[Random, Domain, Topic], Draft | None]


def derive_topic(random: Random, name: str, kind: str, domain: Domain, source: Topic) -> Topic | None:
    """Return a topic made from another by a kind of pipeline, or None if the source has no fields for it."""
    draft = PIPELINES[kind](random, domain, source)
    if draft is None or len(draft.frame) < 60:
        return None
    times = draft.times
    values = draft.frame
    if draft.delayed:
        times = times + _lags(random, len(times))
        order = np.argsort(times, kind="stable")
        times, values = times[order], values.iloc[order].reset_index(drop=True)
    edges = tuple(
        TrueEdge(origin, (name, target), kind, draft.directed)
        for target, origins in draft.origins.items()
        for origin in origins
    )
    return Topic(name, values, times, edges, kind)


def _lags(random: Random, count: int) -> npt.NDArray[np.int64]:
    """Return delays around one typical of the pipeline; one record in a hundred is late."""
    typical = float(np.exp(random.uniform(np.log(30), np.log(20_000))))
    lags = random.lognormal(np.log(typical), 0.5, count)
    late = random.random(count) < 0.01
    lags[late] += random.uniform(1, 20, int(late.sum())) * 60_000
    return np.asarray(lags + 1, np.int64)


def _identity(source: Topic, columns: list[str] | None = None) -> Origins:
    return {name: [(source.name, name)] for name in (columns if columns is not None else list(source.frame))}


def _draft(source: Topic, rows: npt.NDArray[np.int64] | None = None, columns: list[str] | None = None) -> Draft:
    values = source.frame if columns is None else source.frame[columns]
    times = source.times
    if rows is not None:
        values, times = values.iloc[rows].reset_index(drop=True), times[rows]
    return Draft(values.copy(), times, _identity(source, list(values)))


def _some_columns(random: Random, source: Topic, keep: str | None = None) -> list[str]:
    """Return at least three fields; ``keep`` is one of them."""
    columns = list(source.frame)
    count = min(len(columns), max(3, int(len(columns) * random.uniform(0.4, 0.9))))
    chosen = {columns[index] for index in random.choice(len(columns), count, replace=False)}
    if keep is not None:
        chosen.add(keep)
    return [name for name in columns if name in chosen]


def _pick(random: Random, source: Topic, fits: Callable[[pd.Series], bool]) -> str | None:
    names = [name for name in source.frame if fits(source.frame[name])]
    return names[int(random.integers(0, len(names)))] if names else None


def _is_text(column: pd.Series) -> bool:
    present = column.dropna()
    return len(present) > 0 and isinstance(present.iloc[0], str) and present.nunique() > 20


def _is_number(column: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column) and column.nunique() > 20


def _is_varied(column: pd.Series) -> bool:
    return column.nunique() > 200


def copy(_random: Random, _domain: Domain, source: Topic) -> Draft:
    """Copy all records."""
    return _draft(source)


def rename(random: Random, _domain: Domain, source: Topic) -> Draft:
    """Rename most fields."""
    draft = _draft(source)
    names = {
        name: f"x{random.integers(100, 999)}_{index}"
        for index, name in enumerate(source.frame)
        if random.random() < 0.7
    }
    draft.frame = draft.frame.rename(columns=names)
    draft.origins = {names.get(name, name): origins for name, origins in draft.origins.items()}
    return draft


def filter_rows(random: Random, _domain: Domain, source: Topic) -> Draft | None:
    """Keep the records with some values of a field."""
    name = _pick(random, source, lambda column: column.nunique() >= 2)
    if name is None:
        return None
    codes = pd.factorize(source.frame[name])[0]
    kept = np.flatnonzero(random.random(codes.max() + 2)[codes] < random.uniform(0.2, 0.9))
    return _draft(source, kept) if len(kept) > 200 else None


def project(random: Random, _domain: Domain, source: Topic) -> Draft:
    """Keep some fields."""
    return _draft(source, columns=_some_columns(random, source))


def sample(random: Random, _domain: Domain, source: Topic) -> Draft:
    """Keep a random share of the records."""
    return _draft(source, np.flatnonzero(random.random(len(source.times)) < random.uniform(0.1, 0.5)))


def drop_few(random: Random, _domain: Domain, source: Topic) -> Draft:
    """Lose one record in a hundred."""
    return _draft(source, np.flatnonzero(random.random(len(source.times)) < 0.99))


def _look_up(random: Random, domain: Domain, source: Topic, keys: int) -> Draft | None:
    tables = [table for table in domain.tables if len(table.keys) == keys and set(table.foreign) <= set(source.frame)]
    if not tables:
        return None
    table = tables[int(random.integers(0, len(tables)))]
    columns = list(dict.fromkeys([*_some_columns(random, source), *table.foreign]))
    draft = _draft(source, columns=columns)
    added = [name for name in table.topic.frame if name not in table.keys and name not in columns]
    if not added:
        return None
    renamed = table.topic.frame.rename(columns=dict(zip(table.keys, table.foreign, strict=True)))
    joined = draft.frame.merge(renamed[[*table.foreign, *added]], on=list(table.foreign), how="left")
    draft.frame = joined
    draft.origins |= {name: [(table.topic.name, name)] for name in added}
    return draft


def look_up(random: Random, domain: Domain, source: Topic) -> Draft | None:
    """Add fields of a table by its key."""
    return _look_up(random, domain, source, 1)


def look_up_by_two(random: Random, domain: Domain, source: Topic) -> Draft | None:
    """Add fields of a table by a key of two fields."""
    return _look_up(random, domain, source, 2)


def join(random: Random, domain: Domain, source: Topic) -> Draft | None:
    """Join two streams by the id of a record; the later of both decides the time."""
    first, second = domain.streams[:2]
    key = domain.ids.get(source.name)
    if source is not first or key is None or domain.ids.get(second.name) != key:
        return None
    left = first.frame[_some_columns(random, first, key)].assign(_left=first.times)
    right = second.frame[[name for name in second.frame if name == key or name not in left]].assign(_right=second.times)
    joined = left.merge(right, on=key)
    times = joined[["_left", "_right"]].max(axis=1).to_numpy(np.int64)
    values = joined.drop(columns=["_left", "_right"])
    origins = {name: [(first.name, name)] for name in left if name != "_left"}
    origins |= {name: [(second.name, name)] for name in right if name not in {"_right", key}}
    origins[key] = [(first.name, key), (second.name, key)]
    return Draft(values, times, origins)


def linear(random: Random, _domain: Domain, source: Topic) -> Draft | None:
    """Convert the unit of a number."""
    name = _pick(random, source, _is_number)
    if name is None:
        return None
    draft = _draft(source, columns=_some_columns(random, source, name))
    factor = float(random.choice([0.001, 1 / 60, 1.609344, 0.45359237, 100.0]))
    offset = float(random.choice([0.0, 0.0, 32.0]))
    draft.frame[f"{name}_converted"] = draft.frame[name].astype(float) * factor + offset
    draft.origins[f"{name}_converted"] = [(source.name, name)]
    return _drop(draft, name) if random.random() < 0.7 else draft


def _drop(draft: Draft, name: str) -> Draft:
    if len(draft.frame.columns) > 2:
        draft.frame = draft.frame.drop(columns=name)
        del draft.origins[name]
    return draft


def _text_pipeline(
    random: Random,
    source: Topic,
    suffix: str,
    change: Callable[[str], str],
    fits: Callable[[pd.Series], bool] = _is_text,
) -> Draft | None:
    name = _pick(random, source, fits)
    if name is None:
        return None
    draft = _draft(source, columns=_some_columns(random, source, name))
    target = f"{name}_{suffix}"
    draft.frame[target] = [None if pd.isna(value) else change(str(value)) for value in draft.frame[name]]
    draft.origins[target] = [(source.name, name)]
    return _drop(draft, name) if random.random() < 0.7 else draft


def change_case(random: Random, _domain: Domain, source: Topic) -> Draft | None:
    """Change the case of a text, and pad it."""
    change: Callable[[str], str] = [str.upper, str.title, lambda text: f" {text.upper()} "][int(random.integers(0, 3))]
    return _text_pipeline(
        random,
        source,
        "formatted",
        change,
        lambda column: _is_text(column) and any(str(value).upper() != str(value) for value in column.dropna()[:50]),
    )


def truncate(random: Random, _domain: Domain, source: Topic) -> Draft | None:
    """Keep the first characters of a text."""
    length = int(random.choice([3, 4, 6, 8]))
    return _text_pipeline(
        random,
        source,
        "prefix",
        lambda text: text[:length],
        lambda column: _is_text(column) and len(str(column.dropna().iloc[0])) > length,
    )


def hash_text(random: Random, _domain: Domain, source: Topic) -> Draft | None:
    """Replace a value by a common digest of it."""
    digest = [sha256, md5][int(random.integers(0, 2))]
    return _text_pipeline(random, source, "hash", lambda text: digest(text.encode()).hexdigest(), _is_varied)


def mask(random: Random, _domain: Domain, source: Topic) -> Draft | None:
    """Replace a value by a token that depends on a secret key."""
    key = random.bytes(16)
    return _text_pipeline(
        random,
        source,
        "token",
        lambda text: blake2b(text.encode(), key=key, digest_size=8).hexdigest(),
        lambda column: column.nunique() > 20,
    )


def split(random: Random, _domain: Domain, source: Topic) -> Draft | None:
    """Split a text at its separator."""
    name = _pick(
        random, source, lambda column: _is_text(column) and any(mark in str(column.dropna().iloc[0]) for mark in ":- ")
    )
    if name is None:
        return None
    draft = _draft(source, columns=_some_columns(random, source, name))
    mark = next(mark for mark in ":- " if mark in str(source.frame[name].dropna().iloc[0]))
    for index, part in enumerate(("head", "tail")):
        target = f"{name}_{part}"
        draft.frame[target] = [
            None if pd.isna(value) else str(value).partition(mark)[2 * index] for value in draft.frame[name]
        ]
        draft.origins[target] = [(source.name, name)]
    return _drop(draft, name)


def concatenate(random: Random, _domain: Domain, source: Topic) -> Draft | None:
    """Join two values to one text."""
    names = [name for name in source.frame if source.frame[name].nunique() > 2 and not source.frame[name].isna().any()]
    if len(names) < 3:
        return None
    first, second = (names[index] for index in random.choice(len(names), 2, replace=False))
    draft = _draft(source, columns=list(dict.fromkeys([*_some_columns(random, source), first, second])))
    mark = str(random.choice(["-", ":", "/", " "]))
    pairs = zip(draft.frame[first], draft.frame[second], strict=True)
    draft.frame["joined"] = [f"{a}{mark}{b}" for a, b in pairs]
    draft.origins["joined"] = [(source.name, first), (source.name, second)]
    return _drop(draft, second) if random.random() < 0.5 else draft


def aggregate(random: Random, domain: Domain, source: Topic) -> Draft | None:
    """Aggregate a number by a key in windows of an hour or more, written after the window."""
    keys = [name for table in domain.tables for name in table.foreign if name in source.frame]
    number = _pick(random, source, _is_number)
    if not keys or number is None or number in keys:
        return None
    key = keys[int(random.integers(0, len(keys)))]
    width = int(random.choice([1, 6, 24])) * 3_600_000
    groups = source.frame.assign(_window=source.times // width * width).groupby(["_window", key])[number]
    result = groups.agg(["sum", "count", "min", "max"]).reset_index()
    if pd.api.types.is_float_dtype(source.frame[number]):
        result["sum"] = result["sum"].round(6)
    values = pd.DataFrame(
        {
            key: result[key],
            "window_start": result["_window"],
            f"{number}_sum": result["sum"],
            "records": result["count"],
            f"{number}_min": result["min"],
            f"{number}_max": result["max"],
        }
    )
    origins = {name: [(source.name, number)] for name in (f"{number}_sum", f"{number}_min", f"{number}_max")}
    origins[key] = [(source.name, key)]
    return Draft(values, result["_window"].to_numpy(np.int64) + width, origins)


def sessions(random: Random, domain: Domain, source: Topic) -> Draft | None:
    """Write the start, end and length of each burst of records of a key."""
    keys = [name for table in domain.tables for name in table.foreign if name in source.frame and len(table.keys) == 1]
    if not keys:
        return None
    key = keys[int(random.integers(0, len(keys)))]
    frame = source.frame[[key]].assign(time=source.times).sort_values([key, "time"], kind="stable")
    gap = (frame["time"].diff() > 7_200_000) | (frame[key] != frame[key].shift())
    grouped = frame.assign(session=gap.cumsum()).groupby("session")
    values = pd.DataFrame(
        {
            key: grouped[key].first(),
            "started": grouped["time"].min(),
            "ended": grouped["time"].max(),
            "records": grouped["time"].count(),
        }
    )
    values = values.reset_index(drop=True)
    return Draft(values, values["ended"].to_numpy(np.int64) + 7_200_000, {key: [(source.name, key)]})


def deduplicate(random: Random, domain: Domain, source: Topic) -> Draft | None:
    """Keep the first record of each key and day."""
    keys = [name for table in domain.tables for name in table.foreign if name in source.frame]
    if not keys:
        return None
    key = keys[int(random.integers(0, len(keys)))]
    frame = pd.DataFrame({"key": source.frame[key], "day": source.times // 86_400_000})
    rows = np.flatnonzero(~frame.duplicated())
    return _draft(source, rows) if len(rows) < 0.95 * len(source.times) else None


def mirror(_random: Random, _domain: Domain, source: Topic) -> Draft:
    """Copy all records with their timestamps."""
    draft = _draft(source)
    draft.delayed = draft.directed = False
    return draft


def dead_letters(random: Random, _domain: Domain, source: Topic) -> Draft:
    """Copy the few records that could not be processed, with the reason."""
    rows = np.flatnonzero(random.random(len(source.times)) < random.uniform(0.02, 0.05))
    draft = _draft(source, rows)
    draft.frame["error"] = random.choice(["timeout", "invalid", "unknown reference"], len(rows))
    draft.frame["attempts"] = random.integers(1, 6, len(rows))
    return draft


def convert(_random: Random, _domain: Domain, source: Topic) -> Draft:
    """Write numbers as texts, as some conversions to JSON do."""
    draft = _draft(source)
    for name in draft.frame:
        column = draft.frame[name]
        if pd.api.types.is_integer_dtype(column):
            draft.frame[name] = column.astype(str)
    return draft


def rename_later(random: Random, _domain: Domain, source: Topic) -> Draft:
    """Rename a field in the middle of the history."""
    draft = _draft(source)
    name = list(source.frame)[int(random.integers(0, len(source.frame.columns)))]
    late = np.arange(len(source.times)) > len(source.times) * random.uniform(0.3, 0.7)
    values = draft.frame[name].astype(object)
    draft.frame[name] = values.where(~late, None)
    draft.frame[f"{name}_v2"] = values.where(late, None)
    draft.origins[f"{name}_v2"] = [(source.name, name)]
    return draft


def interrupt(random: Random, _domain: Domain, source: Topic) -> Draft:
    """Copy all records, those of some hours only after the pipeline was down."""
    draft = _draft(source)
    start = int(source.times[int(random.integers(0, len(source.times) // 2))])
    end = start + int(random.integers(1, 12)) * 3_600_000
    draft.times = np.where((draft.times >= start) & (draft.times < end), end, draft.times)
    return draft


PIPELINES: Final[dict[str, Pipeline]] = {
    "copy": copy,
    "rename": rename,
    "filter": filter_rows,
    "projection": project,
    "sample": sample,
    "one percent lost": drop_few,
    "lookup": look_up,
    "lookup by two fields": look_up_by_two,
    "join": join,
    "linear": linear,
    "case": change_case,
    "truncation": truncate,
    "hash": hash_text,
    "mask": mask,
    "split": split,
    "concatenation": concatenate,
    "aggregate": aggregate,
    "sessions": sessions,
    "deduplication": deduplicate,
    "mirror": mirror,
    "dead letters": dead_letters,
    "conversion": convert,
    "late rename": rename_later,
    "interruption": interrupt,
}
