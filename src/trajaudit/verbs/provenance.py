"""How an adapter came about, in words that hold on any machine: no path, no host, no user's name."""

from __future__ import annotations

import hashlib
import importlib.metadata
import shlex
import sys
from collections.abc import Mapping
from pathlib import PurePath

import trajaudit
from trajaudit._fields import Json
from trajaudit.config import Choice

PLACES = ("path", "data_dir", "clone", "_target_")
_HERE = ("paths.", "to=", "logger", "hydra.")
_MADE_WITH = ("torch", "transformers", "pytorch-lightning", "safetensors", "scikit-learn")


def encoder_facts(encoder: Choice) -> dict[str, Json]:
    """Return an encoder's configuration with the identity of its weights."""
    told = {key: value for key, value in encoder.config.items() if key != "_target_"}
    return {**told, "identity": encoder.build().identity()}


def without_places(config: Mapping[str, Json]) -> dict[str, Json]:
    """Return a dataset's configuration without where its files lie; the target stays as its last name."""
    kept = {key: value for key, value in config.items() if key not in PLACES}
    return {"dataset": str(config["_target_"]).rpartition(".")[2], **kept}


def sha256(content: bytes) -> str:
    """Return the SHA-256 of what was trained on."""
    return hashlib.sha256(content).hexdigest()


def command_line(verb: str) -> str:
    """Return the command that this process runs; of a file on this machine only its name stays."""
    said = [word for word in sys.argv[1:] if "=" in word and not word.startswith(_HERE)]
    return shlex.join(["trajaudit", verb, *map(placeless, said)])


def placeless(override: str) -> str:
    """Return an override whose value, where it is an absolute path, is the last name of it.

    >>> placeless("dataset.path=/home/me/runs.jsonl"), placeless("encoder.weights=package:gt/model")
    ('dataset.path=runs.jsonl', 'encoder.weights=package:gt/model')
    """
    key, _, value = override.partition("=")
    return f"{key}={PurePath(value).name}" if value.startswith(("/", "~")) else override


def versions() -> dict[str, str]:
    """Return the versions of what fits, by name."""
    return {"trajaudit": trajaudit.__version__} | {name: importlib.metadata.version(name) for name in _MADE_WITH}
