"""``kleene doctor``: what this machine offers, and what to install to get more."""

from __future__ import annotations

from kleene.cli.option_groups import with_option_groups
from kleene.cli.options import Output
from kleene.cli.output import facts, headline, line

__all__ = ["doctor"]


@with_option_groups
def doctor(output: Output) -> None:
    """Say what this machine offers, and how to get more."""
    from kleene.system.doctor import examine

    report = examine()

    def page() -> None:
        for title, section in report.in_words().items():
            headline(title)
            facts(section)
            line()
        headline("To get more" if report.advice else "Nothing is missing")
        for advice in report.advice:
            line(f"  {advice}")

    output.show({"command": "doctor", **report.as_dict()}, page)
