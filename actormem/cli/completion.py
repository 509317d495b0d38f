"""`actormem completion`: what a shell needs to complete the command line.

Law: all of it is read from the parser itself, when it is asked for; so it cannot know less, or more, than that does.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import cast

import msgspec

__all__ = ["Choice", "Command", "add_completion", "bash", "commands_of", "fish", "zsh"]

ABOUT = """\
Prints a script by which a shell completes commands, options and their values. It is made from the
command line of the version that is installed: make it anew after an update, or have it made at each
start of the shell."""
EXAMPLES = """\
examples:
  source <(actormem completion bash)                   in ~/.bashrc
  source <(actormem completion zsh)                    in ~/.zshrc, after compinit
  actormem completion fish > ~/.config/fish/completions/actormem.fish
"""
FILES = ("FOLDER", "LOG", "FILE", "PATH")  # what metavars of paths are called


class Choice(msgspec.Struct, frozen=True):
    """An option of a command: its names, what it does, and what may stand after it."""

    names: tuple[str, ...]
    about: str
    has_value: bool
    values: tuple[str, ...] = ()
    is_file: bool = False


class Command(msgspec.Struct, frozen=True):
    """A command: the words that call it, what may follow them, and what each option is."""

    words: tuple[str, ...]
    steps: tuple[tuple[str, str], ...]
    options: tuple[Choice, ...]
    values: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """Its words; empty for the command line itself."""
        return " ".join(self.words)


def add_completion(
    add_parser: Callable[..., argparse.ArgumentParser], whole: Callable[[], argparse.ArgumentParser]
) -> None:
    """Let the command line understand it.

    Args:
        whole: Makes the parser that is to be completed.
    """
    look = add_parser("completion", help="print a completion script for a shell", description=ABOUT)
    look.epilog = f"{EXAMPLES}\n{look.epilog}"
    look.add_argument("shell", choices=sorted(SHELLS), help="which one")

    async def run(options: argparse.Namespace) -> int:
        print(SHELLS[options.shell](list(commands_of(whole()))), end="")
        return 0

    look.set_defaults(run=run)


def commands_of(parser: argparse.ArgumentParser, words: tuple[str, ...] = ()) -> Iterator[Command]:
    """The command line itself, and every command of it."""
    options: list[Choice] = []
    steps: list[tuple[str, str]] = []
    values: tuple[str, ...] = ()
    below: list[tuple[tuple[str, ...], argparse.ArgumentParser]] = []
    for action in parser._actions:  # pyright: ignore[reportPrivateUsage]
        if isinstance(action, argparse._SubParsersAction):  # pyright: ignore[reportPrivateUsage]
            abouts = {one.dest: one.help or "" for one in action._choices_actions}  # pyright: ignore
            children = cast("dict[str, argparse.ArgumentParser]", cast("argparse.Action", action).choices)
            for name, child in children.items():
                steps.append((name, _line(abouts.get(name, ""))))
                below.append(((*words, name), child))
        elif action.option_strings:
            is_file = action.type is Path or action.metavar in FILES
            options.append(
                Choice(
                    tuple(action.option_strings),
                    _line(action.help or ""),
                    action.nargs != 0,
                    _values(action),
                    is_file,
                )
            )
        else:
            values += _values(action)
    yield Command(words, tuple(steps), tuple(options), values)
    for path, child in below:
        yield from commands_of(child, path)


def bash(commands: Sequence[Command]) -> str:
    """The script for bash."""
    after = [
        (_pattern(f"{one.path} {name}"), choice)
        for one in commands
        for choice in one.options
        for name in choice.names
        if choice.has_value
    ]
    files = [pattern for pattern, choice in after if choice.is_file]
    lines = [
        "# bash completion for actormem",
        "_actormem() {",
        '  local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}" at="" word',
        "  COMPREPLY=()",
        '  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do',
        f'    case "$at $word" in {_steps(commands)}) at="${{at:+$at }}$word" ;; esac',
        "  done",
        '  case "$at $prev" in',
    ]
    lines += [f"    {'|'.join(files)}) return ;;"] if files else []
    lines += [
        f'    {pattern}) COMPREPLY=($(compgen -W "{" ".join(choice.values)}" -- "$cur")); return ;;'
        for pattern, choice in after
        if choice.values
    ]
    plain = [pattern for pattern, choice in after if not choice.values and not choice.is_file]
    lines += [f"    {'|'.join(plain)}) compopt +o default 2>/dev/null; return ;;"] if plain else []
    lines += ["  esac", '  local words=""', '  case "$at" in']
    for one in commands:
        options = " ".join(name for choice in one.options for name in choice.names)
        rest = " ".join([*(name for name, _ in one.steps), *one.values])
        lines.append(
            f'    {_pattern(one.path)}) if [[ "$cur" == -* ]]; then words="{options}"; else words="{rest}"; fi ;;'
        )
    lines += [
        "  esac",
        '  COMPREPLY=($(compgen -W "$words" -- "$cur"))',
        "}",
        "complete -o default -F _actormem actormem",
    ]
    return "\n".join(lines) + "\n"


def zsh(commands: Sequence[Command]) -> str:
    """The script for zsh, as a file of `fpath` or to be sourced."""
    lines = [
        "#compdef actormem",
        "_actormem() {",
        '  local at="" word',
        "  local -a steps options",
        '  for word in "${(@)words[2,CURRENT-1]}"; do',
        f'    case "$at $word" in ({_steps(commands)}) at="${{at:+$at }}$word" ;; esac',
        "  done",
        '  case "$at ${words[CURRENT-1]}" in',
    ]
    for one in commands:
        for choice in one.options:
            if not choice.has_value:
                continue
            names = "|".join(_pattern(f"{one.path} {name}") for name in choice.names)
            values = f"compadd -- {' '.join(choice.values)}" if choice.values else "_message value"
            lines.append(f"    ({names}) {'_files' if choice.is_file else values}; return ;;")
    lines += ["  esac", '  case "$at" in']
    for one in commands:
        told = [_zsh(name, choice.about) for choice in one.options for name in choice.names]
        steps = [*(_zsh(name, about) for name, about in one.steps), *one.values]
        lines.append(f"    ({_pattern(one.path)}) options=({_quoted(told)}); steps=({_quoted(steps)}) ;;")
    lines += [
        "  esac",
        '  if [[ "${words[CURRENT]}" == -* ]]; then _describe option options',
        "  elif (( ${#steps} )); then _describe command steps",
        "  else _files; fi",
        "}",
        'if [[ "${funcstack[1]}" == _actormem ]]; then _actormem "$@"; else compdef _actormem actormem; fi',
    ]
    return "\n".join(lines) + "\n"


def fish(commands: Sequence[Command]) -> str:
    """The script for fish."""
    steps = " ".join(_pattern(f"{' '.join(one.words[:-1])} {one.words[-1]}") for one in commands if one.words)
    lines = [
        "# fish completion for actormem",
        "function __actormem_at",
        '  set -l at ""',
        "  for word in (commandline -opc)[2..-1]",
        '    switch "$at $word"',
        f"      case {steps}",
        '        set at (string trim -- "$at $word")',
        "    end",
        "  end",
        '  test "$at" = "$argv[1]"',
        "end",
    ]
    for one in commands:
        start = f"complete -c actormem -n '__actormem_at \"{one.path}\"'"
        lines += [f"{start} -f -a {name} -d {_fish(about)}" for name, about in one.steps]
        lines += [f"{start} -f -a {value}" for value in one.values]
        for choice in one.options:
            names = " ".join(
                f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in choice.names
            )
            values = (
                f" -x -a '{' '.join(choice.values)}'"
                if choice.values
                else " -r -F"
                if choice.is_file
                else " -x"
            )
            lines.append(f"{start} {names}{values if choice.has_value else ''} -d {_fish(choice.about)}")
    return "\n".join(lines) + "\n"


SHELLS: dict[str, Callable[[Sequence[Command]], str]] = {"bash": bash, "zsh": zsh, "fish": fish}


def _steps(commands: Sequence[Command]) -> str:
    """A pattern of every command, as the command above it and its own word."""
    return "|".join(_pattern(f"{' '.join(one.words[:-1])} {one.words[-1]}") for one in commands if one.words)


def _pattern(text: str) -> str:
    return f'"{text}"'


def _quoted(texts: Sequence[str]) -> str:
    return " ".join("'" + text.replace("'", "'\\''") + "'" for text in texts)


def _zsh(name: str, about: str) -> str:
    """A name and what it is, as `_describe` takes them apart."""
    escaped = about.replace(":", "\\:")
    return f"{name}:{escaped}"


def _fish(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _values(action: argparse.Action) -> tuple[str, ...]:
    return tuple(str(one) for one in action.choices or ())


def _line(text: str) -> str:
    """A help text in one line, as argparse would print it."""
    return " ".join(text.replace("%%", "%").split())
