"""Where training curves go: a CSV file always, and Weights & Biases where asked, offline unless told otherwise.

One job has one W&B run, which every fit of it writes to under its own prefix, and which is finished with the job's exit
status whatever happens, so that two jobs of one process never share a run. What counts is in our own files: W&B can be
switched off (``mode: disabled``, or WANDB_MODE=disabled) and nothing is lost.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from trajaudit._fields import Json

if TYPE_CHECKING:
    from pytorch_lightning.loggers import Logger


@dataclass(frozen=True)
class Logs:
    """The loggers of one job; ``run`` is its W&B run, null where there is none."""

    run: Any = None

    def of(self, folder: Path, prefix: str) -> list[Logger]:
        """Return the loggers of one fit."""
        from pytorch_lightning.loggers import CSVLogger, WandbLogger

        csv: list[Logger] = [CSVLogger(str(folder), name="", version="log")]
        return csv if self.run is None else [*csv, WandbLogger(experiment=self.run, prefix=prefix)]


@dataclass(frozen=True)
class Logging:
    """What a job logs to besides CSV.

    Args:
        mode: of Weights & Biases; WANDB_MODE in the environment goes before it.
        project: its name there.
    """

    mode: Literal["offline", "online", "disabled"] = "disabled"
    project: str = "trajaudit"

    @contextmanager
    def job(self, folder: Path, name: str, config: Json) -> Iterator[Logs]:
        """Open the loggers of one job; W&B keeps its own files under ``folder``."""
        mode: Any = os.environ.get("WANDB_MODE", self.mode)
        if mode == "disabled":
            yield Logs()
            return
        import wandb

        settings = wandb.Settings(silent=True, console="off")
        run = wandb.init(
            project=self.project,
            name=name,
            mode=mode,
            dir=str(folder),
            config=config,
            settings=settings,
            reinit="create_new",
        )
        status = 1
        try:
            yield Logs(run)
            status = 0
        finally:
            run.finish(exit_code=status)
