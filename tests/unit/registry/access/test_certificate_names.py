"""Names of certificates are compared with names of the same kind."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from contractlog.compatibility.errors import Unauthorized
from contractlog.registry.access.certificate_names import (
    ClientCertificate,
    format_rfc4514,
    parse_alternative_name,
    parse_certificate_subject,
)
from contractlog.registry.access.users_file import Users, parse_users
from contractlog.registry.access.users_file_editor import format_entry

KINDS = ["commonName", "organizationName", "domainComponent", "emailAddress", "givenName", "1.2.3.4"]
values = st.text(st.characters(exclude_categories=("Cs",)), max_size=6) | st.text(' ,+"\\<>;=#aA0\0\n', max_size=6)
attributes = st.lists(st.tuples(st.sampled_from(KINDS), values), min_size=1, max_size=2, unique_by=lambda one: one[0])
subjects = st.lists(attributes.map(tuple), min_size=1, max_size=3).map(tuple)
Subject = tuple[tuple[tuple[str, str], ...], ...]


def certificate(subject: Subject, *names: tuple[str, str]) -> ClientCertificate:
    """Names as ``getpeercert`` has them."""
    return ClientCertificate.of({"subject": subject, "subjectAltName": names, "serialNumber": "01AB"})


def common(*names: str) -> Subject:
    return tuple((("commonName", name),) for name in names)


def users(*names: str) -> Users:
    return parse_users("\n".join(format_entry(name, None, [], ["*"]) for name in names))


def whom(known: Users, one: ClientCertificate) -> str | None:
    user = known.find_by_certificate(one)
    return None if user is None else user.name


@given(subjects)
@example(((("commonName", " "),),))
@example(((("commonName", "#a "),), (("organizationName", "\\20"),)))
@settings(max_examples=200)
def test_a_subject_is_read_as_it_is_written(subject: Subject) -> None:
    text = format_rfc4514((("commonName", "x"), *part) if part == subject[-1] else part for part in subject)
    parts = [(("commonName", "x"), *part) if part == subject[-1] else part for part in subject]
    assert parse_certificate_subject(text) == certificate(tuple(parts)).subject
    assert text.isprintable()


@given(subjects, subjects)
def test_two_subjects_are_never_written_alike(one: Subject, other: Subject) -> None:
    assert (format_rfc4514(one) == format_rfc4514(other)) == (one == other)


@pytest.mark.parametrize(
    "text",
    ["CN=ci,O=Acme", "cn=ci, o=Acme", " CN = ci , O = Acme ", "2.5.4.3=ci,2.5.4.10=Acme", r"CN=\63i,commonName=x"],
)
def test_a_subject_may_be_written_in_other_ways(text: str) -> None:
    found = parse_certificate_subject(text)
    assert found is not None
    assert found[-1] == {("commonname", "ci")}


@pytest.mark.parametrize("text", ["ci", "team=x", "=x", "a b=c", "dns:x=y", ""])
def test_texts_that_are_not_certificate_subjects_are_not_parsed(text: str) -> None:
    assert parse_certificate_subject(text) is None


@pytest.mark.parametrize("text", ["CN=a,b", "CN=a,", "CN=a\\", 'CN="a"', "CN=#04", "CN=a<b", "CN=\\ff", "CN=a+b"])
def test_a_subject_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"subject|backslash|decode"):
        parse_certificate_subject(text)
    with pytest.raises(ValueError, match="user `CN="):
        users(text)


TEXT = "CN=billing,O=Acme"
BILLING = ((("organizationName", "Acme"),), (("commonName", "billing"),))


def test_a_common_name_that_reads_like_a_subject_is_not_taken_for_it() -> None:
    known = users(TEXT)
    assert whom(known, certificate(BILLING)) == TEXT
    for other in (common(TEXT), BILLING[::-1], (*BILLING, *BILLING[:1]), BILLING[1:], ((*BILLING[0], *BILLING[1]),)):
        assert whom(known, certificate(other)) is None


def test_the_whole_subject_goes_before_the_common_name_and_alternative_names() -> None:
    known = users(TEXT, "billing", "dns:a")
    assert whom(known, certificate(BILLING, ("DNS", "a"))) == TEXT
    assert whom(known, certificate(common("billing"), ("DNS", "a"))) == "dns:a"
    assert whom(known, certificate(common("billing"), ("DNS", "b"))) == "billing"


@pytest.mark.parametrize("names", [("svc", "other"), ("other", "svc"), ("svc", "svc"), ("x", "y")])
def test_a_certificate_with_several_common_names_is_refused(names: tuple[str, ...]) -> None:
    for known in (users("svc", "other"), users("CN=other,CN=svc", "CN=svc,CN=other"), users("dns:a"), Users()):
        with pytest.raises(Unauthorized, match="has 2 common names"):
            known.find_by_certificate(certificate(common(*names), ("DNS", "a")))


ALTERNATIVE = {
    "dns:Billing.Example": ("DNS", "billing.EXAMPLE"),
    "uri:spiffe://acme/billing": ("URI", "spiffe://acme/billing"),
    "email:ops@Acme.example": ("email", "ops@acme.Example"),
    "ip:2001:db8::1": ("IP Address", "2001:DB8:0:0:0:0:0:1"),
    "ip:127.0.0.1": ("IP Address", "127.0.0.1"),
}


@pytest.mark.parametrize("name", ALTERNATIVE)
def test_an_alternative_name_is_matched_by_its_kind_alone(name: str) -> None:
    known = users(name)
    kind, value = ALTERNATIVE[name]
    assert whom(known, certificate((), (kind, value))) == name
    assert whom(known, certificate(common("x"), ("DNS", "other"), (kind, value))) == name
    text = name.partition(":")[2]
    for other in (common(name), common(text)):
        assert whom(known, certificate(other)) is None
    for kind in ("DNS", "URI", "email", "IP Address", "DirName", "othername"):
        if kind != ALTERNATIVE[name][0]:
            assert whom(known, certificate((), (kind, name))) is None
            assert whom(known, certificate((), (kind, text))) is None


def test_alternative_names_of_several_users_are_refused() -> None:
    known = users("dns:a", "dns:b", "ip:::1")
    for names in ((("DNS", "a"), ("DNS", "b")), (("IP Address", "::1"), ("DNS", "a"))):
        with pytest.raises(Unauthorized, match="several users"):
            known.find_by_certificate(certificate((), *names))


@pytest.mark.parametrize("names", [("CN=a,O=b", "cn=a, o=b"), ("dns:A", "dns:a"), ("ip:::1", "ip:0:0:0:0:0:0:0:1")])
def test_two_users_of_one_certificate_are_refused(names: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="name the same certificate"):
        users(*names)


def test_a_name_of_a_certificate_has_no_password_where_http_could_not_carry_it() -> None:
    for name in ("dns:a", "CN=a:b"):
        with pytest.raises(ValueError, match=r"no password|no colon"):
            parse_users(f'[users."{name}"]\npassword = "scrypt$2$1$1$c2FsdA==${"A" * 43}="')
    for name in ("ip:x", "dns:", "a:b", "http://x"):
        with pytest.raises(ValueError, match=r"user `"):
            users(name)
    assert parse_alternative_name("DNS:a") == ("dns", "a")


def test_a_certificate_is_called_by_its_first_name() -> None:
    assert certificate(BILLING, ("DNS", "a")).text == TEXT
    assert certificate((), ("othername", "x"), ("DNS", "a"), ("DNS", "b")).text == "dns:a"
    assert certificate(()).text == "serial:01AB"
