"""``kleene doctor``: what this machine supports, and what is missing."""

from __future__ import annotations

from kleene.cli.options import Output, command
from kleene.cli.output import facts, headline, line

__all__ = ["doctor"]


@command()
def doctor(*, output: Output) -> None:
    """Check this machine: devices, libraries, and what to install."""
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
