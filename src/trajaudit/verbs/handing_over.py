"""The last step of a fit: the adapter at the place where it was asked for, and its card on the terminal."""

from __future__ import annotations

import shutil
from pathlib import Path

from trajaudit.detectors.adapters import CARD


def handed_over(folder: Path, to: str | None) -> None:
    """Copy an adapter to where it was asked for, and show its card and where it lies."""
    where = folder if to is None else Path(to)
    if to is not None:
        shutil.copytree(folder, where, dirs_exist_ok=True)
    print((where / CARD).read_text(encoding="utf-8"))
    print(f"adapter: {where}")
