"""Strategies for requests, with small pools of values so that requests interact."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from hypothesis import strategies as st

from support.registry_model.association_model import AssociationRequest, RegistryModel
from support.registry_model.contents import INVALID, NUMBER, PLAIN, RESERVED, TAGGED, Items, Text
from support.registry_model.registry_state import RegistrationDraft
from support.registry_model.scopes import DEFAULT, GLOBAL, context_of

__all__ = [
    "CONTEXTS",
    "FREE",
    "LENT",
    "MODES",
    "OPENINGS",
    "PATCHES",
    "RESOURCES",
    "SCOPES",
    "SUBJECTS",
    "choose_association_request",
    "choose_configured_scope",
    "choose_derivation",
    "choose_registration",
    "choose_subject",
    "choose_version",
]

LENT: Final = ["r", ":.eu:r"]  #: hold records alone, so that others can lean on them
_FREE: Final = ["a", "b", ":.eu:a", ":.eu:t-value"]
FREE: Final = st.sampled_from(_FREE)
SUBJECTS: Final = st.sampled_from([*_FREE, *LENT])
CONTEXTS: Final = st.sampled_from([".", ".", ".eu"])  #: of subjects that name none
SCOPES: Final = st.sampled_from([*_FREE, ":.eu:r", ".", ":.eu:", GLOBAL])
_seldom: Final = st.integers(0, 3).map(lambda number: number == 3)
RESOURCES: Final = st.sampled_from(["t", "u"])
TAGS: Final = st.sampled_from([(), (), ("PII",), ("PII", "GDPR")])
MODES: Final = st.sampled_from([*["READWRITE", None] * 4, "READONLY", "READONLY_OVERRIDE", "IMPORT", "FORWARD"])
_LEVELS: Final = [f"{name}{reach}" for name in ("BACKWARD", "FORWARD", "FULL") for reach in ("", "_TRANSITIVE")]

_RECORD: Final = RegistrationDraft(text=Text("record"))
_USER: Final = RegistrationDraft(text=Text("user"), references=(("r", 1),))
#: Where a history may begin.
OPENINGS: Final[st.SearchStrategy[list[tuple[str, RegistrationDraft]]]] = st.sampled_from(
    [
        [],
        [("r", _RECORD), ("a", _USER), ("b", RegistrationDraft(text=Text("int")))],
        [(":.eu:r", _RECORD), (":.eu:a", _USER), ("a", RegistrationDraft(text=Text("ab"))), ("r", _RECORD)],
        [
            ("a", RegistrationDraft(text=Text("int"))),
            ("b", RegistrationDraft(text=Text("int"))),
            ("a", RegistrationDraft(text=Text("long"))),
        ],
    ]
)

_METADATA: Final[list[Items | None]] = [
    None,
    None,
    (),
    ((("properties", "owner"), "x"),),
    ((("properties", "owner"), "y"),),
    ((("properties", "more"), "1"), (("sensitive", "more"), True), (("tags", "/x"), ("PII",))),
    ((NUMBER, "1"),),
    ((RESERVED, "x,q"),),
    ((RESERVED, "q"),),
]
_RULES: Final[list[Items | None]] = [
    *[None] * 6,
    (),
    ((("domainRules", "d"), "1"),),
    ((("domainRules", "d"), "2"), (("domainRules", "e"), "1"), (("migrationRules", "m"), "1")),
    ((("domainRules", "e"), "2"), (("enableAt", ""), "CLIENT")),
    ((("encodingRules", "n"), "1"),),
    INVALID,
]
METADATA: Final = st.sampled_from(_METADATA)
RULES: Final = st.sampled_from(_RULES)
_ANYTHING: Final = [(("r", 2),), ((":.eu:r", 1),), ((":.eu:r", -1),), (("r", 1), ("r", 1)), ()]


def choose_subject(model: RegistryModel) -> st.SearchStrategy[str]:
    """Choose a subject, mostly an existing one."""
    return st.sampled_from([*sorted(model.subjects) * 3, *_FREE, *LENT])


def choose_version(model: RegistryModel, subject: str) -> st.SearchStrategy[int | None]:
    """Choose a version, mostly an existing one; None is the latest."""
    return st.sampled_from([*model.versions(model.scopes.resolve_alias(subject)), None, None, 1, 7])


def choose_configured_scope(model: RegistryModel) -> st.SearchStrategy[str]:
    """Choose a scope, mostly one with settings."""
    return st.sampled_from([*model.scopes.set, ".", "a", ":.eu:", GLOBAL])


@st.composite
def _choose_text(draw: st.DrawFn, model: RegistryModel, subject: str) -> dict[str, Any]:
    """Choose a text with its references; None means that of the latest version."""
    if model.versions(subject) and draw(_seldom):
        return {"text": None}
    if subject in LENT:
        return {"text": Text("record", draw(TAGS))}
    kind = draw(st.sampled_from([*PLAIN, "int", "string", *TAGGED * 3, *["user"] * 5, "broken"]))
    if kind == "user":
        lent = "r" if context_of(subject) == DEFAULT else ":.eu:r"
        there = [((name, n),) for n in (*model.live_versions(lent), -1) for name in dict.fromkeys(("r", lent))]
        return {"text": Text("user"), "references": draw(st.sampled_from([*there * 2, *_ANYTHING]))}
    return {"text": Text(kind, draw(TAGS) if kind in TAGGED else ())}


@st.composite
def choose_registration(
    draw: st.DrawFn, model: RegistryModel, subject: str, *, imported: bool = False, plain: bool = False
) -> RegistrationDraft:
    """Choose a registration under a subject."""
    members = draw(_choose_text(model, subject)) | {"metadata": draw(METADATA), "rules": draw(RULES)}
    if plain:
        return RegistrationDraft(**members, normalize=draw(st.booleans()))
    following = max(model.versions(subject), default=0) + 1
    members["version"] = draw(st.sampled_from([0, 0, 0, 0, 0, -1, 1, following] if not imported else [0, 0, 1, 2, 5]))
    if imported:
        return RegistrationDraft(**members, id=draw(st.integers(1, 9)))
    if draw(_seldom):
        members |= {"add": draw(TAGS), "remove": draw(TAGS), "propagate": draw(st.booleans())}
    return RegistrationDraft(**members, normalize=draw(st.booleans()), force=draw(_seldom))


@st.composite
def choose_derivation(
    draw: st.DrawFn, model: RegistryModel, subject: str
) -> tuple[int | None, RegistrationDraft, Items | None, frozenset[str]]:
    """Choose changes to a version."""
    number = draw(choose_version(model, subject))
    base = model.versions(model.scopes.resolve_alias(subject)).get(number or 0)
    tagged = base is None or base.content.text.kind in TAGGED or draw(_seldom)
    rules, merged = draw(RULES), draw(RULES)
    gone = draw(st.sampled_from([frozenset(), frozenset(), frozenset({"d"}), frozenset({"d", "m"})]))
    if rules is not None and not draw(_seldom):
        merged, gone = None, frozenset()
    sent = RegistrationDraft(
        metadata=draw(METADATA),
        rules=rules,
        version=draw(st.sampled_from([0, 0, 0, -1, max(model.versions(subject), default=0) + 1])),
        add=draw(TAGS) if tagged else (),
        remove=draw(TAGS) if tagged else (),
    )
    return number, sent, merged, gone


_MEMBERS: Final[dict[str, st.SearchStrategy[Any]]] = {
    "compatibility": st.sampled_from([*_LEVELS, "NONE", "NONE", "NONE"]),
    "normalize": st.booleans(),
    "validateFields": st.sampled_from([True, True, False]),
    "validateNewSchemas": st.booleans(),
    "validateRules": st.booleans(),
    "compatibilityPolicy": st.sampled_from(["STRICT", "LENIENT"]),
    "compatibilityGroup": st.just("owner"),
    "alias": st.sampled_from(["a", ":.eu:a"]),
    "aliasForDeks": st.just("a"),
    "defaultMetadata": METADATA.filter(lambda number: number is not None),
    "overrideMetadata": METADATA.filter(lambda number: number is not None),
    "defaultRuleSet": RULES.filter(lambda number: number is not None),
    "overrideRuleSet": RULES.filter(lambda number: number is not None),
}


@st.composite
def _choose_patch(draw: st.DrawFn, scope: str) -> dict[str, Any]:
    names = sorted(set(_MEMBERS) - (set() if scope == "b" else {"alias"}))
    chosen = draw(st.lists(st.sampled_from(["compatibility", *names]), min_size=1, max_size=2, unique=True))
    return {name: draw(st.none() | _MEMBERS[name]) for name in chosen}


PATCHES: Final = _choose_patch


@st.composite
def choose_association_request(
    draw: st.DrawFn, model: RegistryModel, resource: str, operations: list[str]
) -> AssociationRequest:
    """Choose a request about an association, mostly a valid one."""
    operation = draw(st.sampled_from(operations))
    kind = draw(st.sampled_from(["value", "value", "key"]))
    wish = AssociationRequest(operation=operation, type=kind, cascade=draw(st.booleans()))
    default = f":.eu:{resource}-{kind}"
    sent = st.builds(
        replace,
        choose_registration(model, default, plain=True),
        version=st.sampled_from([0, 0, 0, -1]),
        id=st.sampled_from([*[None] * 6, 1]),
    )
    match draw(st.integers(0, 3)):
        case 0:  # its own subject, with its schema
            return replace(wish, schema=draw(sent)) if operation == "CREATE" else replace(wish, schema=None)
        case 1:  # somebody's subject
            return replace(wish, subject=draw(choose_subject(model)))
        case 2:
            return replace(
                wish, subject=draw(choose_subject(model)), lifecycle="WEAK", frozen=draw(st.sampled_from([None, False]))
            )
        case _:
            return replace(
                wish,
                subject=draw(st.sampled_from([None, None, "a", ":.eu:a", "r", default])),
                lifecycle=draw(st.sampled_from([None, "WEAK", "STRONG"])),
                frozen=draw(st.sampled_from([None, True, False])),
                schema=draw(st.none() | sent),
            )
