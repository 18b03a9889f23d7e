"""The command line: ``trajaudit VERB overrides…`` composes a config with Hydra and calls one function.

Nothing else here knows Hydra. Before Hydra runs, the overrides are checked against the config groups and the schema
(the signature of what each ``_target_`` names), so that a misspelt name is answered with the nearest valid one instead
of a stack trace, and nothing is loaded for a config that cannot be right.
"""

from __future__ import annotations

import importlib
import inspect
import logging
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

import hydra
from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

import trajaudit
from trajaudit._fields import RecordError, nearest
from trajaudit.config import Choice, ConfigError, conf_dir, is_choice, literals, resolve, validate
from trajaudit.launching import resuming, run_swept, sweep_folder
from trajaudit.runs.sweep import JobFailed, Sweep

_VERSION_BASE: dict[str, Any] = {} if hydra.__version__ >= "1.4" else {"version_base": "1.3"}
_SHOWS_ONLY = ("--hydra-help", "--info", "-i", "--shell-completion", "-sc", "--version")

_COMPLETION = """\
_trajaudit() {
    local word="${COMP_WORDS[COMP_CWORD]}"
    if [ "$COMP_CWORD" -le 1 ]; then
        COMPREPLY=($(compgen -W "$(trajaudit --verbs)" -- "$word"))
    else
        local verb="${COMP_WORDS[1]}"
        case "$verb" in
PARTS
        esac
        local choices=$(COMP_LINE="trajaudit ${COMP_LINE#*"$verb" }" trajaudit $verb -sc query=bash 2>/dev/null)
        COMPREPLY=($(compgen -W "$choices" -- "$word"))
    fi
}
COMP_WORDBREAKS=${COMP_WORDBREAKS//=}
complete -o nospace -o default -F _trajaudit trajaudit
"""


def verbs() -> dict[str, str]:
    """Return each verb with its one line: the first line of the docstring of the function that it calls."""
    found = {}
    for path in sorted(conf_dir().glob("*.yaml")):
        target = OmegaConf.select(OmegaConf.load(path), "_target_")
        if target is not None:
            found[path.stem.replace("_", " ")] = (inspect.getdoc(resolve(target, path.stem)) or "").partition("\n")[0]
    return found


def _parts() -> dict[str, list[str]]:
    """Return the verbs of two words, first word to second words; the root of ``a b`` is ``conf/a_b.yaml``."""
    parts: dict[str, list[str]] = {}
    for path in sorted(conf_dir().glob("*_*.yaml")):
        first, _, second = path.stem.partition("_")
        parts.setdefault(first, []).append(second)
    return parts


def experiments(key: str) -> list[str]:
    """Return the values of ``experiment=`` that set a key of a verb's config."""
    return sorted(path.stem for path in (conf_dir() / "experiment").glob("*.yaml") if key in OmegaConf.load(path))


def run(verb: str, *overrides: str) -> int:
    """Do what ``trajaudit VERB overrides…`` does, in this process: in a script, or in a notebook any number of times.

    Raises:
        ConfigError, ValueError, OSError: what the command line says in one line.
    """
    verb = verb.replace(" ", "_")
    cfg = composed(verb, overrides)
    return int(resolve(cfg["_target_"], verb)(**arguments(cfg)) or 0)


def usage() -> str:
    lines = [f"  {verb:<15} {line}" for verb, line in verbs().items()]
    return "\n".join(
        [
            f"trajaudit {trajaudit.__version__}: {trajaudit.__doc__.partition(': ')[2]}" if trajaudit.__doc__ else "",
            "usage: trajaudit VERB [key=value …] [-m] [--cfg job] [--help]",
            "",
            *lines,
            "",
            "`trajaudit VERB --help` lists what a verb can be told; `-m` sweeps over comma-separated values.",
            'Tab completion: eval "$(trajaudit --completion)"',
        ]
    )


def verb_help(verb: str, args: Sequence[str]) -> str:
    """Return what a verb does, its choices, its config after overrides, and the values of keys that take few.

    Raises:
        ConfigError: as ``composed``.
    """
    overrides, config_dir = _overrides(args)
    cfg = composed(verb, overrides, config_dir)
    plain: dict[str, Any] = OmegaConf.to_container(cfg, resolve=False)  # type: ignore[assignment]
    with initialize_config_dir(str(conf_dir()), **_VERSION_BASE):
        options, search = GlobalHydra.instance().config_loader().get_group_options, _search(config_dir)
        found = {group: options(group, config_name=verb, overrides=search) for group in _groups(verb)}
    choices = [f"  {group}={'|'.join(names)}" for group, names in found.items()]
    values = [f"  {key}={'|'.join(map(str, allowed))}" for key, allowed in literals(plain).items()]
    name = verb.replace("_", " ")
    return "\n".join(
        [
            *(f"trajaudit {name}: {verbs()[name]}", "", "Choices:", *choices),
            *("", "Config, with these choices (key=value changes one, `judge.key=value` one of a choice):", ""),
            OmegaConf.to_yaml(cfg),
            *(["Keys that take one of a few values:", *values, ""] if values else []),
            "`trajaudit VERB choice=option --help` shows the config of that option. `-m` sweeps over comma-separated",
            "values, `--cfg job` shows what would run, `--hydra-help` lists the flags of Hydra.",
        ]
    )


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


def composed(verb: str, overrides: Sequence[str], config_dir: str | None = None) -> DictConfig:
    """Compose a verb's config. Works in a notebook, any number of times.

    Raises:
        ConfigError: naming the override that is wrong and the nearest valid name.
    """
    return next(_each_composed(verb, overrides, config_dir))


def _each_composed(verb: str, overrides: Sequence[str], config_dir: str | None) -> Iterator[DictConfig]:
    """Compose a verb's config with the first value of every sweep, then with each other swept value in turn."""
    GlobalHydra.instance().clear()
    with initialize_config_dir(str(conf_dir()), **_VERSION_BASE):
        loader = GlobalHydra.instance().config_loader()
        search = _search(config_dir)

        def options(group: str) -> list[str]:
            return list(loader.get_group_options(group, config_name=verb, overrides=search))

        try:
            parsed = OverridesParser.create(loader).parse_overrides(list(overrides))
            groups, values = _split(parsed, options, _groups(verb))
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


def _extra_for(said: str) -> str | None:
    """Return what to install where a composition failed for want of a Hydra plugin."""
    missing = re.search(r"hydra/(launcher|sweeper)/(\w+)'", said)
    if missing is None:
        return None
    kind, option = missing.groups()
    extra = "ray" if option == "ray" else "sweeps"
    return f"{kind}={option}: it needs packages that are not installed: pip install 'trajaudit[{extra}]'"


def _search(config_dir: str | None) -> list[str]:
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


def _completion() -> str:
    """Return the shell function that completes verbs, the second words of some, and overrides."""
    case = """\
            {0}) if [ "$COMP_CWORD" -eq 2 ]; then COMPREPLY=($(compgen -W "{1}" -- "$word")); return; fi
                verb="{0} ${{COMP_WORDS[2]}}";;"""
    return _COMPLETION.replace("PARTS", "\n".join(case.format(a, " ".join(b)) for a, b in _parts().items()))


def _verb_of(args: Sequence[str]) -> tuple[str, list[str]]:
    """Return the config root that the first word, or the first two, name, and the rest of the command line."""
    known, parts = [path.stem for path in conf_dir().glob("*.yaml")], _parts()
    first, second = args[0], args[1] if len(args) > 1 else ""
    if first not in parts:
        if first not in known:
            _fail(f"no such verb {first!r}{nearest(first, [*known, *parts])}; `trajaudit` lists them", 2)
        return first, list(args[1:])
    if second not in parts[first]:
        hint = f", got {second!r}{nearest(second, parts[first])}" if second else ""
        _fail(f"{first}: expected {' or '.join(parts[first])} after it{hint}; `trajaudit` lists them", 2)
    return f"{first}_{second}", list(args[2:])


def _fail(message: object, status: int) -> NoReturn:
    print(f"error: {message}", file=sys.stderr)
    raise SystemExit(status)


def _task(cfg: DictConfig) -> float | None:
    """Run one job. In a sweep an error goes into the job's record and stops no other job; alone it is one line."""
    multirun = HydraConfig.get().mode == RunMode.MULTIRUN
    root = logging.getLogger()
    level = root.level
    root.setLevel(logging.WARNING)  # Hydra shows what every library says at INFO: each request, each font subset

    def work() -> int | None:
        status: int | None = resolve(cfg["_target_"], "verb")(**arguments(cfg))
        return status

    try:
        if multirun:
            return run_swept(cfg, work)
        status = work()
    except (ValueError, OSError, JobFailed) as error:
        if multirun:  # said now; the record and the table at the end say it again
            print(f"error: {error}", file=sys.stderr)
            raise
        if os.environ.get("HYDRA_FULL_ERROR") == "1":
            raise
        known = isinstance(error, ConfigError | RecordError | OSError)
        _fail(
            error if known else f"{error} (HYDRA_FULL_ERROR=1 shows where)", 2 if isinstance(error, ConfigError) else 1
        )
    except KeyboardInterrupt:
        _fail("interrupted; what was stored stays, and the same command goes on from there", 130)
    finally:
        root.setLevel(level)
    if status:
        raise SystemExit(status)
    return None


def _option(args: Sequence[str], *names: str) -> str | None:
    """Return the value of a command-line option given as ``--name value`` or ``--name=value``."""
    for position, arg in enumerate(args):
        for name in names:
            if arg == name and position + 1 < len(args):
                return args[position + 1]
            if arg.startswith(f"{name}="):
                return arg.partition("=")[2]
    return None


def _overrides(args: Sequence[str]) -> tuple[list[str], str | None]:
    """Return the overrides of a command line, and the folder of the user's own YAML files.

    Raises:
        ConfigError: for a word that is no override.
    """
    config_dir = _option(args, "--config-dir", "-cd")
    values = [config_dir, *(_option(args, name) for name in ("--cfg", "-c", "--package", "-p", "--config-name", "-cn"))]
    overrides = [arg for arg in args if not arg.startswith("-") and arg not in values]
    for word in overrides:
        if "=" not in word and not word.startswith("~"):
            raise ConfigError(f"{word}: expected key=value")
    return overrides, config_dir


def preflight(verb: str, args: Sequence[str]) -> str:
    """Check a command line before Hydra sees it; return the folder that runs write to.

    Raises:
        ConfigError
    """
    overrides, config_dir = _overrides(args)
    shown_only = _option(args, "--cfg", "-c") is not None
    for cfg in _each_composed(verb, overrides, config_dir):
        if not shown_only:
            arguments(cfg)
    return str(cfg.paths.output_dir)


def _sweep(verb: str, args: Sequence[str], output_dir: str) -> int:
    """Run a sweep, or a search in each of the folds that it names, and say at the end what failed.

    Raises:
        ConfigError: a search names no fold.
    """
    from trajaudit.verbs.sweep import conclude  # it loads all that makes tables, and a job needs none of it

    overrides, _ = _overrides(args)
    sweep = Sweep(sweep_folder(output_dir, verb, overrides), ("trajaudit", *verb.split("_"), *args))
    sweep.search = "sweeper=optuna" in overrides
    folds = [one for one in overrides if one.startswith("fold=")]
    if sweep.search and not folds:
        raise ConfigError(
            "fold: a search needs it (fold=0 or fold=0,1,2): hyper-parameters are chosen for one outer fold at a time, "
            "since the runs that one fold tests are training runs of the others"
        )
    rest = [arg for arg in args if not (sweep.search and arg in folds)]
    each = folds[-1].removeprefix("fold=").split(",") if sweep.search else [None]
    try:
        for fold in each:
            place = f"hydra.sweep.dir={sweep.folder}"
            sys.argv = [sys.argv[0], *rest, *([] if fold is None else [f"fold={fold}"]), place]
            with resuming(sweep):
                _hydra(verb)
            best = sweep.folder / "optimization_results.yaml"
            if best.is_file():  # Optuna's; the next fold's study would write over it
                best.rename(sweep.folder / f"optimization_results-fold-{fold}.yaml")
    finally:
        status = conclude(sweep)
    return status


def _hydra(verb: str) -> None:
    hydra.main(config_path=str(conf_dir()), config_name=verb, **_VERSION_BASE)(_task)()


def main(argv: Sequence[str] | None = None) -> None:
    """Entry point of the console script."""
    args = list(sys.argv[1:] if argv is None else argv)
    if not args or args[0] in ("--help", "-h", "help"):
        print(usage())
        return
    if args[0] in ("--version", "--verbs", "--completion"):
        words = dict.fromkeys(verb.partition(" ")[0] for verb in verbs())
        shown = {"--version": trajaudit.__version__, "--verbs": "\n".join(words), "--completion": _completion()}
        print(shown[args[0]])
        return
    sys.path.append(os.getcwd())  # so that a config can name a module of the user's own
    verb, rest = _verb_of(args)
    try:
        if any(arg in ("--help", "-h") for arg in rest):
            print(verb_help(verb, rest))
            return
        shows = any(arg.partition("=")[0] in _SHOWS_ONLY for arg in rest)
        output_dir = "" if shows else preflight(verb, rest)
        if {"-m", "--multirun"} & set(rest) and not shows and _option(rest, "--cfg", "-c") is None:
            raise SystemExit(_sweep(verb, rest, output_dir))
    except ConfigError as error:
        _fail(error, 2)
    sys.argv = [sys.argv[0], *rest]
    _hydra(verb)


if __name__ == "__main__":
    # A worker of a sweep finds the job's function by the name of its module, which must not be __main__.
    importlib.import_module("trajaudit.cli").main()
