"""Loads the mutated modules instead of the installed ones, in tests and in programs they start.

KLEENE_MUTATION names a JSON file: a file for the name of each module that is mutated.
"""

import importlib.util
import json
import os
import sys


class _Finder:
    def __init__(self, files: dict[str, str]) -> None:
        self.files = files

    def find_spec(self, name, path=None, target=None):
        if name in self.files:
            return importlib.util.spec_from_file_location(name, self.files[name])
        return None


if plan := os.environ.get("KLEENE_MUTATION"):
    with open(plan) as file:
        sys.meta_path.insert(0, _Finder(json.load(file)))
