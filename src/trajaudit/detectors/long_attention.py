"""A long-context encoder made from a short one, by the published conversion (Beltagy et al. 2020, section 5).

The weights of a BERT are copied into a Longformer: attention becomes a sliding window, query, key and value are doubled
into those of the tokens with global attention, and the position table is repeated to the new length. As long as an
input is no longer than half a window, and nothing is global, the output is the source's own; beyond that it needs
training, since no token ever met one so far away.
"""

from __future__ import annotations

import torch
from transformers import BertModel, LongformerConfig, LongformerModel

COPIED = ("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "hidden_act")
COPIED_TOO = ("hidden_dropout_prob", "attention_probs_dropout_prob", "type_vocab_size", "layer_norm_eps")


def longformer_of(bert: BertModel, window: int, attention: int) -> LongformerModel:
    """Return a Longformer with the weights of a BERT.

    Args:
        window: most tokens it reads, a multiple of ``attention``.
        attention: tokens that each token attends to, half of them on either side; even.

    Raises:
        ValueError: the sizes do not fit, or the source is no BERT (other families place their tables differently).
    """
    if bert.config.model_type != "bert":
        raise ValueError(f"encoder: only a BERT can be made long, got a {bert.config.model_type}")
    if attention < 2 or attention % 2 or window % attention:
        raise ValueError(f"attention: expected an even divisor of {window}, got {attention}")
    config = bert.config
    offset = int(config.pad_token_id or 0) + 1  # Longformer counts positions from there, as RoBERTa does
    long = LongformerModel(
        LongformerConfig(
            **{name: getattr(config, name) for name in (*COPIED, *COPIED_TOO)},
            attention_window=attention,
            max_position_embeddings=window + offset,
            pad_token_id=config.pad_token_id,
            sep_token_id=2 if config.vocab_size < 103 else 102,
        ),
        add_pooling_layer=False,
    )
    weights = dict(bert.state_dict())
    positions = weights["embeddings.position_embeddings.weight"]
    repeated = positions[torch.arange(window) % len(positions)]
    # The rows below the offset belong to padding, whose output nobody reads.
    weights["embeddings.position_embeddings.weight"] = torch.cat([positions[:1].expand(offset, -1), repeated])
    for name in list(weights):
        for part in ("query", "key", "value"):
            if f".self.{part}." in name:
                weights[name.replace(f".{part}.", f".{part}_global.")] = weights[name]
    own = long.state_dict().keys()
    long.load_state_dict({name: weight for name, weight in weights.items() if name in own}, strict=True)
    return long.eval()
