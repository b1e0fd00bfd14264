"""Names and signatures of ``contractlog.clients.confluent`` equal those of confluent-kafka."""

from __future__ import annotations

import enum
import inspect
import pickle
from typing import Any

import confluent_kafka.schema_registry as package
import confluent_kafka.schema_registry.schema_registry_client as theirs
import pytest
from confluent_kafka.serialization import MessageField, SerializationContext

import contractlog.clients.confluent as ours
from contractlog.clients.confluent.errors import as_confluent_error
from contractlog.compatibility.errors import RegistryError, SubjectNotFound, UnreadableResponse

from support.confluent_bodies import BODIES, CLIENTS, ENUMS, MODELS, PLUMBING

HASHED = ["Metadata", "MetadataProperties", "MetadataTags", "Rule", "RuleParams", "RuleSet", "Schema"]
HASHED += ["RegisteredSchema", "SchemaReference", "Association"]


def shape(function: Any) -> list[tuple[str, Any, Any]]:
    """Names, kinds and defaults of arguments; a default that is made anew each time counts as one."""
    plain = (str, int, float, bool, type(None), inspect.Parameter.empty.__class__)
    return [
        (one.name, one.kind, one.default if isinstance(one.default, plain) else "made")
        for one in inspect.signature(function).parameters.values()
    ]


def test_every_public_name_is_there() -> None:
    names = {name for name in theirs.__dict__ if not name.startswith("_") and name[0].isupper()} - PLUMBING
    functions = {name for name in ours.__all__ if name[0].islower()}
    assert names | {"SchemaVersion", "RulePhase"} == set(ours.__all__) - functions
    assert set(package.__all__) <= set(ours.__all__)
    assert all(callable(getattr(ours, name)) for name in functions)
    assert not hasattr(ours, "reference_subject_name_strategy_of_nobody")


def test_strategies_give_the_same_subjects() -> None:
    ctx = SerializationContext("orders", MessageField.VALUE)
    for name in ("topic_subject_name_strategy", "record_subject_name_strategy", "topic_record_subject_name_strategy"):
        assert getattr(ours, name)(ctx, "shop.Order") == getattr(package, name)(ctx, "shop.Order")


@pytest.mark.parametrize("name", CLIENTS)
def test_clients_have_the_same_methods_with_the_same_arguments(name: str) -> None:
    their, our = getattr(theirs, name), getattr(ours, name)
    methods = {n for n, _ in inspect.getmembers(their, inspect.isroutine) if not n.startswith("_")}
    assert methods <= {n for n, _ in inspect.getmembers(our, inspect.isroutine)}
    for method in methods | {"__init__"}:
        assert shape(getattr(our, method)) == shape(getattr(their, method)), method
        sends = inspect.iscoroutinefunction(getattr(our, method))
        waits = inspect.iscoroutinefunction(getattr(their, method))
        quiet = {"clear_caches", "clear_latest_caches"} if name.startswith("Async") else set()
        assert sends == waits or method in quiet, method
    for special in ("__enter__", "__exit__", "__aenter__", "__aexit__"):
        assert hasattr(our, special) == hasattr(their, special)


@pytest.mark.parametrize("name", ENUMS)
def test_enumerations_have_the_same_members(name: str) -> None:
    their, our = getattr(theirs, name), getattr(ours, name)
    assert {one.name: one.value for one in our} == {one.name: one.value for one in their}
    assert issubclass(our, str)
    assert issubclass(our, enum.Enum)
    for one, other in zip(our, their, strict=True):
        assert (str(one), f"{one}", one == one.value) == (str(other), f"{other}", other == other.value)


def test_there_is_a_body_for_every_class() -> None:
    assert set(MODELS) == set(BODIES)


@pytest.mark.parametrize("name", MODELS)
def test_classes_are_made_read_and_written_alike(name: str) -> None:
    their, our = getattr(theirs, name), getattr(ours, name)
    assert shape(our) == shape(their)
    for body in BODIES[name]:
        one, other = our.from_dict(body), their.from_dict(body)
        assert one.to_dict() == other.to_dict()
        assert repr(one) == repr(other)
        for attribute in inspect.signature(our).parameters:
            assert repr(getattr(one, attribute)) == repr(getattr(other, attribute))
        assert our.from_dict(one.to_dict()) == one
        assert pickle.loads(pickle.dumps(one)) == one  # noqa: S301 - our own


@pytest.mark.parametrize("name", MODELS)
def test_classes_are_hashable_and_mutable_as_in_confluent_kafka(name: str) -> None:
    their, our = getattr(theirs, name), getattr(ours, name)
    for body in BODIES[name]:
        one, other = our.from_dict(body), their.from_dict(body)
        assert hashable(one) == hashable(other) == (name in HASHED)
        if name in HASHED:
            assert hash(one) == hash(our.from_dict(body))
        assert changeable(one) == changeable(other)


def hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def changeable(value: Any) -> bool:
    name = next(iter(inspect.signature(type(value)).parameters))
    try:
        setattr(value, name, getattr(value, name))
    except AttributeError:
        return False
    return True


def test_the_exception_is_the_same_and_is_caught_as_theirs() -> None:
    one, other = ours.SchemaRegistryError(404, 40401, "no"), theirs.SchemaRegistryError(404, 40401, "no")
    assert isinstance(one, theirs.SchemaRegistryError)
    assert (str(one), repr(one), one.UNKNOWN) == (str(other), repr(other), other.UNKNOWN)
    assert shape(ours.SchemaRegistryError) == shape(theirs.SchemaRegistryError)


def test_every_error_is_its_own_class_and_both_of_theirs() -> None:
    for code, kind in RegistryError.catalogue().items():
        if kind is UnreadableResponse:
            continue
        made: Any = as_confluent_error(kind("what is wrong"))
        for caught in (kind, ours.SchemaRegistryError, theirs.SchemaRegistryError):
            assert isinstance(made, caught)
        assert (made.http_status_code, made.error_code, made.error_message) == (
            int(str(code)[:3]),
            code,
            "what is wrong",
        )
        assert str(made) == str(theirs.SchemaRegistryError(int(str(code)[:3]), code, "what is wrong"))
        again = pickle.loads(pickle.dumps(made))  # noqa: S301 - our own
        assert type(again) is type(made)
        assert str(again) == str(made)


def test_facts_stay_on_the_exception() -> None:
    made: Any = as_confluent_error(SubjectNotFound(subject="orders"))
    assert made.subject == "orders"
    assert as_confluent_error(SubjectNotFound(subject="orders")) == made


def test_an_answer_that_is_none_of_a_registry_has_no_code() -> None:
    made: Any = as_confluent_error(UnreadableResponse("HTML", status=502, start="<html>"))
    assert isinstance(made, theirs.SchemaRegistryError)
    assert (made.http_status_code, made.error_code) == (502, -1)


CLUSTER: dict[str, Any] = {"bearer.auth.logical.cluster": "lsrc-1"}
OAUTH: dict[str, Any] = {
    "bearer.auth.client.id": "c",
    "bearer.auth.client.secret": "s",
    "bearer.auth.scope": "o",
    "bearer.auth.issuer.endpoint.url": "http://127.0.0.1:9/token",
}
CONFS: list[dict[str, Any]] = [
    {},
    {"url": 5},
    {"url": "ftp://x"},
    {"url": "http://x", "unknown.key": 1},
    {"url": "http://x", "basic.auth.user.info": "nocolon"},
    {"url": "http://u:p@x", "basic.auth.user.info": "a:b"},
    {"url": "http://x", "ssl.key.location": "k.pem"},
    {"url": "http://x", "max.retries": "3"},
    {"url": "http://x", "retries.wait.ms": "3"},
    {"url": "http://x", "retries.max.wait.ms": "3"},
    {"url": "http://x", "cache.capacity": "3"},
    {"url": "http://x", "cache.latest.ttl.sec": "3"},
    {"url": "http://x", "bearer.auth.credentials.source": "NOWHERE"},
    {"url": "http://x", "bearer.auth.credentials.source": "STATIC_TOKEN"},
    {"url": "http://x", "bearer.auth.credentials.source": "STATIC_TOKEN", "bearer.auth.token": "t"},
    *(
        {"url": "http://x", "bearer.auth.credentials.source": source} | fields
        for source, fields in [
            ("STATIC_TOKEN", {"bearer.auth.token": 5, **CLUSTER}),
            ("STATIC_TOKEN", {"bearer.auth.token": "t", "bearer.auth.logical.cluster": 5}),
            ("STATIC_TOKEN", {"bearer.auth.token": "t", **CLUSTER, "bearer.auth.identity.pool.id": 5}),
            ("STATIC_TOKEN", {"bearer.auth.token": "t", **CLUSTER, "bearer.auth.identity.pool.id": [5]}),
            ("OAUTHBEARER", OAUTH),
            ("OAUTHBEARER", CLUSTER),
            *(("OAUTHBEARER", {**CLUSTER, **OAUTH, key: 5}) for key in OAUTH),
            ("OAUTHBEARER", {**CLUSTER, **OAUTH, "bearer.auth.token": "t"}),
            ("OAUTHBEARER_AZURE_IMDS", {"bearer.auth.issuer.endpoint.query": "resource=r"}),
            ("OAUTHBEARER_AZURE_IMDS", CLUSTER),
            ("OAUTHBEARER_AZURE_IMDS", {**CLUSTER, "bearer.auth.issuer.endpoint.query": 5}),
            ("OAUTHBEARER_AZURE_IMDS", {**CLUSTER, "bearer.auth.issuer.endpoint.url": 5}),
            ("CUSTOM", {"bearer.auth.custom.provider.function": dict}),
            ("CUSTOM", {"bearer.auth.custom.provider.config": {}}),
            ("CUSTOM", {"bearer.auth.custom.provider.function": 5, "bearer.auth.custom.provider.config": {}}),
            ("CUSTOM", {"bearer.auth.custom.provider.function": dict, "bearer.auth.custom.provider.config": 5}),
        ]
    ),
]
GOOD: list[dict[str, Any]] = [
    {"url": "http://x"},
    {"url": "http://x, https://y/z/"},
    {"url": "http://u:p@x"},
    {"url": "http://x", "basic.auth.user.info": "u:p:q"},
    {
        "url": "http://x",
        "max.retries": 1,
        "retries.wait.ms": 5,
        "retries.max.wait.ms": 10.5,
        "cache.capacity": 5,
        "cache.latest.ttl.sec": 1.5,
        "timeout": 3,
        "proxy": "http://proxy:3128",
        "ssl.ca.location": False,
    },
    {
        "url": "http://x",
        "bearer.auth.credentials.source": "STATIC_TOKEN",
        "bearer.auth.token": "t",
        "bearer.auth.logical.cluster": "lsrc-1",
        "bearer.auth.identity.pool.id": "pool-1",
    },
    *(
        {"url": "http://x", "bearer.auth.credentials.source": source} | fields
        for source, fields in [
            ("OAUTHBEARER", {**CLUSTER, **OAUTH, "bearer.auth.identity.pool.id": ["a", "b"]}),
            ("OAUTHBEARER_AZURE_IMDS", {**CLUSTER, "bearer.auth.issuer.endpoint.query": "resource=r"}),
            ("OAUTHBEARER_AZURE_IMDS", {**CLUSTER, "bearer.auth.issuer.endpoint.url": "http://x/token"}),
            ("CUSTOM", {"bearer.auth.custom.provider.function": dict, "bearer.auth.custom.provider.config": {}}),
        ]
    ),
]


@pytest.mark.parametrize("conf", CONFS, ids=str)
@pytest.mark.parametrize("name", CLIENTS)
def test_a_configuration_that_is_refused_there_is_refused_here_by_the_same_class(name: str, conf: Any) -> None:
    with pytest.raises((ValueError, TypeError)) as their:
        getattr(theirs, name)(conf)
    with pytest.raises((ValueError, TypeError)) as our:
        getattr(ours, name)(conf)
    assert our.type is their.type


@pytest.mark.parametrize("conf", GOOD, ids=str)
@pytest.mark.parametrize("name", CLIENTS)
def test_a_configuration_that_is_taken_there_is_taken_here(name: str, conf: Any) -> None:
    given = dict(conf)
    assert getattr(theirs, name)(conf).config() == getattr(ours, name)(conf).config() == given


def test_keys_arrive_where_they_are_meant() -> None:
    client = ours.SchemaRegistryClient(GOOD[4])
    transport: Any = client._registry._transport
    assert (transport.seconds, transport.proxy) == (3, "http://proxy:3128")
    assert (transport.retries.attempts, transport.retries.first, transport.retries.longest) == (2, 0.005, 0.0105)
    assert transport.verify.verify_mode == 0
    token: Any = ours.SchemaRegistryClient(GOOD[5])._registry._transport
    assert token.security.token == "t"  # noqa: S105 - no secret
    assert token.headers["target-sr-cluster"] == "lsrc-1"
    assert token.headers["Confluent-Identity-Pool-Id"] == "pool-1"
    user: Any = ours.SchemaRegistryClient(GOOD[3])._registry._transport
    assert (user.security.user, user.security.password) == ("u", "p:q")
