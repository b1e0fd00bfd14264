"""Codec of unions, and the choice of the branch for a value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from contractlog.contracts.audit.outcomes import Outcome
from contractlog.serdes.avro.interpreter.binary import ByteCursor, OutputBuffer, put_long
from contractlog.serdes.avro.interpreter.codecs import Codec, NullCodec, make_misfit
from contractlog.serdes.avro.interpreter.containers import BRANCH_HINT, RecordCodec
from contractlog.serdes.avro.interpreter.failure import CodecFailure, describe_value

__all__ = ["UnionCodec"]


class UnionCodec(Codec):
    """A value of one of several types, preceded by the position of its branch.

    A value may name its branch, as ``("com.example.Card", {...})`` or by the member ``-type``; else the first branch
    that fits is used, and of several records the one with most of its fields given.
    """

    def __init__(self, *, named_records: bool = False) -> None:
        self.branches: Sequence[Codec] = ()  # set later, when the codecs are linked
        self.named_records = named_records
        self.non_null_index: int | None = None  # of a union of null and one other type, that type's position

    def link(self, branches: Sequence[Codec]) -> None:
        """Set the branches, which may refer back to this union."""
        self.branches = tuple(branches)
        nulls = [index for index, branch in enumerate(self.branches) if isinstance(branch, NullCodec)]
        if len(self.branches) == 2 and len(nulls) == 1:  # noqa: PLR2004
            self.non_null_index = 1 - nulls[0]
        self.expected = "one of " + ", ".join(branch.names[0] for branch in self.branches)

    def read(self, source: ByteCursor, depth: int) -> Any:
        """Return the value of the branch that the bytes select."""
        index = source.read_int()
        if not 0 <= index < len(self.branches):
            raise CodecFailure(Outcome.BAD_UNION_INDEX, f"branch {index} of a union that has {len(self.branches)}")
        branch = self.branches[index]
        value = branch.read(source, depth)
        return (branch.names[0], value) if self.named_records and isinstance(branch, RecordCodec) else value

    def write(self, out: OutputBuffer, value: Any, depth: int) -> None:
        """Append the branch's position and its value."""
        index, value = self._choose_branch(out, value, depth)
        if index is None:
            self._write_closest(out, value, depth)
            return
        put_long(out, index)
        self.branches[index].write(out, value, depth)

    def fits(self, value: Any) -> bool:
        """Return whether the value fits any branch."""
        return self.find_named_branch(value) is not None or any(branch.fits(value) for branch in self.branches)

    def find_closest_records(self, value: Mapping[str, Any]) -> list[int]:
        """Return the positions of the records that a mapping fits, those with most of its fields first."""
        fitting = [(index, branch) for index, branch in enumerate(self.branches) if branch.fits(value)]
        records = [
            (index, branch.count_given_fields(value)) for index, branch in fitting if isinstance(branch, RecordCodec)
        ]
        if len(records) < len(fitting):
            return []  # a map fits as well
        return [index for index, _ in sorted(records, key=lambda record: -record[1])]

    def _write_closest(self, out: OutputBuffer, value: Mapping[str, Any], depth: int) -> None:
        """Append the value as the record that accepts it and has most of its fields given."""
        start, closest = len(out), self.find_closest_records(value)
        for index in closest:
            put_long(out, index)
            try:
                self.branches[index].write(out, value, depth)
            except CodecFailure as failure:
                self._count_trial(out, value, failure)
                del out[start:]
            else:
                return
        self.branches[min(closest)].write(out, value, depth)  # raises the reason

    def _count_trial(self, out: OutputBuffer, value: Any, failure: CodecFailure) -> None:
        out.trials -= 1
        if failure.outcome is None:
            raise failure
        if out.trials < 0:
            reason = f"too many records fit; name the branch of {describe_value(value)} by {BRANCH_HINT!r}"
            raise CodecFailure(None, reason) from None

    def _choose_branch(self, out: OutputBuffer, value: Any, depth: int) -> tuple[int | None, Any]:
        """Return a branch's position and the value; the position is None if several records are to be tried."""
        named = self.find_named_branch(value)
        if named is not None:
            return named, value[1]
        if self.non_null_index is not None:
            return (self.non_null_index if value is not None else 1 - self.non_null_index), value
        fitting = [index for index, branch in enumerate(self.branches) if branch.fits(value)]
        if not fitting:
            raise make_misfit(self, value)
        if len(fitting) == 1:
            return fitting[0], value
        if all(isinstance(self.branches[index], RecordCodec) for index in fitting):
            return None, value
        return self._find_best_branch(out, fitting, value, depth), value

    def find_named_branch(self, value: Any) -> int | None:
        """Return the position of the branch that a tuple names, if any."""
        if not isinstance(value, tuple) or len(value) != 2:  # noqa: PLR2004
            return None
        return next((index for index, branch in enumerate(self.branches) if value[0] in branch.names), None)

    def _find_best_branch(self, out: OutputBuffer, fitting: list[int], value: Any, depth: int) -> int:
        if not isinstance(value, Mapping):
            return self._prefer_double(fitting)
        best, most = fitting[0], -1
        for index in fitting:
            branch = self.branches[index]
            if not self._can_write(branch, out, value, depth):
                continue
            if not isinstance(branch, RecordCodec):
                return index
            if branch.count_given_fields(value) > most:
                best, most = index, branch.count_given_fields(value)
        return best

    def _prefer_double(self, fitting: list[int]) -> int:
        """Prefer double to float, as Python's floats are doubles."""
        first = fitting[0]
        if self.branches[first].names[0] != "float":
            return first
        return next((index for index in fitting if self.branches[index].names[0] == "double"), first)

    def _can_write(self, branch: Codec, out: OutputBuffer, value: Any, depth: int) -> bool:
        start = len(out)
        try:
            branch.write(out, value, depth)
        except CodecFailure as failure:
            self._count_trial(out, value, failure)
            return False
        else:
            return True
        finally:
            del out[start:]
