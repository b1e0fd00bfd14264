"""A page of another origin cannot change a registry that the browser can reach."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from support.registry import start_server
from support.tls import Authority
from support.web import pages, proxy

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.integration

BODY = json.dumps({"schema": '"int"'})
EXPORT = '{"format":"contractlog.export/1"}\n'
JSON = {"Content-Type": "application/json"}
REFUSED_SECONDS = 60  #: a deadline

#: Requests that a browser sends without asking first, as functions of a URL and a body.
SENT_AT_ONCE = {
    "blob": "([url, body]) => fetch(url, {method: 'POST', mode: 'no-cors', body: new Blob([body])})",
    "text": "([url, body]) => fetch(url, {method: 'POST', mode: 'no-cors', body})",
    "beacon": "([url, body]) => { navigator.sendBeacon(url, body); }",
    "form": """([url, body]) => {
        const frame = document.createElement('iframe');
        frame.name = 'answer';
        const form = document.createElement('form');
        Object.assign(form, {method: 'POST', action: url, enctype: 'text/plain', target: 'answer'});
        const field = document.createElement('input');
        Object.assign(field, {name: body.slice(0, -1) + ',"x":"', value: '"}'});
        form.append(field);
        document.body.append(frame, form);
        form.submit();
    }""",
    "sandbox": """([url, body]) => {
        const frame = document.createElement('iframe');
        const options = JSON.stringify({method: 'POST', mode: 'no-cors', body});
        frame.sandbox = 'allow-scripts';
        frame.srcdoc = `<script>fetch(${JSON.stringify(url)}, ${options.replaceAll('</', '<\\\\/')})</script>`;
        document.body.append(frame);
    }""",
}
#: Requests that a browser asks about first, and does not send when nobody allows them.
ASKED_FIRST = {
    "json": "([url, body]) => fetch(url, {method: 'POST', headers: {'Content-Type': 'application/json'}, body})",
    "delete": "([url]) => fetch(url, {method: 'DELETE'})",
    "put": "([url, body]) => fetch(url, {method: 'PUT', body})",
}
TRY = "async ([path, options]) => { const a = await fetch(path, options); return [a.status, await a.json()]; }"


@dataclass(frozen=True)
class Reached:
    """A registry: as a browser reaches it, and as a program does."""

    kind: str
    url: str
    direct: httpx2.Client

    def state(self) -> tuple[Any, Any]:
        """Return the subjects and the journal."""
        return self.direct.get("/subjects").json(), self.direct.get("/contractlog/v1/changes?since=0").json()


@contextmanager
def running(database: str, **environment: str) -> Iterator[str]:
    """Run a registry whose log may tell of connections that a browser left."""
    process, url = start_server(database, **environment)
    try:
        yield url
    finally:
        process.terminate()
        process.communicate(timeout=60)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="module", params=["http", "https", "proxy"])
def registry(
    request: pytest.FixtureRequest, authority: Authority, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Reached]:
    """A registry that is reached over http, over https, or through a proxy that ends TLS and names its backend."""
    database = f"sqlite:///{tmp_path_factory.mktemp('registry') / 'registry.db'}"
    pair = authority.server()
    tls = {"CONTRACTLOG_TLS_CERTIFICATE": str(pair.certificate), "CONTRACTLOG_TLS_KEY": str(pair.key)}
    with ExitStack() as stack:
        if request.param == "proxy":
            front = stack.enter_context(proxy(pair))
            url = f"https://registry.test:{front.port}"
            own = stack.enter_context(running(database, CONTRACTLOG_ALLOWED_ORIGINS=url))
            front.forward_to(own.removeprefix("http://"))
        else:
            url = own = stack.enter_context(running(database, **(tls if request.param == "https" else {})))
        direct = stack.enter_context(httpx2.Client(base_url=own, verify=False, timeout=60))
        yield Reached(request.param, url, direct)


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(ignore_https_errors=True)
    yield context.new_page()
    context.close()


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """The port of a server whose pages belong to somebody else."""
    with pages() as found:
        yield found


def refused(registry: Reached, code: int) -> int:
    """Return how often a code was answered."""
    name = f'contractlog_errors_total{{code="{code}"}} '
    lines = registry.direct.get("/metrics").text.splitlines()
    return sum(int(line.removeprefix(name)) for line in lines if line.startswith(name))


@pytest.mark.parametrize("site", ["attacker.test", "127.0.0.1"])
def test_a_page_of_another_origin_changes_nothing(registry: Reached, page: Page, port: int, site: str) -> None:
    state, before = registry.state(), refused(registry, 40380)
    paths = {"/subjects/s/versions": BODY, "/contractlog/v1/import": EXPORT}
    for attack, script in SENT_AT_ONCE.items():
        for path, body in paths.items():
            page.goto(f"http://{site}:{port}/")  # anew, as an answer that is still loading would end the next form
            page.evaluate(script, [registry.url + path, body])
            end = time.monotonic() + REFUSED_SECONDS
            while refused(registry, 40380) == before:
                assert time.monotonic() < end, f"{attack} on {path} was not refused"
                page.wait_for_timeout(50)  # which lets the page go on
            before += 1
    page.goto(f"http://{site}:{port}/")
    for script in ASKED_FIRST.values():
        with pytest.raises(Exception, match="Failed to fetch"):
            page.evaluate(script, [f"{registry.url}/subjects/s/versions", BODY])
    assert refused(registry, 40380) == before
    assert registry.state() == state


def test_a_page_that_rebinds_its_name_reaches_nothing(registry: Reached, page: Page) -> None:
    registry.direct.post("/subjects/there/versions", json={"schema": '"string"'}).raise_for_status()
    registry.direct.get("/schemas/ids/1").raise_for_status()  # it is in memory now
    state = registry.state()
    scheme, _, rest = registry.url.partition("://")
    rebound = f"{scheme}://rebound.test:{rest.rpartition(':')[2]}"
    page.goto(f"{rebound}/subjects")  # whatever this answers: a page of that origin is there now
    write = {"method": "POST", "headers": JSON, "body": BODY}
    status, answer = page.evaluate(TRY, ["/subjects/s/versions", write])
    if registry.kind == "proxy":  # which sends its own Host for every name that leads to it: Origin tells
        assert (status, answer["error_code"]) == (403, 40380)
        assert "CONTRACTLOG_ALLOWED_ORIGINS" in answer["message"]
    else:
        assert (status, answer["error_code"]) == (403, 40381)
        assert "CONTRACTLOG_ALLOWED_HOSTS" in answer["message"]
        for path in ("/subjects", "/schemas/ids/1", "/schemas/ids/1", "/healthz/live", "/metrics", "/nothing"):
            status, answer = page.evaluate(TRY, [path, {}])
            assert (path, status, answer["error_code"]) == (path, 403, 40381)
    assert registry.state() == state


def test_a_page_of_the_registry_s_own_origin_may_write(registry: Reached, page: Page) -> None:
    page.goto(f"{registry.url}/subjects")
    write = {"method": "POST", "headers": JSON, "body": BODY}
    assert page.evaluate(TRY, ["/subjects/own/versions", write])[0] == 200
    undeclared = "path => fetch(path, {method: 'POST', body: new Blob(['{}'])}).then(answer => answer.status)"
    for path in ("/subjects/own/versions", "/contractlog/v1/import"):
        assert page.evaluate(undeclared, path) == 415
    assert page.evaluate(TRY, ["/subjects/own", {"method": "DELETE"}]) == [200, [1]]


def test_a_proxy_whose_origin_is_not_allowed_is_told_what_to_set(
    authority: Authority, registry_url: str, page: Page
) -> None:
    with proxy(authority.server()) as front:
        front.forward_to(registry_url.removeprefix("http://"))
        origin = f"https://registry.test:{front.port}"
        page.goto(f"{origin}/subjects")
        write = {"method": "POST", "headers": JSON, "body": BODY}
        status, answer = page.evaluate(TRY, ["/subjects/own/versions", write])
    assert (status, answer["error_code"]) == (403, 40380)
    assert f"`{origin}`" in answer["message"]
    assert "CONTRACTLOG_ALLOWED_ORIGINS" in answer["message"]
