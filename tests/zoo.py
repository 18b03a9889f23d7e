"""A tiny random BERT and runs with an obvious fault: enough to train a detector on in a second."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from sample_runs import make_run

from trajaudit.trajectory import Fault, Label, Trajectory


def tiny_bert(folder: Path) -> Path:
    """Write a BERT with two layers of 32 numbers, 64 positions, and a vocabulary of letters and a few words."""
    torch = pytest.importorskip("torch", reason="the detectors need torch")
    transformers = pytest.importorskip("transformers", reason="the detectors need transformers")
    letters = "abcdefghijklmnopqrstuvwxyz0123456789{}\":,._-'"
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{letter}" for letter in letters)]
    vocabulary += ["thought", "zebra", "lookup", "observation", "action", "final", "answer", "task"]
    (folder / "vocab.txt").write_text("\n".join(vocabulary))
    transformers.BertTokenizerFast(vocab=str(folder / "vocab.txt")).save_pretrained(folder)
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
        hidden_dropout_prob=0.1,
    )
    transformers.BertModel(config).save_pretrained(folder)
    return folder


def zebra_runs(groups: int) -> list[Trajectory]:
    """Two runs a group, of which the second thinks of a zebra at a step that moves about; that is its fault."""
    found = []
    for number in range(groups):
        task = " ".join(f"x{number}y{word}" for word in range(25))  # else all groups would be near-duplicates
        plain = replace(make_run(f"c{number}", f"g{number}", Label(False), steps=3), task=task)
        at = number % 3
        steps = tuple(replace(step, thought="zebra") if step.index == at else step for step in plain.steps)
        label = Label(True, (Fault("wrong_tool", at, "thought"),))
        found += [plain, replace(plain, id=f"f{number}", steps=steps, label=label)]
    return found
