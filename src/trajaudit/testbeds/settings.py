"""The settings that every generator has: which design, in which words, how many runs, from which seed."""

from __future__ import annotations

from collections.abc import Iterable

from trajaudit._fields import nearest


def check_settings(preset: str, presets: Iterable[str], wording: str, banks: Iterable[str], n: int, seed: int) -> None:
    """Check the settings of a generated set.

    Raises:
        ValueError: naming the setting, what was given and what is allowed.
    """
    for name, value, valid in (("preset", preset, tuple(presets)), ("wording", wording, tuple(banks))):
        if value not in valid:
            raise ValueError(f"{name}: expected one of {', '.join(valid)}, got {value!r}{nearest(str(value), valid)}")
    for name, number in (("n", n), ("seed", seed)):
        if not isinstance(number, int) or isinstance(number, bool):
            raise ValueError(f"{name}: expected an integer, got {number!r}")
    if n < 1:
        raise ValueError(f"n: expected at least 1 run, got {n}")
