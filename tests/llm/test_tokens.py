"""Token bounds: what they promise is that the true count of a tokenizer lies between them."""

import json
import os
from pathlib import Path

import pytest

from trajaudit.llm.tokens import at_least, at_most

TEXTS = [
    "Refund order ORD-00192-AB, please: the charger (2 pieces) never arrived!",
    '{"tool":"issue_refund","args":{"order_id":"A-1042","amount":1234567.89}}',
    "get_order_status(order_id='X9')\n\n\treturn None",
    "¡Señor, 10,50 € por favor! Привет, верните деньги. 返金してください。",
    "",
]


def test_the_bounds_are_worked_out_by_hand():
    # letters: 6; digits: 00192 is two fours; marks: "-" before 0 and "," before a space count, "-" before AB does not
    assert at_least("Refund order ORD-00192-AB, now") == 5 + 2 + 1 + 1
    # Refund 1+2, order 2, ORD 3, - 1, 00192 5, - 1, AB 2, "," 1, now 1
    assert at_most("Refund order ORD-00192-AB, now") == 3 + 2 + 3 + 1 + 5 + 1 + 2 + 1 + 1
    assert at_least("") == at_most("") == 0


@pytest.mark.parametrize("text", TEXTS)
def test_the_bounds_are_in_order_and_add_up_over_lines(text):
    assert at_least(text) <= at_most(text)
    assert at_most(text + "\n" + text) >= 2 * at_most(text)


def test_the_embedded_tokenizer_counts_between_the_bounds(embedded):
    for text in TEXTS:
        assert at_least(text) <= embedded.count_tokens(text) <= at_most(text)


def test_the_published_traces_are_counted_between_the_bounds(embedded):
    data = Path(os.environ.get("TRAJAUDIT_DATA") or Path(__file__).parents[3] / "shared" / "data")
    path = data / "trajectory_judge" / "trajectories.jsonl"
    if not path.is_file():
        pytest.skip(f"the published trajectories are not at {path}")
    for line in path.read_text().splitlines()[::40]:
        text = json.dumps(json.loads(line), indent=1)
        assert at_least(text) <= embedded.count_tokens(text) <= at_most(text)
