"""The command line: `graphlint COMMAND`. A command's module is imported when the command is called."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from typing import Dict, List, Optional, Sequence, Tuple

import click

from graphlint import __version__
from graphlint.errors import GraphlintError
from graphlint.lang import Text, default_language, say

COMMANDS: Dict[str, Text] = {
    "check": Text(
        "Find what breaks or silently differs in graph mode.", "找出图模式下会报错或结果悄然不同的地方。"
    ),
    "verify": Text("Prove findings with the real compiler.", "用真实的编译器逐条验证检查结果。"),
    "rule": Text("Explain a rule, or all of them.", "解释一条或全部规则。"),
    "explain": Text("Find the rule for a compiler error.", "根据编译器报错找到对应的规则。"),
    "doctor": Text("Say what this machine can verify.", "说明本机能够验证什么。"),
    "baseline": Text("Accept known findings, fail on new ones.", "记录已知问题，只对新问题报错。"),
    "server": Text("Run the language server for editors.", "启动供编辑器使用的语言服务器。"),
    "completion": Text("Print the completion script of a shell.", "输出 shell 自动补全脚本。"),
}
"""Every command that an installation may have; `graphlint.cli.<name>` holds it under the same name."""

INTERRUPTED = 130
BROKEN_PIPE = 141


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports one only to run it."""

    def parse_args(self, ctx: click.Context, args: List[str]) -> List[str]:
        ctx.meta["graphlint.words"] = tuple(args)
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> List[str]:
        return [name for name in COMMANDS if importlib.util.find_spec(f"graphlint.cli.{name}") is not None]

    def get_command(self, ctx: click.Context, cmd_name: str) -> Optional[click.Command]:
        if cmd_name not in self.list_commands(ctx):
            return None
        command: click.Command = getattr(importlib.import_module(f"graphlint.cli.{cmd_name}"), cmd_name)
        if _wants_chinese_help(ctx):
            from graphlint.cli.help_zh import OPTIONS, STARTS

            command.help = COMMANDS[cmd_name].zh
            for option in command.params:
                if isinstance(option, click.Option) and option.help:
                    option.help = OPTIONS.get(option.help, option.help)
                    for start, chinese in STARTS.items():
                        if option.help.startswith(start):
                            option.help = chinese + option.help[len(start) :]
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        lang = default_language()
        with formatter.section("命令" if lang == "zh" else "Commands"):
            formatter.write_dl([(name, COMMANDS[name].in_(lang)) for name in self.list_commands(ctx)])


def _wants_chinese_help(ctx: click.Context) -> bool:
    """True where help is asked for, and in Chinese: by `--lang` on the command line, else by the locale."""
    words: Tuple[str, ...] = ctx.meta.get("graphlint.words", ())
    if not {"-h", "--help"} & set(words):
        return False
    for number, word in enumerate(words):
        if word == "--lang" and number + 1 < len(words):
            return words[number + 1] == "zh"
        if word.startswith("--lang="):
            return word == "--lang=zh"
    return default_language() == "zh"


@click.group(
    cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(__version__, "-V", "--version", prog_name="graphlint", message="%(prog)s %(version)s")
def cli() -> None:
    """Find the places where a MindSpore model breaks, or silently differs, in graph mode."""


def main(arguments: Optional[Sequence[str]] = None) -> None:
    """Runs the command line and ends the process with the command's exit code; never shows a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    code = run(arguments)
    try:
        if not sys.stdout.closed:
            sys.stdout.flush()
    except BrokenPipeError:
        code = _broken_pipe()
    except OSError as error:
        click.echo(f"graphlint: {error.strerror}", err=True)
        code = 3
    sys.exit(code)


def run(arguments: Optional[Sequence[str]] = None) -> int:
    """Runs one command and returns its exit code."""
    try:
        result = cli.main(
            list(arguments) if arguments is not None else None, "graphlint", standalone_mode=False
        )
        return result if isinstance(result, int) else 0
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.ClickException as error:
        error.show()
        return 2
    except GraphlintError as error:
        click.echo(f"graphlint: {error}", err=True)
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    except BrokenPipeError:
        return _broken_pipe()
    except Exception as error:
        if os.environ.get("GRAPHLINT_DEBUG"):
            raise
        detail = " ".join(f"{type(error).__name__}: {error}".split())
        said = say("internal", default_language(), detail=detail, debug="GRAPHLINT_DEBUG=1")
        click.echo(f"graphlint: {said}", err=True)
        return 3


def _broken_pipe() -> int:
    """Lets the interpreter close a standard output that nobody reads any more without complaint."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return BROKEN_PIPE
