"""Keep one comment of a pull request up to date with the report of ``contractlog check``.

It needs only the standard library, and the variables of a job: GITHUB_API_URL, GITHUB_REPOSITORY, GITHUB_EVENT_PATH and
GITHUB_TOKEN. The first comment is written when there is something to report; then it follows every check. A failure to
comment, such as a token that may only read (pull requests from forks), is a warning: it does not fail the job. The
token is sent to GITHUB_API_URL only.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from argparse import ArgumentParser
from http.client import HTTPException
from pathlib import Path
from typing import Any, Final
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, Request, build_opener

MARKER: Final = "<!-- contractlog check -->\n"
PER_PAGE: Final = 100
MAX_PAGES: Final = 50
MAX_RESPONSE_BYTES: Final = 32 * 1024 * 1024
SECONDS: Final = 30  #: for each part of a response
TOTAL_SECONDS: Final = 120


def main() -> int:
    """Write or update the comment."""
    parser = ArgumentParser(description="Keep one comment of a pull request up to date with a report.")
    parser.add_argument("report", type=Path, help="the Markdown report; missing if the check could not be completed")
    parser.add_argument("--exit-code", type=int, required=True, help="exit code of the check")
    parser.add_argument("--author", required=True, help="login whose comment is updated")
    options = parser.parse_args()
    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(TOTAL_SECONDS)
    event = json.loads(Path(os.environ["GITHUB_EVENT_PATH"]).read_text("utf-8"))
    repository = f"{os.environ['GITHUB_API_URL']}/repos/{os.environ['GITHUB_REPOSITORY']}/issues"
    comments = f"{repository}/{int(event['pull_request']['number'])}/comments"
    try:
        body = compose_body(options.report, options.exit_code)
        existing = find_comment(comments, options.author)
        if existing is not None:
            if existing["body"] != body:
                send_request("PATCH", f"{repository}/comments/{int(existing['id'])}", {"body": body})
        elif options.exit_code or "\n#### " in body:
            send_request("POST", comments, {"body": body})
    except HTTPError as error:
        advice = "; the job needs the permission `pull-requests: write`" if error.code in {401, 403, 404} else ""
        warn(f"the comment could not be written: GitHub responded with {error.code}{advice}")
    except (OSError, HTTPException, ValueError) as error:
        warn(f"the comment could not be written: {error}")
    except (AttributeError, LookupError, OverflowError, RecursionError, TypeError):
        warn("the comment could not be written: GitHub responded with JSON of another form than its API has")
    finally:
        signal.alarm(0)
    return 0


def give_up(*_signal: object) -> None:
    """End a request that takes too long, whatever the server sends meanwhile."""
    raise TimeoutError(f"GitHub did not respond within {TOTAL_SECONDS} seconds")


def compose_body(report: Path, exit_code: int) -> str:
    """Return the text of the comment; without a report, it says that there is no result."""
    if report.is_file():
        return MARKER + report.read_text("utf-8")
    return (
        f"{MARKER}### contractlog check: the check could not be completed\n\n"
        f"The command ended with exit code {exit_code}. The log of the job has the reason.\n"
    )


def find_comment(comments: str, author: str) -> dict[str, Any] | None:
    """Return the comment to update: it begins with the marker, and nobody else has written it."""
    for page in range(1, MAX_PAGES + 1):
        listed = send_request("GET", f"{comments}?per_page={PER_PAGE}&page={page}")
        for comment in listed:
            login = (comment["user"] or {}).get("login")  # null after the account was deleted
            if login == author and (comment["body"] or "").replace("\r\n", "\n").startswith(MARKER):
                return dict(comment)
        if len(listed) < PER_PAGE:
            break
    return None


def send_request(method: str, url: str, body: dict[str, str] | None = None) -> Any:
    """Send a request to GitHub's API and return the JSON of the response."""
    headers = {
        "Accept": "application/vnd.github+json",
        "Authorization": f"Bearer {os.environ['GITHUB_TOKEN'].strip()}",
        "Content-Type": "application/json",
        "X-GitHub-Api-Version": "2022-11-28",
    }
    data = None if body is None else json.dumps(body).encode()
    with build_opener(NoRedirects).open(Request(url, data, headers, method=method), timeout=SECONDS) as response:
        content = response.read(MAX_RESPONSE_BYTES + 1)
    if len(content) > MAX_RESPONSE_BYTES:
        raise ValueError(f"the response is larger than {MAX_RESPONSE_BYTES:,} bytes")
    return json.loads(content)


class NoRedirects(HTTPRedirectHandler):
    """Follows no redirects, which would send the token to another server."""

    def redirect_request(self, *_request: object) -> None:
        """Return no request, so that the redirect is an error."""


def warn(text: str) -> None:
    """Print a warning that the runner shows on the page of the job."""
    escaped = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    escaped = "".join(letter if letter.isprintable() else f"\\x{ord(letter):02x}" for letter in escaped)
    print(f"::warning title=contractlog check::{escaped}")


if __name__ == "__main__":
    sys.exit(main())
