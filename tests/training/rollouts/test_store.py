"""Trajectories on disk."""

import asyncio
import dataclasses
import json

import numpy as np
import pytest

from studio.common.frames import frame_load, frame_path
from tests.training.rollouts.doubles import (
    CLICK,
    NONSENSE,
    TASK,
    Script,
    World,
    going_on,
    over,
    screen,
)
from training.rollouts.runner import roll_out
from training.rollouts.store import (
    TrajectoryUnreadable,
    read_tokens,
    read_trajectory,
    write_trajectory,
)


@pytest.fixture
def trajectory():
    """Return an episode: an unreadable answer, a click, another that solves it."""
    return asyncio.run(
        roll_out(
            environment=World(going_on(), over(1.0)),
            policy=Script(NONSENSE, CLICK, CLICK),
            task=TASK,
            seed=7,
            step_limit=9,
            max_parse_errors=3,
        )
    )


@pytest.fixture
def folder(tmp_path):
    """Return where the trajectory goes; its parents do not exist yet."""
    return tmp_path / "runs" / "r" / "trajectories" / "t1"


def test_the_record_says_what_happened(tmp_path, folder, trajectory):
    write_trajectory(folder, trajectory, tmp_path, policy="run-a")

    record = read_trajectory(folder)
    steps = record.pop("steps")
    final = record.pop("final_screen")
    assert record.pop("reset_s") >= 0.0
    assert record == {
        "format_version": 1,
        "id": "t1",
        "task": "miniwob/click-test",
        "seed": 7,
        "instruction": "Click the button.",
        "end_reason": "solved",
        "reward": 1.0,
        "policy": "run-a",
    }
    assert [step["text"] for step in steps] == [NONSENSE, CLICK, CLICK]
    assert (final["width"], final["height"]) == (160, 210)


def test_a_step_says_what_was_shown_said_and_done(tmp_path, folder, trajectory):
    write_trajectory(folder, trajectory, tmp_path)

    bad, good, _ = read_trajectory(folder)["steps"]
    timings = good.pop("timings_s")
    assert set(timings) == {"queue", "model", "environment"}
    screen_name, (image_name,) = good.pop("screen"), good.pop("model_images")
    assert (image_name["width"], image_name["height"]) == (160, 160)
    assert frame_load(tmp_path, screen_name["sha256"]).size == (160, 210)
    assert good == {
        "index": 1,
        "task_area": [0, 50, 160, 210],
        "messages": [{"role": "user", "content": [{"type": "image"}]}],
        "text": CLICK,
        "action": {"kind": "click", "x": 0.5125, "y": 0.5125},
        "parse_error": None,
        "executed_px": {"x": 82, "y": 107},
        "num_prompt_tokens": 3,
        "num_response_tokens": 2,
        "token_texts": [CLICK, "<|im_end|>"],
        "versions": [3, 3],
    }
    assert (bad["action"], bad["executed_px"]) == (None, None)
    assert "expected an action token" in bad["parse_error"]


def test_pictures_come_back_to_the_pixel(tmp_path, folder, trajectory):
    noise = np.random.default_rng(0).integers(0, 256, (210, 160, 3), dtype=np.uint8)
    from PIL import Image

    last = dataclasses.replace(
        trajectory.final_observation, screen=Image.fromarray(noise)
    )
    write_trajectory(
        folder, dataclasses.replace(trajectory, final_observation=last), tmp_path
    )

    record = read_trajectory(folder)
    final = frame_load(tmp_path, record["final_screen"]["sha256"])
    first = frame_load(tmp_path, record["steps"][0]["screen"]["sha256"])
    assert (np.asarray(final) == noise).all()
    assert first.tobytes() == screen(0).tobytes()


def test_a_picture_is_kept_once(tmp_path, folder, trajectory):
    write_trajectory(folder, trajectory, tmp_path)
    write_trajectory(folder.with_name("t2"), trajectory, tmp_path)

    # Screens 0 (twice, after the unreadable answer), 1, 2 and two crops.
    assert len(list((tmp_path / "frames").rglob("*.webp"))) == 5
    record = read_trajectory(folder)
    shown = record["steps"][0]["screen"]["sha256"]
    assert shown == record["steps"][1]["screen"]["sha256"]
    assert frame_path(tmp_path, shown).exists()


def test_tokens_come_back_exactly(tmp_path, folder, trajectory):
    write_trajectory(folder, trajectory, tmp_path)

    tokens = read_tokens(folder)
    names = ("prompt", "response", "logprobs", "entropies", "versions")
    assert set(tokens) == {f"{name}_{index}" for name in names for index in range(3)}
    assert tokens["prompt_1"].tolist() == [1, 2, 3]
    assert tokens["response_1"].tolist() == [7, 4]
    assert tokens["logprobs_1"].tolist() == [-0.5, -0.25]
    assert tokens["entropies_1"].tolist() == [1.5, 0.5]
    assert tokens["versions_1"].tolist() == [3, 3]
    assert [str(tokens[f"{name}_0"].dtype) for name in names] == [
        "int32",
        "int32",
        "float32",
        "float32",
        "int32",
    ]


def without_answers(trajectory):
    steps = [
        dataclasses.replace(
            step, decision=dataclasses.replace(step.decision, answer=None)
        )
        for step in trajectory.steps
    ]
    return dataclasses.replace(trajectory, steps=steps)


def test_a_policy_without_tokens_leaves_none(tmp_path, folder, trajectory):
    write_trajectory(folder, without_answers(trajectory), tmp_path)

    step = read_trajectory(folder)["steps"][0]
    assert read_tokens(folder) == {}
    assert (step["versions"], step["num_response_tokens"]) == (None, 0)


def test_writing_again_replaces_and_leaves_nothing_behind(tmp_path, folder, trajectory):
    write_trajectory(folder, trajectory, tmp_path, policy="first")
    write_trajectory(folder, trajectory, tmp_path, policy="second")

    assert read_trajectory(folder)["policy"] == "second"
    assert [path.name for path in folder.parent.iterdir()] == ["t1"]


def test_a_write_that_fails_leaves_no_half_of_it(
    tmp_path, folder, trajectory, monkeypatch
):
    from training.rollouts import store

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(store, "save_file", fail)

    with pytest.raises(OSError, match="disk full"):
        write_trajectory(folder, trajectory, tmp_path)

    assert list(folder.parent.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("{", "cannot read"),
        ("[]", "cannot read"),
        ("{}", "cannot read"),
        (json.dumps({"format_version": 2}), "version 2, expected 1"),
    ],
)
def test_what_cannot_be_read_is_not_taken_for_empty(tmp_path, content, why):
    (tmp_path / "trajectory.json").write_text(content)

    with pytest.raises(TrajectoryUnreadable, match=why):
        read_trajectory(tmp_path)


def test_missing_and_damaged_tokens_are_told(tmp_path):
    with pytest.raises(TrajectoryUnreadable):
        read_tokens(tmp_path)
    (tmp_path / "tokens.safetensors").write_bytes(b"\x00" * 20)
    with pytest.raises(TrajectoryUnreadable):
        read_tokens(tmp_path)
