"""The versioned prompts: one set of files for every LLM judge, filled in with what the dataset says.

The procedure and the taxonomy are the dataset's and come in as arguments; judge code knows no domain. The same system
text goes to the outcome and the step judge, to the letter, so that a difference between them is a difference of the
view alone (testbed paper, section 4). A prompt is never edited once verdicts exist: a new wording is a new version
folder. The hash of the files goes into each judge's spec all the same, so an edit cannot pass unseen.
"""

from __future__ import annotations

import hashlib
from importlib import resources

from jinja2 import Environment, StrictUndefined

from trajaudit._fields import nearest
from trajaudit.taxonomy import Taxonomy

_FOLDER = resources.files("trajaudit.judges") / "prompts"
_TEMPLATES = Environment(undefined=StrictUndefined, autoescape=False, keep_trailing_newline=False)


class Prompt:
    """One version of the prompt.

    >>> Prompt("v0")
    Traceback (most recent call last):
    ...
    ValueError: prompt: unknown version 'v0' (did you mean 'v1'?); known: v1
    """

    def __init__(self, version: str = "v1") -> None:
        known = sorted(entry.name for entry in _FOLDER.iterdir() if entry.is_dir() and entry.name[:1] == "v")
        if version not in known:
            raise ValueError(f"prompt: unknown version {version!r}{nearest(version, known)}; known: {', '.join(known)}")
        self.version = version
        self._system, self._user = (
            (_FOLDER / version / f"{part}.md").read_text(encoding="utf-8") for part in ("system", "user")
        )

    @property
    def sha256(self) -> str:
        """The hash of the files as they lie on disk."""
        return hashlib.sha256(f"{self._system}\0{self._user}".encode()).hexdigest()

    def system(self, procedure: str, taxonomy: Taxonomy) -> str:
        """Return the system message. It holds nothing of the trajectory, so an endpoint can cache it."""
        return _TEMPLATES.from_string(self._system).render(procedure=procedure.strip(), taxonomy=taxonomy.text())

    def user(self, mark: str, record: str) -> str:
        """Return the user message around a fenced record."""
        return _TEMPLATES.from_string(self._user).render(mark=mark, record=record)
