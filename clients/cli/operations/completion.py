"""``contractlog completion``: scripts that complete verbs, options and subjects in bash, zsh and fish.

A script contains the verbs only, so that loading it in a new shell takes no longer than ``contractlog --help``. It
requests options and subjects when it needs them, so they are those of the installed release.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
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
    local line="${COMP_LINE:0:COMP_POINT}" word candidates="" prefix=""
    local -a words
    read -a words <<<"$line"  # without -r: a backslash keeps the next character in the word
    [[ $line == *[[:space:]] && $line != *\\[[:space:]] ]] && words+=("")
    word="${words[${#words[@]}-1]}"
    if (( ${#words[@]} <= 2 )); then
        candidates=$'@VERBS@'
    elif [[ $word == -* ]]; then
        candidates="$(contractlog completion words -- "${words[@]:1:2}" 2>/dev/null </dev/null)"
    elif [[ " @SUBJECT_VERBS@ " == *" ${words[1]} "* ]]; then
        (( ${#words[@]} == 3 )) &&
            candidates="$(contractlog completion actions -- "${words[1]}" 2>/dev/null </dev/null)"
        [[ -n $candidates ]] || candidates="$(@ASK_SUBJECTS@ -- "$word" 2>/dev/null </dev/null)"
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
    local -a candidates
    local prefix="$PREFIX"
    [[ -n $compstate[quote] ]] || prefix="${(Q)PREFIX}"  # in quotes, it has no backslashes to remove
    if (( CURRENT <= 2 )); then
        candidates=(@VERB_WORDS@)
    elif [[ ${words[CURRENT]} == -* ]]; then
        candidates=(${(f)"$(contractlog completion words -- "${(@)words[2,3]}" 2>/dev/null </dev/null)"})
    elif [[ " @SUBJECT_VERBS@ " == *" ${words[2]} "* ]]; then
        (( CURRENT == 3 )) &&
            candidates=(${(f)"$(contractlog completion actions -- "${words[2]}" 2>/dev/null </dev/null)"})
        (( ${#candidates} )) ||
            candidates=(${(f)"$(@ASK_SUBJECTS@ -- "$prefix" 2>/dev/null </dev/null)"})
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
    else if string match -q -- '-*' $word
        set candidates (contractlog completion words -- $words[2..3] 2>/dev/null </dev/null)
    else
        test (count $words) -eq 2
        and set candidates (contractlog completion actions -- $words[2] 2>/dev/null </dev/null)
        if test (count $candidates) -eq 0; and contains -- $words[2] @SUBJECT_VERBS@
            set candidates (@ASK_SUBJECTS@ -- (__contractlog_unquote $word) 2>/dev/null </dev/null)
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
    """Print the script for a shell; scripts request ``words VERB`` and ``actions VERB``."""
    parser.add_argument("shell", choices=(*_SCRIPTS, "words", "actions"), metavar="bash|zsh|fish", help="the shell")
    parser.add_argument("words", nargs="*", metavar="", help="what a script asks for")
    options = parser.parse_intermixed_args(argv)
    if options.shell in _SCRIPTS:
        if options.words:
            parser.error(f"unrecognized arguments: {' '.join(options.words)}")
        _print_script(_SCRIPTS[options.shell])
    else:
        for word in _list_words(options):
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
