"""The exception hierarchy: one class per code, equal in service and client."""

import pickle

import pytest

from contractlog.compatibility.errors import BadRequest, IncompatibleSchema, RegistryError, ServerError, SubjectNotFound


@pytest.mark.parametrize("kind", RegistryError.catalogue().values())
def test_the_status_of_an_error_is_the_start_of_its_code(kind: type[RegistryError]) -> None:
    assert str(kind.code).startswith(str(kind("text").http_status))


@pytest.mark.parametrize("code", RegistryError.catalogue())
def test_an_error_body_becomes_the_class_of_its_code(code: int) -> None:
    error = RegistryError.of(code, "text")
    assert type(error) is RegistryError.catalogue()[code]
    assert (error.error_code, error.message) == (code, "text")


@pytest.mark.parametrize(
    ("code", "kind"), [(40499, "NotFound"), (50399, "Overloaded"), (599, "ServerError"), (418, "BadRequest")]
)
def test_an_unknown_code_becomes_the_class_of_its_status_and_keeps_its_code(code: int, kind: str) -> None:
    error = RegistryError.of(code, "text")
    assert (type(error).__name__, error.error_code) == (kind, code)


def test_errors_survive_pickling_with_their_facts() -> None:
    error = SubjectNotFound(subject="orders-value")
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    assert again == error
    assert again.subject == "orders-value"
    assert str(again) == "Subject 'orders-value' not found."


def test_facts_that_were_not_given_are_not_there() -> None:
    with pytest.raises(AttributeError):
        _ = ServerError("text").subject
    assert BadRequest("a").message == "a"


def test_the_texts_are_the_references_to_the_letter() -> None:
    assert str(IncompatibleSchema(subject="s", details="[a, b]")) == (
        'Schema being registered is incompatible with an earlier schema for subject "s", details: [a, b]'
    )
