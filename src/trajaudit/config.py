"""Configs without Hydra: a choice is a dotted target and its arguments, and the target's signature is its schema.

One rule serves every config group: the keys of a YAML file are the keyword arguments of the function or class that its
``_target_`` names, and their annotations say which values are allowed. A new judge is therefore one module and one
YAML file, and a misspelt key, a string where a number belongs or an unknown option is refused before any model or data
is loaded, by the same check.
"""

from __future__ import annotations

import importlib
import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import PydanticSchemaGenerationError, TypeAdapter, ValidationError

import trajaudit
from trajaudit._fields import dumps, nearest

Config = Mapping[str, Any]


class ConfigError(ValueError):
    """A configuration that cannot be right. The message names the key, what was given and what is allowed."""


def _shipped(name: str) -> Path:
    """Return a folder that ships: inside the package when installed from a wheel, else at the checkout's root."""
    package = Path(trajaudit.__file__).parent
    inside = package / name
    return inside if inside.is_dir() else package.parents[1] / name


def conf_dir() -> Path:
    """Return the folder of YAML files."""
    return _shipped("conf")


def experiments_dir() -> Path:
    """Return the folder of published figures."""
    return _shipped("experiments")


def resolve(target: str, where: str) -> Callable[..., Any]:
    """Return what a dotted ``_target_`` names.

    Raises:
        ConfigError: for a module or a name that does not exist.
    """
    module, _, name = target.rpartition(".")
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigError(f"{where}._target_: cannot import {target!r}: {error}") from error
    return typing.cast("Callable[..., Any]", found)


@dataclass(frozen=True)
class Choice:
    """One option of a config group (a dataset, a judge, a model) with its arguments, not built yet.

    ``config`` is what identifies the choice in hashes and manifests. ``build`` adds what only the run can know (the
    procedure that comes with the dataset, the model that answers), as far as the target asks for it. An argument can be
    a choice itself, or a mapping of choices (the members of a panel): those are built first, in the same way.
    """

    where: str
    config: Config

    @property
    def target(self) -> Callable[..., Any]:
        return resolve(self.config["_target_"], self.where)

    def wants(self, argument: str) -> bool:
        """Return whether the target, or a choice inside it, has this parameter and the config leaves it to the run."""
        inner = any(choice.wants(argument) for one in self.inner.values() for choice in _each(one))
        return inner or self._takes(argument)

    @property
    def inner(self) -> dict[str, Choice | dict[str, Choice]]:
        """The arguments that are choices themselves, or mappings of choices."""
        found: dict[str, Choice | dict[str, Choice]] = {}
        for key, value in self.config.items():
            at = f"{self.where}.{key}"
            if is_choice(value):
                found[key] = Choice(at, value)
            elif is_choices(value):
                found[key] = {name: Choice(f"{at}.{name}", one) for name, one in value.items()}
        return found

    def _takes(self, argument: str) -> bool:
        return argument in inspect.signature(self.target).parameters and argument not in self.config

    def build(self, **context: Any) -> Any:
        """Call the target with the config's arguments and those of ``context`` that it asks for.

        Raises:
            ConfigError: naming an argument that neither provides, or whose value the target refuses.
        """
        arguments = {key: value for key, value in self.config.items() if key != "_target_"}
        for key, one in self.inner.items():
            if isinstance(one, Choice):
                arguments[key] = one.build(**context)
            else:
                arguments[key] = {name: choice.build(**context) for name, choice in one.items()}
        arguments |= {key: value for key, value in context.items() if self._takes(key)}
        parameters = inspect.signature(self.target).parameters
        for name, parameter in parameters.items():
            if name not in arguments and parameter.default is parameter.empty:
                raise ConfigError(f"{self.where}.{name}: missing; {self.config['_target_']} needs it")
        try:
            return self.target(**arguments)
        except ValueError as error:
            if str(error).partition(":")[0] in parameters:
                raise ConfigError(f"{self.where}.{error}") from error
            raise


def is_choice(value: Any) -> bool:
    return isinstance(value, Mapping) and "_target_" in value


def is_choices(value: Any) -> bool:
    return isinstance(value, Mapping) and len(value) > 0 and all(is_choice(one) for one in value.values())


def _each(one: Choice | dict[str, Choice]) -> list[Choice]:
    return [one] if isinstance(one, Choice) else list(one.values())


def validate(config: Config, where: str = "") -> None:
    """Check a config against the signature of its target, and the choices inside it likewise.

    Raises:
        ConfigError: naming the key, what was given, and what is allowed or the nearest valid name.

    >>> validate({"_target_": "trajaudit.datasets.jsonl.jsonl", "path": 7}, "dataset")
    Traceback (most recent call last):
    ...
    trajaudit.config.ConfigError: dataset.path: input should be a valid string, got 7
    """
    target = resolve(config["_target_"], where)
    parameters = inspect.signature(target).parameters
    hints = typing.get_type_hints(target.__init__ if inspect.isclass(target) else target)
    for key, value in config.items():
        at = f"{where}.{key}" if where else key
        if key == "_target_":
            continue
        if key not in parameters:
            raise ConfigError(f"{at}: unknown key{nearest(key, parameters)}; known: {', '.join(parameters)}")
        if is_choice(value):
            validate(value, at)
        elif is_choices(value):
            for name, one in value.items():
                validate(one, f"{at}.{name}")
        else:
            _check_type(value, hints.get(key, Any), at)


def literals(config: Config, where: str = "") -> dict[str, tuple[Any, ...]]:
    """Return the keys of a config, and of the choices inside it, that take one of a few values, with these.

    >>> literals({"_target_": "trajaudit.datasets.sampling.draw_sample"})
    {}
    >>> literals({"_target_": "trajaudit.datasets.sampling.draw_sample", "n": 3, "stratify": "none"})
    {'stratify': ('none', 'stratum', 'type', 'model')}
    """
    target = resolve(config["_target_"], where)
    hints = typing.get_type_hints(target.__init__ if inspect.isclass(target) else target)
    found: dict[str, tuple[Any, ...]] = {}
    for key, value in config.items():
        at = f"{where}.{key}" if where else key
        if is_choice(value):
            found |= literals(value, at)
        elif is_choices(value):
            found |= {name: few for key, one in value.items() for name, few in literals(one, f"{at}.{key}").items()}
        elif typing.get_origin(hints.get(key)) is typing.Literal:
            found[at] = typing.get_args(hints[key])
    return found


def _check_type(value: Any, hint: Any, where: str) -> None:
    """Check a value as strict JSON against a type hint: no string passes for a number, a list passes for a tuple."""
    try:
        TypeAdapter(hint).validate_json(dumps(value), strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        inner = "".join(f".{part}" for part in first["loc"] if isinstance(part, int) or part in str(value))
        raise ConfigError(f"{where}{inner}: {first['msg'].lower()}, got {first['input']!r}") from None
    except ValueError as error:  # NaN and infinity, which no JSON holds
        raise ConfigError(f"{where}: {error}, got {value!r}") from None
    except PydanticSchemaGenerationError:
        raise ConfigError(f"{where}: expected a choice with a _target_, got {value!r}") from None
