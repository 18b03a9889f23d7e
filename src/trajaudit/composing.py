"""Compose a verb's config with Hydra and check it before anything is loaded.

The overrides are checked against the config groups and the schema (the signature of what each ``_target_`` names), so
that a misspelt name is answered with the nearest valid one instead of a stack trace.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import hydra
from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from trajaudit._fields import nearest
from trajaudit.config import Choice, ConfigError, conf_dir, is_choice, validate

VERSION_BASE: dict[str, Any] = {} if hydra.__version__ >= "1.4" else {"version_base": "1.3"}
"""What every entry into Hydra is given, whichever Hydra this is."""


def experiments(key: str) -> list[str]:
    """Return the values of ``experiment=`` that set a key of a verb's config."""
    return sorted(path.stem for path in (conf_dir() / "experiment").glob("*.yaml") if key in OmegaConf.load(path))


def composed(verb: str, overrides: Sequence[str], config_dir: str | None = None) -> DictConfig:
    """Compose a verb's config. Works in a notebook, any number of times.

    Raises:
        ConfigError: naming the override that is wrong and the nearest valid name.
    """
    return next(each_composed(verb, overrides, config_dir))


def each_composed(verb: str, overrides: Sequence[str], config_dir: str | None) -> Iterator[DictConfig]:
    """Compose a verb's config with the first value of every sweep, then with each other swept value in turn."""
    GlobalHydra.instance().clear()
    with initialize_config_dir(str(conf_dir()), **VERSION_BASE):
        loader = GlobalHydra.instance().config_loader()
        search = _search_path(config_dir)

        def options_of(group: str) -> list[str]:
            return list(loader.get_group_options(group, config_name=verb, overrides=search))

        try:
            parsed = OverridesParser.create(loader).parse_overrides(list(overrides))
            groups, values = _split(parsed, options_of, _groups(verb))
            _check_keys(values, compose(verb, [*search, *groups]))
            plain = [_first(item) for item in parsed]
            yield compose(verb, [*search, *plain])
            for position, item in enumerate(parsed):
                for value in list(_swept(item))[1:] if item.is_sweep_override() else ():
                    swept = f"{item.get_key_element()}={value}"
                    yield compose(verb, [*search, *plain[:position], swept, *plain[position + 1 :]])
        except (HydraException, OmegaConfBaseException, ValueError) as error:
            if isinstance(error, ConfigError):
                raise
            cause = f": {error.__cause__}" if error.__cause__ else ""
            said = " ".join(f"{error}{cause}".split())
            raise ConfigError(_extra_for(said) or said) from None


def arguments(cfg: DictConfig) -> dict[str, Any]:
    """Return a composed config as the keyword arguments of its verb, with every inner choice not built yet.

    Raises:
        ConfigError: for a missing value, or as ``validate``.
    """
    try:
        plain: dict[str, Any] = OmegaConf.to_container(cfg, resolve=True, throw_on_missing=True)  # type: ignore[assignment]
    except OmegaConfBaseException as error:
        said = f"{error.full_key or 'config'}: {error.msg or error}".partition("\n")[0]
        setting = experiments(str(error.full_key)) if "mandatory" in said else []
        raise ConfigError(said + (f" (an experiment sets it: {', '.join(setting)})" if setting else "")) from None
    validate(plain)
    return {key: Choice(key, value) if is_choice(value) else value for key, value in plain.items() if key != "_target_"}


def options(verb: str, config_dir: str | None) -> dict[str, list[str]]:
    """Return each config group that a verb takes, with the options it has."""
    with initialize_config_dir(str(conf_dir()), **VERSION_BASE):
        found, search = GlobalHydra.instance().config_loader().get_group_options, _search_path(config_dir)
        return {group: found(group, config_name=verb, overrides=search) for group in _groups(verb)}


def parted(args: Sequence[str]) -> tuple[list[str], str | None]:
    """Return the overrides of a command line, and the folder of the user's own YAML files.

    Raises:
        ConfigError: for a word that is no override.
    """
    config_dir = option(args, "--config-dir", "-cd")
    values = [config_dir, *(option(args, name) for name in ("--cfg", "-c", "--package", "-p", "--config-name", "-cn"))]
    overrides = [arg for arg in args if not arg.startswith("-") and arg not in values]
    for word in overrides:
        if "=" not in word and not word.startswith("~"):
            raise ConfigError(f"{word}: expected key=value")
    return overrides, config_dir


def option(args: Sequence[str], *names: str) -> str | None:
    """Return the value of a command-line option given as ``--name value`` or ``--name=value``."""
    for position, arg in enumerate(args):
        for name in names:
            if arg == name and position + 1 < len(args):
                return args[position + 1]
            if arg.startswith(f"{name}="):
                return arg.partition("=")[2]
    return None


def _extra_for(said: str) -> str | None:
    """Return what to install where a composition failed for want of a Hydra plugin."""
    missing = re.search(r"hydra/(launcher|sweeper)/(\w+)'", said)
    if missing is None:
        return None
    kind, option = missing.groups()
    extra = "ray" if option == "ray" else "sweeps"
    return f"{kind}={option}: it needs packages that are not installed: pip install 'trajaudit[{extra}]'"


def _search_path(config_dir: str | None) -> list[str]:
    """Return the override that adds a folder of the user's own YAML files."""
    return [f"hydra.searchpath=[file://{os.path.abspath(config_dir)}]"] if config_dir else []


def _groups(verb: str) -> list[str]:
    """Return the config groups that a verb takes, in the order of its defaults list."""
    named = (next(iter(entry)) for entry in OmegaConf.load(conf_dir() / f"{verb}.yaml").defaults if entry != "_self_")
    return [name.removeprefix("optional ") for name in named if not name.startswith("override ") and name != "entry"]


def _split(
    parsed: list[Override], options: Callable[[str], list[str]], takes: Sequence[str]
) -> tuple[list[str], list[Override]]:
    """Check each group override against its options; return the group overrides (first of each sweep) and the rest."""
    groups, values = [], []
    for item in parsed:
        known = [] if item.key_or_group.startswith("hydra") else options(item.key_or_group)
        if not known:
            values.append(item)
            continue
        group = item.key_or_group
        if group not in takes and not item.is_add():
            raise ConfigError(f"{group}: it is no choice of this verb; known: {', '.join(takes)}")
        for name in _swept(item):
            if name not in known:
                raise ConfigError(f"{group}: no such {group} {name!r}{nearest(name, known)}; known: {', '.join(known)}")
        groups.append(_first(item))
    return groups, values


def _swept(item: Override) -> Iterator[str]:
    value = item.value()
    if item.is_interval_sweep():
        yield from (str(value.start), str(value.end))  # type: ignore[union-attr]
    elif item.is_sweep_override():
        yield from item.sweep_string_iterator()
    elif isinstance(value, list):
        yield from (str(part) for part in value)
    elif value is not None:
        yield str(value)


def _first(item: Override) -> str:
    """Return the override with a sweep replaced by its first value."""
    if not item.is_sweep_override():
        return item.input_line or ""
    return f"{item.get_key_element()}={next(_swept(item))}"


def _check_keys(values: list[Override], base: DictConfig) -> None:
    """Check that each ``a.b=value`` names a key that exists; ``+key=value`` is left to the schema."""
    for item in values:
        if item.is_add() or item.is_force_add() or item.is_delete() or item.key_or_group.startswith("hydra"):
            continue
        parts = item.key_or_group.split(".")
        node: Any = base
        for depth, part in enumerate(parts):
            known = [str(key) for key in node if key != "_target_"] if isinstance(node, DictConfig) else []
            if part not in known:
                at = ".".join(parts[: depth + 1])
                raise ConfigError(f"{at}: unknown key{nearest(part, known)}; known: {', '.join(known) or 'none'}")
            node = None if OmegaConf.is_missing(node, part) else node[part]
