"""Samples are unchanged after a round trip through Parquet."""

from __future__ import annotations

from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contractlog.contracts.audit.mergeable_state import AuditState
from contractlog.contracts.audit.value_samples import DESIGN, FieldSample, SampleDesign, SampledValue
from contractlog.spark_validation.state.state_files import read_values, write_values

VALUE = st.builds(
    lambda *members, deep, formed: SampledValue(
        *members, numbers=members[-1] if deep else b"", forms=members[-1][::-1] if formed else b""
    ),
    st.integers(0, 2**64 - 1),
    st.integers(0, 2**32 - 1),
    st.integers(-1, 2**50),
    st.integers(0, 99),
    st.integers(0, 2**60),
    st.binary(max_size=16),
    deep=st.booleans(),
    formed=st.booleans(),
)
NAMES = st.tuples(
    st.sampled_from(["flights", "日本"]), st.sampled_from(["key", "value"]), st.text("ab[]._", max_size=4)
)
SAMPLE = st.builds(
    lambda design, values: FieldSample(design, tuple(sorted(values))),
    st.sampled_from([DESIGN, SampleDesign("other", 1, 2, 3)]),
    st.lists(VALUE, max_size=5),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None)
@given(samples=st.dictionaries(NAMES, SAMPLE, max_size=4))
def test_samples_are_read_as_they_were_written(
    tmp_path: Path, samples: dict[tuple[str, str, str], FieldSample]
) -> None:
    write_values(AuditState(samples=samples), tmp_path)
    assert read_values(tmp_path) == AuditState(samples=samples)


def test_a_folder_without_samples_has_none(tmp_path: Path) -> None:
    assert read_values(tmp_path) == AuditState()
