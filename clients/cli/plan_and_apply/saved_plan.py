"""Plans saved in files: written, read, and compared with the state at the time of ``apply``."""

from __future__ import annotations

import json
import os
from argparse import ArgumentTypeError, Namespace
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from contractlog.clients.atomic_file import open_atomically
from contractlog.clients.bounded_file import read_bounded_file
from contractlog.clients.cli.credential_selection import has_credentials, list_urls, select_security
from contractlog.clients.cli.options import format_reference, parse_reference
from contractlog.clients.cli.output import print_message
from contractlog.clients.cli.plan_and_apply.association_steps import BindSubject, UnbindSubject
from contractlog.clients.cli.plan_and_apply.contract_steps import PutContract
from contractlog.clients.cli.plan_and_apply.planner import Plan
from contractlog.clients.cli.plan_and_apply.registry_state import (
    SavedSubject,
    describe_moved_subject,
    parse_states,
    read_states,
)
from contractlog.clients.cli.plan_and_apply.steps import (
    DeleteSubject,
    Register,
    RegisterWaived,
    SetConfig,
    SetLevel,
    SetMode,
    Step,
    compute_digest,
    step_key,
)
from contractlog.clients.cli.schema_folder.environment import DEFAULT, resolve_environment
from contractlog.clients.cli.schema_folder.manifest import find_manifest
from contractlog.clients.file_errors import ControlFile, FileError, control_file_error
from contractlog.clients.registry import Registry
from contractlog.clients.settings import (
    DEFAULT_URL,
    URL_VARIABLES,
    environment_variable,
    environment_variables,
    find_url_variables,
    registry_url,
)
from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.level import Level
from contractlog.compatibility.schema import Reference

__all__ = ["SavedPlan", "find_deviation", "read_plan", "write_plan"]

_MAX_PLAN_BYTES: Final = 256 * 1024 * 1024
_MAX_STEPS: Final = 100_000

SAVED_PLAN_FORMAT: Final = "contractlog.saved-plan/1"
_KINDS: Final[Mapping[str, type[Step]]] = {
    kind.action: kind
    for kind in (
        SetLevel,
        SetMode,
        SetConfig,
        Register,
        RegisterWaived,
        BindSubject,
        UnbindSubject,
        PutContract,
        DeleteSubject,
    )
}


@dataclass(frozen=True, slots=True)
class SavedPlan:
    """A plan that was read from a file."""

    steps: Sequence[Any]
    states: Mapping[str, SavedSubject]  #: of the subjects of the folder when the plan was made

    def restores(self, step: Step) -> bool:
        """Return whether a step restores the level that an interrupted registration by waiver lowered."""
        return isinstance(step, SetLevel) and any(
            body["action"] == RegisterWaived.action
            and (body["subject"], body["level"], Level.NONE.value)
            == (step.subject, step.change.after, step.change.before)
            for body in self.steps
        )


def write_plan(options: Namespace, registry: Registry, plan: Plan) -> None:
    """Write a plan to the file of ``--out``; if it cannot be applied, remove that file.

    Raises:
        UsageError: the file cannot be written.
    """
    if plan.is_blocked:
        options.out.unlink(missing_ok=True)  # an earlier plan must not be applied in its place
        print_message(f"{options.out} was not written: the plan cannot be applied")
        return
    arguments = {name: getattr(options, name) for name in ("files", "subject", "normalize", "environment", "prune")}
    arguments["manifest"] = None if options.manifest is None else str(options.manifest.path)
    arguments["references"] = [format_reference(each) for each in options.references]
    url = ",".join(list_urls(registry_url(options.registry)))
    steps = [step.body() for step in plan.steps()]
    folder = os.path.relpath(Path.cwd(), options.out.resolve().parent)
    states = {subject: asdict(state) for subject, state in read_states(registry, list(plan.latest)).items()}
    body = {
        "format": SAVED_PLAN_FORMAT,
        "registry": url,
        "folder": folder,
        "arguments": arguments,
        "steps": steps,
        "subjects": states,
    }
    try:
        with open_atomically(options.out) as file:
            file.write((json.dumps(body, indent=2) + "\n").encode())
    except OSError as error:
        raise UsageError(f"`{options.out}` cannot be written: {error.strerror or error}") from None


def read_plan(options: Namespace) -> SavedPlan:
    """Take the arguments from a saved plan, and return its steps and the state of its subjects.

    Raises:
        UsageError: it cannot be read, or other arguments are given besides.
    """
    own = ("files", "subject", "references", "manifest", "environment", "prune")
    if any(getattr(options, name) for name in own):
        raise UsageError("a plan has its own files and settings: name only --plan and the registry")
    try:
        body = json.loads(read_bounded_file(options.plan, _MAX_PLAN_BYTES))
        _require_storable(body)
    except OSError as error:
        raise _plan_error(options.plan, f"`{options.plan}` cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError):
        body = None
    match body:
        case {
            "format": "contractlog.saved-plan/1",
            "arguments": {
                "files": [*files],
                "subject": (str() | None) as subject,
                "normalize": bool() as normalize,
                "environment": (str() | None) as environment,
                "manifest": (str() | None) as manifest,
                "references": [*references],
            },
            "registry": str() as url,
            "steps": [*steps],
            "subjects": subjects,
        } if (
            (states := parse_states(subjects)) is not None
            and all(map(_kind_of, steps))
            and all(isinstance(each, str) for each in (*files, *references))
        ):
            if len(steps) > _MAX_STEPS:
                message = (
                    f"`{options.plan}` has {len(steps):,} steps, more than {_MAX_STEPS:,}: plan fewer folders at a time"
                )
                raise _plan_error(options.plan, message)
            locate = _find_folder(options.plan, body.get("folder"), [*files, *([manifest] if manifest else [])])
            options.files, options.subject = [locate(path) for path in files], subject
            options.normalize, options.environment = normalize, environment
            options.prune = body["arguments"].get("prune") is True
            options.manifest = None if manifest is None else Path(locate(manifest))
            _require_registry(options, url)
            options.references = _parse_references(options.plan, references)
            steps = [step | {"file": locate(str(step["file"]))} if "file" in step else step for step in steps]
            return SavedPlan(steps, states)
        case {"format": "contractlog.plan/1", "steps": _}:
            raise _plan_error(
                options.plan, f"`{options.plan}` was written by an earlier version of contractlog: plan again"
            )
    raise _plan_error(options.plan, f"`{options.plan}` is not a plan that `contractlog plan --out` wrote")


def _require_storable(body: Any) -> None:
    """Reject texts that neither files nor registries can have: half of a surrogate pair, NUL.

    Raises:
        ValueError: there are some.
    """
    text = json.dumps(body, ensure_ascii=False)
    text.encode()  # raises for half of a surrogate pair
    if "\\u0000" in text:
        raise ValueError("NUL")


def _parse_references(plan: Path, texts: Iterable[str]) -> list[Reference]:
    try:
        return [parse_reference(each) for each in texts]
    except (ArgumentTypeError, ValueError) as error:
        raise _plan_error(plan, f"the plan has a reference that cannot be read: {error}") from None


def _plan_error(plan: Path, message: str) -> UsageError:
    return control_file_error([FileError(ControlFile.PLAN, plan, message)])


def _find_folder(plan: Path, folder: Any, paths: Sequence[str]) -> Callable[[str], str]:
    """Return a function that converts a path of a plan to one from the working directory.

    The paths are relative to the folder in which the plan was made, which is known relative to the plan file. If the
    plan file was moved and the paths are not there, they are relative to the working directory.

    Raises:
        UsageError: they are in neither folder.
    """
    made_in = plan.resolve().parent / str(folder or ".")
    if isinstance(folder, str) and all((made_in / path).exists() for path in paths):
        if made_in.resolve() == Path.cwd().resolve():
            return str
        return lambda path: path if Path(path).is_absolute() else os.path.relpath(made_in / path)
    missing = next((path for path in paths if not Path(path).exists()), None)
    if missing is not None:
        raise _plan_error(
            plan,
            f"`{plan}` is for `{missing}`, which is neither at its place relative to the plan file nor in the working "
            "directory: move the plan file to where it was written, or plan again",
        )
    return str


def find_deviation(saved_plan: SavedPlan, registry: Registry, plan: Plan) -> str | None:
    """Return how the registry or the remaining steps differ from a saved plan; None if they do not.

    Some steps of the saved plan may be done already.
    """
    saved, states = saved_plan.steps, saved_plan.states
    moved = describe_moved_subject(states, read_states(registry, list(states)), saved, plan)
    if moved is not None or plan.is_blocked:  # then the steps differ
        return moved
    left = {step.key: step for step in plan.steps()}
    done: Counter[str] = Counter()  # versions registered since the plan, by subject
    for body in saved:
        kind = _kind_of(body)
        current = left.pop(step_key(body), None)
        planned = f"{_name_step(body)}: the plan has this step"
        if current is not None:
            if not current.continues(body, done) and not saved_plan.restores(current):
                return f"{planned}, and the subject has changed since"
        elif kind is None or not kind.was_done(body, plan):
            return (
                _describe_changed_file(body, plan) or f"{planned}, which is done, or no longer follows from the files"
            )
        elif issubclass(kind, Register):
            done[body["subject"]] += 1
    new = next((step for step in left.values() if not saved_plan.restores(step)), None)
    if new is None:
        return None
    if isinstance(new, Register):
        return f"`{new.planned.file.path}` was edited or added since the plan: it would be a version of `{new.subject}`"
    return f"{_name_step(new.body())}: this step is needed now, and not in the plan"


def _name_step(body: Mapping[str, Any]) -> str:
    """Return the name of a step, as a plan shows it, from its JSON object."""
    action, subject = str(body["action"]), f"`{body['subject']}`"
    if action == PutContract.action:
        return f"contract of {body['topic']} in {body['file']}"
    if action.startswith("set "):
        return f"{body.get('setting', action.removeprefix('set '))} of {subject}"
    return {
        Register.action: f"new version of {subject}",
        RegisterWaived.action: f"new version of {subject}, by a waiver",
        DeleteSubject.action: f"soft-delete {subject}",
    }.get(action, f"{action} {body.get('part', '')} of {body.get('topic', '')} to {subject}")


def _describe_changed_file(saved: Mapping[str, Any], plan: Plan) -> str | None:
    """Return the reason why a file is not registered as in a saved step; None if the file is the same."""
    if "file" not in saved or saved["action"] == PutContract.action:
        return None
    path, subject = str(saved["file"]), saved["subject"]
    file = next((each.file for each in plan.registrations if str(each.file.path) == path), None)
    if file is None:
        return f"`{path}` was removed or renamed since the plan, which registers it as a version of `{subject}`"
    same = compute_digest(file) == saved["sha256"]
    return None if same else f"`{path}` was edited since the plan, which registers it as a version of `{subject}`"


def _kind_of(saved: Any) -> type[Step] | None:
    """Return the class of a step's JSON object, or None if it is none."""
    if not isinstance(saved, dict) or not isinstance(saved.get("subject"), str):
        return None
    kind = _KINDS.get(str(saved.get("action")))
    if kind is None or not all(name in saved and isinstance(saved[name], each) for name, each in kind.members.items()):
        return None
    return kind


def _require_registry(options: Namespace, planned: str) -> None:
    """Require that the registry of a plan is the one that the command has without it.

    A plan may come from a pull request, so it does not decide where credentials are sent: its own registry is used only
    if there are none, and nothing else names a registry.

    Raises:
        UsageError: it differs.
    """
    name = options.environment
    variable = URL_VARIABLES[0] if name is None else environment_variable(name)
    own = None if name is None else environment_variables(name).get(URL_VARIABLES[0])
    given = options.registry or own or next(filter(None, map(os.environ.get, URL_VARIABLES)), None)
    others = [] if given else sorted(find_url_variables())
    resolved = given or (None if others else _find_default_registry(options))
    if resolved is None and not others and not has_credentials(select_security(options)):
        resolved = planned
    if resolved is None or ",".join(list_urls(resolved)) != planned:
        if resolved is not None:
            reason = f"not for {','.join(list_urls(resolved))}"
        else:
            reason = f"which is not that of {' or '.join(others)}" if others else "which nothing else names"
        advice = (
            "plan again" if options.registry or own else f"if it is meant, set {variable} to it, or pass --registry"
        )
        raise _plan_error(options.plan, f"the plan is for the registry {planned}, {reason}: {advice}")
    if given or name is None:  # else the manifest's, which `select_environment` chooses
        options.registry = resolved


def _find_default_registry(options: Namespace) -> str | None:
    """Return the registry without an argument or a variable for one; None: there is none.

    The plan names its manifest and files, so the manifest must be one that commands in this directory find.
    """
    folders = [text for text in options.files if Path(text).resolve().is_relative_to(Path.cwd())]
    manifest, name = find_manifest(None, folders), options.environment
    if options.manifest is not None and (manifest is None or manifest.path.resolve() != options.manifest.resolve()):
        return None
    if manifest is None:
        return DEFAULT_URL if name is None else None
    if name is None and DEFAULT not in manifest.environments:
        return None if manifest.environments else DEFAULT_URL
    return resolve_environment(manifest, name or DEFAULT).registry
