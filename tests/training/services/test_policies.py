import hashlib

import pytest

from tests.factories import CheckpointFactory, EvaluationFactory, RunFactory
from training.errors import PolicyNotFound
from training.models import Checkpoint, Run
from training.services.checkpoints import (
    checkpoint_register_start,
    run_settle_version,
    start_folder,
)
from training.services.files import storage
from training.services.policies import policy_resolve
from training.services.syncing import desired_weights

pytestmark = pytest.mark.django_db

WEIGHTS = b"weights"
SHA256 = hashlib.sha256(WEIGHTS).hexdigest()


@pytest.fixture
def bundled(settings, tmp_path, media):
    settings.BUNDLED_POLICIES = tmp_path / "bundled"
    folder = settings.BUNDLED_POLICIES / "oche-tiny"
    folder.mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(WEIGHTS)
    (folder / "config.json").write_text("{}")
    return folder


def write_checkpoint(media, checkpoint, content=WEIGHTS):
    folder = media / checkpoint.path
    folder.mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(content)


def test_a_name_is_a_policy_that_ships(alice, bundled):
    served = policy_resolve(reference="oche-tiny", owner=alice)

    assert served.model == "policy-oche-tiny"
    assert served.weights.path == str(bundled)
    assert (served.weights.sha256, served.weights.version) == (SHA256, 0)


def test_a_policy_that_changed_is_hashed_again(alice, bundled):
    before = policy_resolve(reference="oche-tiny", owner=alice)
    (bundled / "model.safetensors").write_bytes(b"other weights")

    after = policy_resolve(reference="oche-tiny", owner=alice)

    assert before.weights.sha256 != after.weights.sha256


def test_a_version_of_a_run_is_a_policy(alice, media):
    run = RunFactory(owner=alice)
    for version in (1, 2):
        CheckpointFactory(run=run, version=version)

    of_version = policy_resolve(reference=f"{run.pk}@1", owner=alice)
    newest = policy_resolve(reference=str(run.pk), owner=alice)

    assert of_version.model == f"run-{run.pk}@1"
    assert of_version.weights.path.endswith("/000001")
    assert newest.weights.version == 2


def test_someone_elses_run_is_no_policy(alice, mallory, media):
    run = CheckpointFactory(run=RunFactory(owner=alice)).run

    with pytest.raises(PolicyNotFound, match="no version 1"):
        policy_resolve(reference=f"{run.pk}@1", owner=mallory)


@pytest.mark.parametrize(
    "reference", ["", "..", "../oche-tiny", "/etc", "x" * 300, "a b", "0" * 32]
)
def test_what_leads_nowhere_is_said_so(alice, bundled, reference):
    with pytest.raises(PolicyNotFound):
        policy_resolve(reference=reference, owner=alice)


def test_a_run_keeps_a_copy_of_what_it_started_from(alice, bundled):
    run = RunFactory(owner=alice)
    weights = policy_resolve(reference="oche-tiny", owner=alice).weights

    checkpoint_register_start(run_id=run.pk, weights=weights)
    checkpoint_register_start(run_id=run.pk, weights=weights)

    checkpoint = Checkpoint.objects.get()
    assert (checkpoint.version, checkpoint.step, checkpoint.sha256) == (0, 0, SHA256)
    bundled.joinpath("config.json").unlink()
    bundled.joinpath("model.safetensors").write_bytes(b"rewritten in place")
    assert start_folder(run.pk).joinpath("model.safetensors").read_bytes() == WEIGHTS
    names = sorted(file.name for file in start_folder(run.pk).iterdir())
    assert names == ["config.json", "model.safetensors"]


def test_a_damaged_checkpoint_is_passed_over(alice, media):
    run = RunFactory(owner=alice, policy_version=2)
    whole = CheckpointFactory(run=run, version=1, sha256=SHA256)
    damaged = CheckpointFactory(run=run, version=2, sha256=SHA256)
    write_checkpoint(media, whole)
    write_checkpoint(media, damaged, b"half")

    run_settle_version(run_id=run.pk)

    damaged.refresh_from_db()
    assert Run.objects.get().policy_version == 1
    assert damaged.status == "broken"


def test_a_step_that_was_never_recorded_is_forgotten_with_its_attempt(alice, media):
    run = RunFactory(owner=alice)
    recorded = CheckpointFactory(run=run, version=1, sha256=SHA256)
    write_checkpoint(media, recorded)
    unrecorded = storage().checkpoint(run.pk, 2)
    unrecorded.mkdir()

    run_settle_version(run_id=run.pk)

    assert not unrecorded.exists()
    assert storage().checkpoint(run.pk, 1).exists()


def test_wanted_are_the_newest_versions_of_active_runs_and_evaluated_policies(
    alice, bundled
):
    active = RunFactory(owner=alice, running=True, policy_version=3)
    over = RunFactory(owner=alice, status="succeeded", policy_version=1)
    for run, version in ((active, 2), (active, 3), (over, 1)):
        CheckpointFactory(run=run, version=version)
    EvaluationFactory(owner=alice, status="running")
    EvaluationFactory(owner=alice, status="running", policy=f"{over.pk}@1")
    EvaluationFactory(owner=alice, status="finished", policy=f"{active.pk}@2")

    wanted = desired_weights()

    assert {model: weights.version for model, weights in wanted.items()} == {
        f"run-{active.pk}": 3,
        "policy-oche-tiny": 0,
        f"run-{over.pk}@1": 1,
    }
