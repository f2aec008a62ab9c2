"""The making of the base policy, in small: real pages, a real engine."""

import json
import sys

import pytest

from training import pretrain
from training.engine.model import TrainedPolicy


@pytest.mark.browser
@pytest.mark.slow
def test_pretraining_leaves_a_policy_that_loads_and_its_curve(tmp_path, monkeypatch):
    home, out = tmp_path / "home", tmp_path / "out"
    arguments = ["--home", home, "--out", out, "--share", "0.001", "--length", "0.002"]
    monkeypatch.setattr(sys, "argv", ["pretrain", *map(str, arguments)])

    pretrain.main()

    assert TrainedPolicy.load(out).processor.image_token_id > 0
    curve = json.loads((out / "pretraining.json").read_text())
    # 0.002 of 3200 and of 1600 optimizer steps.
    assert [(point["stage"], point["step"]) for point in curve] == [
        ("see", 6),
        ("copy", 3),
    ]
    assert curve[-1]["loss"] < 7.0
    rows = (home / "rows.jsonl").read_text().splitlines()
    assert len(rows) > 10
    assert {json.loads(line)["messages"][-1]["role"] for line in rows} == {"assistant"}
