"""``contractlog completion``: scripts that complete command lines in bash, zsh and fish.

They complete verbs, options, subjects and environments. A script contains the verbs only, so that loading it in a new
shell takes no longer than ``contractlog --help``. It requests the rest when it needs it, so that it is that of the
installed release.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final, NoReturn

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.output import print_result
from contractlog.clients.cli.verb_parser import VerbParser
from contractlog.clients.cli.verbs import VERBS
from contractlog.clients.functions_by_name import import_function
from contractlog.compatibility.errors import UsageError

__all__ = ["completion"]

#: Verbs whose first positional word is a subject; after an action such as ``get`` if the verb has actions.
_SUBJECT_VERBS: Final = (
    "backtest", "compat", "config", "delete", "mode", "pull", "show", "subjects", "undelete", "versions", "whoami",
)  # fmt: skip
_ASK_SUBJECTS: Final = "contractlog subjects --format plain --timeout 1 --limit 500"

_BASH: Final = r"""# contractlog: completion for bash; load it with: source <(contractlog completion bash)
_contractlog() {
    local line="${COMP_LINE:0:COMP_POINT}" word candidates="" prefix="" index
    local -a words environment=()
    read -a words <<<"$line"  # without -r: a backslash keeps the next character in the word
    [[ $line == *[[:space:]] && $line != *\\[[:space:]] ]] && words+=("")
    word="${words[${#words[@]}-1]}"
    if (( ${#words[@]} <= 2 )); then
        candidates=$'@VERBS@'
    elif [[ ${words[${#words[@]}-2]} == --environment || $word == --environment=* ||
            ( ${words[1]} == promote && ${#words[@]} -le 4 && $word != -* ) ]]; then
        candidates="$(contractlog completion environments -- "${words[@]:1}" 2>/dev/null </dev/null)"
        [[ $COMP_WORDBREAKS == *=* && $word == *=* ]] && prefix="${word%%=*}="
    elif [[ $word == -* ]]; then
        candidates="$(contractlog completion words -- "${words[@]:1:2}" 2>/dev/null </dev/null)"
    elif [[ " @SUBJECT_VERBS@ " == *" ${words[1]} "* ]]; then
        (( ${#words[@]} == 3 )) &&
            candidates="$(contractlog completion actions -- "${words[1]}" 2>/dev/null </dev/null)"
        for ((index = 2; index < ${#words[@]} - 1; index++)); do
            [[ ${words[index]} == --environment=* ]] && environment=("${words[index]}")
            [[ ${words[index]} == --environment ]] && environment=("--environment=${words[index+1]}")
        done
        [[ -n $candidates ]] ||
            candidates="$(@ASK_SUBJECTS@ "${environment[@]}" -- "$word" 2>/dev/null </dev/null)"
    elif (( ${#words[@]} == 3 )); then
        candidates="$(contractlog completion actions -- "${words[1]}" 2>/dev/null </dev/null)"
    fi
    COMPREPLY=()
    # bash breaks words at colons, and replaces only what follows the last one
    [[ $COMP_WORDBREAKS == *:* && $word == *:* ]] && prefix="${word%"${word##*:}"}"
    while IFS= read -r line; do
        [[ -n $line && $line == "$word"* ]] && COMPREPLY+=("$(printf '%q' "${line#"$prefix"}")")
    done <<<"$candidates"
}
complete -o default -F _contractlog contractlog
"""

_ZSH: Final = r"""#compdef contractlog
# contractlog: completion for zsh; load it with: source <(contractlog completion zsh)
_contractlog() {
    local -a candidates environment
    local prefix="$PREFIX"
    local -i index=${words[(I)--environment(|=*)]}
    [[ -n $compstate[quote] ]] || prefix="${(Q)PREFIX}"  # in quotes, it has no backslashes to remove
    if (( CURRENT <= 2 )); then
        candidates=(@VERB_WORDS@)
    elif [[ ${words[CURRENT-1]} == --environment || ${words[CURRENT]} == --environment=* ||
            ( ${words[2]} == promote && $CURRENT -le 4 && ${words[CURRENT]} != -* ) ]]; then
        candidates=(${(f)"$(contractlog completion environments -- "${(@)words[2,CURRENT]}" 2>/dev/null </dev/null)"})
    elif [[ ${words[CURRENT]} == -* ]]; then
        candidates=(${(f)"$(contractlog completion words -- "${(@)words[2,3]}" 2>/dev/null </dev/null)"})
    elif [[ " @SUBJECT_VERBS@ " == *" ${words[2]} "* ]]; then
        (( CURRENT == 3 )) &&
            candidates=(${(f)"$(contractlog completion actions -- "${words[2]}" 2>/dev/null </dev/null)"})
        if (( index && index < CURRENT )); then
            [[ ${words[index]} == *=* ]] && environment=("${words[index]}") ||
                environment=("--environment=${words[index+1]}")
        fi
        (( ${#candidates} )) ||
            candidates=(${(f)"$(@ASK_SUBJECTS@ "${(@)environment}" -- "$prefix" 2>/dev/null </dev/null)"})
    elif (( CURRENT == 3 )); then
        candidates=(${(f)"$(contractlog completion actions -- "${words[2]}" 2>/dev/null </dev/null)"})
    fi
    (( ${#candidates} )) && compadd -- "${candidates[@]}" || _files
}
compdef _contractlog contractlog
"""

_FISH: Final = r"""# contractlog: completion for fish; load it with: contractlog completion fish | source
function __contractlog_unquote --description 'Remove quotes and backslashes from an unfinished word'
    switch $argv[1]
        case "'*"
            string unescape -- "$argv[1]'"
        case '"*'
            string unescape -- "$argv[1]\""
        case '*'
            string unescape -- $argv[1]
    end
end
function __contractlog_complete
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    set -l candidates
    if test (count $words) -le 1
        set candidates (string split ' ' '@VERB_WORDS@')
    else if test "$words[-1]" = --environment; or string match -q -- '--environment=*' $word
        set candidates (contractlog completion environments -- $words[2..-1] "$word" 2>/dev/null </dev/null)
    else if test "$words[2]" = promote; and test (count $words) -le 3; and not string match -q -- '-*' $word
        set candidates (contractlog completion environments -- $words[2..-1] "$word" 2>/dev/null </dev/null)
    else if string match -q -- '-*' $word
        set candidates (contractlog completion words -- $words[2..3] 2>/dev/null </dev/null)
    else
        test (count $words) -eq 2
        and set candidates (contractlog completion actions -- $words[2] 2>/dev/null </dev/null)
        if test (count $candidates) -eq 0; and contains -- $words[2] @SUBJECT_VERBS@
            set -l environment (string match -- '--environment=*' $words)[-1]
            set -l index (contains -i -- --environment $words)
            and set environment --environment=$words[(math $index + 1)]
            set candidates (@ASK_SUBJECTS@ $environment -- (__contractlog_unquote $word) 2>/dev/null </dev/null)
        end
    end
    if test (count $candidates) -gt 0
        printf '%s\n' $candidates
    else
        __fish_complete_path $word
    end
end
complete -c contractlog -f -a '(__contractlog_complete)'
"""

_SCRIPTS: Final = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}


class _ParsedArguments(Exception):
    """Raised in place of parsing, when a verb has added its arguments."""


class _ArgumentRecorder(VerbParser):
    """Parser that ends a verb before it does anything."""

    def parse_args(self, *_: object, **__: object) -> NoReturn:
        """Raise ``_ParsedArguments``."""
        raise _ParsedArguments

    def parse_intermixed_args(self, *_: object, **__: object) -> NoReturn:
        """Raise ``_ParsedArguments``."""
        raise _ParsedArguments


def completion(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Print the script for a shell; scripts request the words, actions and environments that fit."""
    requests = ("words", "actions", "environments")
    parser.add_argument("shell", choices=(*_SCRIPTS, *requests), metavar="bash|zsh|fish", help="the shell")
    parser.add_argument("words", nargs="*", metavar="", help="what a script asks for")
    options = parser.parse_intermixed_args(argv)
    if options.shell in _SCRIPTS:
        if options.words:
            parser.error(f"unrecognized arguments: {' '.join(options.words)}")
        _print_script(_SCRIPTS[options.shell])
    else:
        for word in _list_environments(options.words) if options.shell == "environments" else _list_words(options):
            print_result(word)
    return exit_codes.CLEAN


def _print_script(script: str) -> None:
    values = {
        "@VERBS@": r"\n".join(VERBS),
        "@VERB_WORDS@": " ".join(VERBS),
        "@SUBJECT_VERBS@": " ".join(_SUBJECT_VERBS),
        "@ASK_SUBJECTS@": _ASK_SUBJECTS,
    }
    for mark, value in values.items():
        script = script.replace(mark, value)
    print(script, end="")


def _list_environments(words: Sequence[str]) -> list[str]:
    """Return the environments of the manifest of a command line, whose last word is unfinished."""
    from contractlog.clients.cli.schema_folder.manifest import find_manifest  # noqa: PLC0415 - not for the scripts

    manifest: Path | None = None
    for word, following in pairwise(words):
        if word == "--manifest" or word.startswith("--manifest="):
            manifest = Path(word.partition("=")[2] or following)
    folders = [word for word in words[1:-1] if Path(word).is_dir()]
    loaded = find_manifest(manifest, folders)
    option = "--environment=" if words[-1:] and words[-1].startswith("--environment=") else ""
    return [] if loaded is None else [option + name for name in loaded.environments]


def _list_words(options: Namespace) -> list[str]:
    """Return the actions of a verb, or the options of the verb or of its action."""
    verb, action = [*options.words, "", ""][:2]
    if verb not in VERBS:
        return []
    recorder = _ArgumentRecorder(prog=verb)
    try:
        import_function(VERBS[verb].target)(recorder, [])
    except _ParsedArguments:
        pass
    except ModuleNotFoundError as missing:
        raise UsageError(f"`contractlog {verb}` needs an extra that is not installed: {missing}") from None
    actions = recorder.action_parsers()
    if options.shell == "actions":
        return list(actions)
    parser = actions.get(action, recorder)
    return sorted(name for name in parser.option_names() if name.startswith("--"))
