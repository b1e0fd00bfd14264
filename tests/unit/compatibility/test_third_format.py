"""A third format needs only a ``SchemaFormat`` and a line in the table.

A schema of this format names the fields of a record, and whether each is optional: ``id place? when``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import pytest

from contractlog.clients import Registry
from contractlog.compatibility import formats
from contractlog.compatibility.check_description import CheckDescription, CheckExample
from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.errors import IncompatibleSchema, InvalidSchema, SchemaNotFound
from contractlog.compatibility.finding import Finding
from contractlog.compatibility.fixes.json_text_edits import Edit
from contractlog.compatibility.fixes.proposed_fix import FixContext, ProposedFix
from contractlog.compatibility.level import Level
from contractlog.compatibility.schema import ParsedSchema, SchemaDraft, SchemaType
from contractlog.compatibility.schema_format import SchemaFormat
from contractlog.compatibility.search_terms import Term, TermKind
from contractlog.compatibility.step_budget import StepBudget
from contractlog.registry.testing import Registries

from support.deadlines import eventually

TYPE = SchemaType.PROTOBUF  #: a type of the API that has no format yet
FIELD_MISSING = CheckDescription(
    "TOY_FIELD_MISSING",
    "The writer lacks a field that the reader requires",
    "An optional field may be missing.",
    CheckExample("id when", "id"),
    CheckExample("id when?", "id"),
)
LEVELS = [Level.NONE, Level.FORWARD, Level.FORWARD_TRANSITIVE]  #: that allow a new required field


def parse(draft: SchemaDraft, referenced: Mapping[str, str], *, strict: bool) -> ParsedSchema:
    fields = draft.text.split()
    if strict and not all(re.fullmatch(r"[a-z]+\??", field) for field in fields):
        raise InvalidSchema("a field is a word, with a question mark if it is optional", at="")
    return ParsedSchema(
        TYPE,
        lambda normalized: " ".join(sorted(fields) if normalized else fields),
        fields,
        len(draft.text),
        draft.references,
        dict(referenced),
    )


def compare(
    reader: ParsedSchema, writer: ParsedSchema, _policy: Policy, _steps: StepBudget | None
) -> Iterator[Finding]:
    written = {field.removesuffix("?") for field in writer.root}
    for index, field in enumerate(reader.root):
        if not field.endswith("?") and field not in written:
            yield Finding(
                FIELD_MISSING.id, f"/{index}", "", f"{field} is new and required", "{reader} requires", "drop it"
            )


def propose_fixes(context: FixContext) -> Iterator[ProposedFix]:
    for match in re.finditer(r"[a-z]+(?!\S)", context.text):
        yield ProposedFix(f"make {match[0]} optional", [Edit(match.end(), match.end(), "?")])


def extract_terms(text: str) -> Iterator[Term]:
    for name in text.replace("?", "").split():
        yield Term(TermKind.FIELD, name, name, name)


TOY_FORMAT = SchemaFormat(
    type=TYPE,
    parse=parse,
    compare=compare,
    checks=(FIELD_MISSING,),
    allowed_checks=dict.fromkeys(Policy, frozenset[str]()),
    propose_fixes=propose_fixes,
    extract_terms=extract_terms,
)


@pytest.fixture
def registry(registries: Registries, monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    """A registry whose table of formats has one more line."""
    monkeypatch.setitem(formats.FORMATS, TYPE, TOY_FORMAT)
    for check in TOY_FORMAT.checks:  # the catalogue is made from the table
        monkeypatch.setitem(formats.CATALOGUE, check.id, check)
    app = registries.make({})
    app.state.services.start()
    with Registry(app=app) as client:
        yield client
    app.state.close()


def toy(text: str) -> SchemaDraft:
    return SchemaDraft(text, TYPE)


def test_a_schema_is_registered_once_and_looked_up(registry: Registry) -> None:
    first = registry.register("trips", toy("place  id"))
    assert registry.schema_by_id(first.schema_id).text == "place id"
    assert registry.schema_by_id(first.schema_id).type is TYPE
    assert registry.register("trips", toy("place id")).schema_id == first.schema_id
    assert registry.lookup("trips", toy("id place"), normalize=True).version == first.version
    with pytest.raises(SchemaNotFound):
        registry.lookup("trips", toy("id"))
    assert "PROTOBUF" in registry.types()


def test_schemas_rejected_by_the_parser_are_not_registered(registry: Registry) -> None:
    with pytest.raises(InvalidSchema, match="question mark"):
        registry.register("trips", toy("id, place"))


def test_the_level_of_the_subject_decides_by_the_findings_of_the_format(registry: Registry) -> None:
    registry.register("trips", toy("id place?"))
    assert registry.check("trips", toy("id when?")).compatible
    answer = registry.check("trips", toy("id when"))
    assert not answer.compatible
    assert answer.messages[0] == "new requires"
    with pytest.raises(IncompatibleSchema):
        registry.register("trips", toy("id when"))


def test_a_difference_has_the_kind_the_findings_and_verified_fixes(registry: Registry) -> None:
    registry.register("trips", toy("id"))
    difference = registry.difference(("trips", 1), toy("id when"))
    assert (difference["kind"], difference["compatible"]) == ("forward", False)
    assert difference["levels"] == [level.value for level in LEVELS]
    [finding] = difference["findings"]
    assert (finding["check"], finding["detail"]) == (FIELD_MISSING.id, "when is new and required")
    assert finding["mends"] == [{"sentence": "make when optional", "text": "id when?"}]


def test_a_field_is_found_by_its_name(registry: Registry) -> None:
    registry.register("trips", toy("id when?"))
    eventually(lambda: (result := registry.search(field="when"))["indexed_to"] == result["head"])
    result = registry.search(field="when")
    assert [(hit["subject"], hit["path"]) for hit in result["hits"]] == [("trips", "when")]


def test_without_its_line_the_type_is_unknown(registries: Registries) -> None:
    app = registries.make({})
    with Registry(app=app) as client, pytest.raises(InvalidSchema, match="Invalid schema type PROTOBUF"):
        client.register("trips", toy("id"))
    app.state.close()
