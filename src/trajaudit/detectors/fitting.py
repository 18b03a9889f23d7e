"""One fit of a network: early stopping on held-out groups, a checkpoint an epoch, resume, the best weights at the end.

A fit that finished is never run again: beside its weights lies the hash of all that went into it, and where that is the
same they are loaded. A fit that was killed goes on from its last whole epoch and ends where the uninterrupted one ends.
"""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import Callback, EarlyStopping, ModelCheckpoint

from trajaudit._fields import Json
from trajaudit.detectors.batches import Epochs, loader
from trajaudit.detectors.logs import Logs
from trajaudit.detectors.trained import Trained
from trajaudit.detectors.training import Training

MARK = "fit.json"
BEST = "best.ckpt"
LAST = "last.ckpt"


@dataclass(frozen=True)
class Fit:
    """A finished fit: its epochs, its loss on held-out runs (null without any), and whether it was there before."""

    epochs: int
    val_loss: float | None
    reused: bool


def fit(
    module: Trained,
    train: Epochs,
    held_out: Epochs | None,
    training: Training,
    folder: Path,
    identity: str,
    logs: Logs,
    callbacks: tuple[Callback, ...] = (),
) -> Fit:
    """Train a module and leave it with its best weights.

    Args:
        held_out: runs for early stopping; without them all epochs are run and the last weights kept.
        identity: hash of all that could change the result; weights of another identity in ``folder`` are discarded.
    """
    if (done := _finished(folder, identity)) is not None:
        _load(module, folder / BEST)
        return done
    _discard_others(folder, identity)
    resume = str(folder / LAST) if (folder / LAST).is_file() else None
    # Lightning fetches the first batch before it says which epoch it is: a resumed fit would repeat the first epoch's.
    train.epoch = 0 if resume is None else int(torch.load(resume, map_location="cpu", weights_only=True)["epoch"]) + 1
    batches = loader(train, training.batch_tokens, training.batch_runs, shuffle=True, seed=module.seed)
    watched = None if held_out is None else loader(held_out, training.batch_tokens, training.batch_runs)
    with _quiet():
        module.train()  # Lightning leaves an encoder as it was loaded, without dropout
        trainer = _trainer(training, held_out is not None, folder, module.seed, logs, callbacks)
        trainer.fit(module, batches, watched, ckpt_path=resume, weights_only=True)
    found = Fit(trainer.current_epoch, _best_loss(trainer), False)
    _load(module, folder / BEST)
    _mark(folder, {"identity": identity, "epochs": found.epochs, "val_loss": found.val_loss, "done": True})
    (folder / LAST).unlink(missing_ok=True)
    return found


def _trainer(
    training: Training, watches: bool, folder: Path, seed: int, logs: Logs, callbacks: tuple[Callback, ...]
) -> pl.Trainer:
    saved = ModelCheckpoint(
        dirpath=folder,
        filename=BEST.removesuffix(".ckpt"),
        monitor="val_loss" if watches else None,
        save_last=True,
        enable_version_counter=False,
    )
    stops = [EarlyStopping("val_loss", patience=training.patience)] if watches and training.patience else []
    pl.seed_everything(seed, workers=True, verbose=False)
    return pl.Trainer(
        max_epochs=training.epochs,
        accelerator=training.accelerator,
        devices=training.devices,
        strategy=training.strategy,
        precision=training.precision,
        accumulate_grad_batches=training.accumulate,
        gradient_clip_val=training.clip,
        deterministic="warn",
        num_sanity_val_steps=0,
        log_every_n_steps=1_000_000,
        use_distributed_sampler=False,  # the plan of batches shares itself out
        enable_progress_bar=False,
        enable_model_summary=False,
        logger=logs.of(folder, folder.name),
        callbacks=[saved, *stops, *callbacks],
        default_root_dir=folder,
    )


def _best_loss(trainer: pl.Trainer) -> float | None:
    score = getattr(trainer.checkpoint_callback, "best_model_score", None)
    return None if score is None or getattr(trainer.checkpoint_callback, "monitor", None) is None else float(score)


def _load(module: Trained, path: Path) -> None:
    take(module, torch.load(path, map_location="cpu", weights_only=True)["state_dict"], str(path))


def take(module: Trained, weights: Mapping[str, torch.Tensor], where: str) -> None:
    """Put what was trained into a module, and leave it as it is asked.

    Raises:
        ValueError: naming a tensor that is missing, unknown or of another shape.
    """
    own = module.own(module.state_dict())
    for names, what in ((set(own) - set(weights), "lacks"), (set(weights) - set(own), "holds unasked")):
        if names:
            raise ValueError(f"{where}: {what} {min(names)!r} and {len(names) - 1} more of what was to be trained")
    for name, tensor in own.items():
        if tensor.shape != weights[name].shape:
            raise ValueError(f"{where}: {name}: expected {list(tensor.shape)}, got {list(weights[name].shape)}")
    module.load_state_dict(weights, strict=False)
    module.eval()


def _finished(folder: Path, identity: str) -> Fit | None:
    mark = _marked(folder)
    whole = mark is not None and mark.get("done") and mark["identity"] == identity and (folder / BEST).is_file()
    return Fit(mark["epochs"], mark["val_loss"], True) if whole and mark is not None else None


def _discard_others(folder: Path, identity: str) -> None:
    """Remove what another fit left, so that nothing resumes from weights that were trained on something else."""
    mark = _marked(folder)
    if mark is None or mark["identity"] != identity:
        for name in (BEST, LAST):
            (folder / name).unlink(missing_ok=True)
    _mark(folder, {"identity": identity, "done": False})


def _marked(folder: Path) -> Json:
    path = folder / MARK
    return json.loads(path.read_text()) if path.is_file() else None


def _mark(folder: Path, content: Json) -> None:
    part = folder / f"{MARK}.part"
    part.write_text(json.dumps(content, allow_nan=False))
    part.replace(folder / MARK)


class _quiet(warnings.catch_warnings):
    """Keeps Lightning's advice (more workers, a folder that exists) off a terminal where fits run by dozens."""

    def __enter__(self) -> None:
        super().__enter__()
        warnings.filterwarnings("ignore", module=r"pytorch_lightning|lightning_fabric|torch")
        self._loggers = [logging.getLogger(name) for name in ("pytorch_lightning", "lightning.fabric")]
        self._levels = [one.level for one in self._loggers]
        for one in self._loggers:
            one.setLevel(logging.ERROR)

    def __exit__(self, *error: object) -> None:
        for one, level in zip(self._loggers, self._levels, strict=True):
            one.setLevel(level)
        super().__exit__(*error)  # type: ignore[arg-type]
