import json

import pytest
import torch

from training.engine.checkpoints import (
    CheckpointBroken,
    TrainerState,
    checkpoint_read,
    checkpoint_write,
    newest_valid,
)


@pytest.fixture
def write(tmp_path, policy, policy_folder):
    def write_version(version):
        state = TrainerState(
            step=version * 10,
            version=version,
            optimizer={"layer/step": torch.tensor(float(version))},
            metrics={"sft/loss": 0.25},
        )
        return checkpoint_write(
            root=tmp_path / "checkpoints",
            model=policy.model,
            policy=policy_folder,
            state=state,
        )

    return write_version


def test_a_checkpoint_is_read_back_as_it_was_written(write, tmp_path):
    info = write(3)

    again, state = checkpoint_read(tmp_path / "checkpoints" / "000003")

    assert again == info
    assert (state.step, state.version) == (30, 3)
    assert state.metrics == {"sft/loss": 0.25}
    assert state.optimizer["layer/step"] == 3.0


def test_a_checkpoint_is_a_complete_policy(write, policy):
    from pathlib import Path

    from training.engine.model import TrainedPolicy

    loaded = TrainedPolicy.load(Path(write(1).path))

    for left, right in zip(
        policy.model.parameters(), loaded.model.parameters(), strict=True
    ):
        assert torch.equal(left, right)


def test_the_newest_checkpoint_that_is_whole_is_taken_and_the_damage_is_named(
    write, tmp_path
):
    write(1)
    damaged = tmp_path / "checkpoints" / "000002"
    write(2)
    weights = damaged / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1])

    found, problems = newest_valid(tmp_path / "checkpoints")

    assert found[0].version == 1
    assert problems == ["000002: model.safetensors is damaged"]


def test_a_checkpoint_without_its_manifest_is_broken(write, tmp_path):
    write(1)
    (tmp_path / "checkpoints" / "000001" / "manifest.json").unlink()

    with pytest.raises(CheckpointBroken, match=r"manifest\.json"):
        checkpoint_read(tmp_path / "checkpoints" / "000001")


def test_what_a_killed_writer_left_is_removed(write, tmp_path):
    write(1)
    leftover = tmp_path / "checkpoints" / ".writing-000002-99999"
    leftover.mkdir()

    newest_valid(tmp_path / "checkpoints")

    assert not leftover.exists()


def test_nothing_is_found_where_nothing_was_written(tmp_path):
    assert newest_valid(tmp_path / "nowhere") == (None, [])


def test_old_checkpoints_keep_their_weights_but_no_optimizer(write, tmp_path):
    for version in (1, 2, 3):
        write(version)

    root = tmp_path / "checkpoints"
    kept = [(root / f"{n:06d}" / "trainer").exists() for n in (1, 2, 3)]
    assert kept == [False, True, True]
    assert (root / "000001" / "model.safetensors").exists()


def test_the_manifest_names_every_file(write, tmp_path):
    write(1)
    folder = tmp_path / "checkpoints" / "000001"

    named = set(json.loads((folder / "manifest.json").read_text())["files"])

    there = {str(f.relative_to(folder)) for f in folder.rglob("*") if f.is_file()}
    assert named == there - {"manifest.json"}
