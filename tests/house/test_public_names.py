"""Public names, signatures and commands are those that data/public_names.txt lists."""

from __future__ import annotations

import public_names


def test_public_names_are_those_of_the_file() -> None:
    listed, found = public_names.FILE.read_text().splitlines(), public_names.names()
    gone = [f"- {line}" for line in listed if line not in found]
    new = [f"+ {line}" for line in found if line not in listed]
    renew = "python tests/house/public_names.py renews the file; say it in CHANGELOG.md"
    assert listed == found, "\n".join([renew, *gone, *new])
    assert len(found) > 1000
