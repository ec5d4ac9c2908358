"""`graphlint rule`."""

from __future__ import annotations

import json
from typing import Optional

import click

from graphlint.cli.output import write
from graphlint.config import unknown_rule
from graphlint.errors import UsageError
from graphlint.lang import LANGUAGES, default_language
from graphlint.rule_page import pages, text_page


@click.command()
@click.argument("rule", required=False, metavar="CODE|NAME")
@click.option("--all", "everything", is_flag=True, help="All rules.")
@click.option("--torch", metavar="NAME", help="What PyTorch's NAME is in MindSpore, such as nn.Conv2d.")
@click.option(
    "--output-format", type=click.Choice(["text", "json"]), default="text", help="How to print (text)."
)
@click.option(
    "--lang", type=click.Choice(LANGUAGES), help="Language of the headings (default: the locale's)."
)
def rule(
    rule: Optional[str], everything: bool, torch: Optional[str], output_format: str, lang: Optional[str]
) -> None:
    """Explain a rule: what it flags, why, an example, the rewrite, the effect by MindSpore version."""
    spoken = lang or default_language()
    if torch is not None:
        if rule is not None or everything:
            raise click.UsageError("give a rule or --torch, not both")
        from graphlint.torch_page import torch_pages

        write(torch_pages(torch, output_format, spoken))
        return
    if everything == (rule is not None):
        raise click.UsageError("give the code or name of one rule, or --all")
    known = pages()
    chosen = known if everything else [page for page in known if rule in (page.code, page.name)]
    if not chosen:
        names = {page.code: page.name for page in known}
        raise UsageError(unknown_rule(str(rule), names, spoken))
    if output_format == "json":
        data = [page.data() for page in chosen]
        write(json.dumps(data if everything else data[0], ensure_ascii=False, indent=2) + "\n")
    else:
        write("\n".join(text_page(page, spoken) for page in chosen))
