"""The command line: ``trajaudit VERB overrides…`` composes a config with Hydra and calls one function.

Every command line is composed and checked before Hydra runs it, so that nothing is loaded, and no folder made, for a
config that cannot be right.
"""

from __future__ import annotations

import importlib
import inspect
import logging
import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

import trajaudit
from trajaudit._fields import RecordError, nearest
from trajaudit.composing import VERSION_BASE, arguments, composed, each_composed, option, options, parted
from trajaudit.config import ConfigError, conf_dir, literals, resolve
from trajaudit.launching import resuming, run_swept, sweep_folder
from trajaudit.runs.sweep import JobFailed, Sweep

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
    overrides, config_dir = parted(args)
    cfg = composed(verb, overrides, config_dir)
    plain: dict[str, Any] = OmegaConf.to_container(cfg, resolve=False)  # type: ignore[assignment]
    choices = [f"  {group}={'|'.join(names)}" for group, names in options(verb, config_dir).items()]
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


def preflight(verb: str, args: Sequence[str]) -> str:
    """Check a command line before Hydra sees it; return the folder that runs write to.

    Raises:
        ConfigError
    """
    overrides, config_dir = parted(args)
    shown_only = option(args, "--cfg", "-c") is not None
    for cfg in each_composed(verb, overrides, config_dir):
        if not shown_only:
            arguments(cfg)
    return str(cfg.paths.output_dir)


def _sweep(verb: str, args: Sequence[str], output_dir: str) -> int:
    """Run a sweep, or a search in each of the folds that it names, and say at the end what failed.

    Raises:
        ConfigError: a search names no fold.
    """
    from trajaudit.verbs.sweep import conclude  # it loads all that makes tables, and a job needs none of it

    overrides, _ = parted(args)
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
    hydra.main(config_path=str(conf_dir()), config_name=verb, **VERSION_BASE)(_task)()


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
        if {"-m", "--multirun"} & set(rest) and not shows and option(rest, "--cfg", "-c") is None:
            raise SystemExit(_sweep(verb, rest, output_dir))
    except ConfigError as error:
        _fail(error, 2)
    sys.argv = [sys.argv[0], *rest]
    _hydra(verb)


if __name__ == "__main__":
    # A worker of a sweep finds the job's function by the name of its module, which must not be __main__.
    importlib.import_module("trajaudit.cli").main()
