"""What a run was: code, data, seeds, packages and machine, written beside its results so that a number can be traced.

Nothing of the environment is recorded but the names of variables: a value that stands in a variable named like a key or
a token is replaced by that name wherever it turns up in what is written here (an error text, a command line).
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import platform
import re
import subprocess
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import trajaudit
from trajaudit._fields import Json, canonical

_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
_SHORTEST_SECRET = 12


def now() -> str:
    """Return the time in UTC, to the second, as ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def without_secrets(text: str) -> str:
    """Return ``text`` with the value of every secret-looking environment variable replaced by ``${NAME}``."""
    for name, value in os.environ.items():
        if len(value) >= _SHORTEST_SECRET and _SECRET_NAME.search(name):
            text = text.replace(value, f"${{{name}}}")
    return text


def code_identity() -> Json:
    """Return the package's version, and the commit and whether it was edited since where it runs from a checkout."""
    package = Path(trajaudit.__file__).parent
    out: dict[str, Json] = {"version": trajaudit.__version__, "git_commit": None, "git_dirty": None}
    # A virtual environment may lie inside somebody else's checkout: only a repository that tracks us counts.
    if _git(package, "ls-files", "--error-unmatch", "__init__.py") is not None:
        out["git_commit"] = _git(package, "rev-parse", "HEAD")
        out["git_dirty"] = bool(_git(package, "status", "--porcelain"))
    return out


@cache
def source_hash() -> str:
    """Return one hash over every file of the package: prompts, prices and procedures too, since they change results."""
    package = Path(trajaudit.__file__).parent
    files = sorted(path for path in package.rglob("*") if path.is_file() and path.suffix != ".pyc")
    named = [(str(path.relative_to(package)), hashlib.sha256(path.read_bytes()).hexdigest()) for path in files]
    return hashlib.sha256(canonical(named)).hexdigest()[:16]


def machine() -> Json:
    """Return the machine and interpreter: what can move a timing, and sometimes a last digit."""
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "processor": platform.machine(),
        "cpu_count": os.cpu_count(),
    }


def packages() -> dict[str, str]:
    """Return the version of every installed distribution, by name."""
    found = {
        dist.metadata["Name"]: dist.version for dist in importlib.metadata.distributions() if dist.metadata["Name"]
    }
    return dict(sorted(found.items(), key=lambda item: item[0].lower()))


def _git(folder: Path, *arguments: str) -> str | None:
    """Return git's answer, null where git is absent or refuses."""
    try:
        done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
