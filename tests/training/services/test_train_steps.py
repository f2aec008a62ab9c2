from datetime import timedelta

import pytest
from django.utils import timezone

from tests.factories import BatchFactory, DatasetFactory, RunFactory
from training.config import SftConfig
from training.engine.launcher import EngineDied, EngineRefused
from training.engine.protocol import CheckpointInfo, Ready, Stepped, StepResult
from training.models import Batch, Run
from training.services.batch_claims import batch_claim
from training.services.batches import batch_form
from training.services.files import storage
from training.services.train_steps import MAX_TRIES, batch_train, engine_prepare

pytestmark = pytest.mark.django_db


class FakeEngine:
    """Does as an engine would, without learning; ``fails`` are raised one by one."""

    def __init__(self, run, step, fails, num_per_slice):
        self.run = run
        self.ready = Ready(
            protocol_version=1,
            step=step,
            version=step,
            resumed_from=None,
            skipped=[],
        )
        self._fails = fails
        self._num_per_slice = num_per_slice
        self.asked = []

    def request(self, message, *, timeout_s):
        if self._fails:
            raise self._fails.pop(0)
        self.asked.append(message)
        if message.kind == "train_batch":
            steps = [message.step]
        else:
            first = self.ready.step + 1
            last = min(message.until_step, self.ready.step + self._num_per_slice)
            steps = range(first, last + 1)
        return Stepped(results=[self._result(step) for step in steps])

    def _result(self, step):
        return StepResult(
            step=step,
            metrics={"actor/pg_loss": step / 10},
            checkpoint=CheckpointInfo(
                version=step,
                step=step,
                path=str(storage().checkpoint(self.run.pk, step)),
                sha256="a" * 64,
                size_bytes=1,
            ),
        )


class FakeEngines:
    """Stands where ``ResidentEngines`` does."""

    def __init__(self, *, step=0, fails=(), num_per_slice=3):
        self._step = step
        self._fails = list(fails)
        self._num_per_slice = num_per_slice
        self.started = []
        self._current = None

    def engine_for(self, run, config):
        if self._current is None:
            self._current = FakeEngine(
                run, self._step, self._fails, self._num_per_slice
            )
            self.started.append(self._current)
        return self._current

    def end(self, run_id):
        self._current = None


@pytest.fixture
def batch(make_group, lease, config, media):
    for _ in range(2):
        make_group([1.0, 0.0], status="ready")
    return batch_form(lease, config=config)


def test_an_optimizer_step_leaves_batch_groups_checkpoint_and_metrics(
    batch, run, sent, django_capture_on_commit_callbacks
):
    with django_capture_on_commit_callbacks(execute=True):
        batch_train(batch_id=batch.pk, engines=FakeEngines())

    run.refresh_from_db()
    batch.refresh_from_db()
    assert (run.optimizer_step, run.policy_version) == (1, 1)
    assert batch.status == "trained"
    assert set(run.groups.values_list("status", flat=True)) == {"trained"}
    checkpoint = run.checkpoints.get()
    assert (checkpoint.version, checkpoint.step, checkpoint.status) == (1, 1, "ready")
    row = run.metrics.get(source="trainer")
    assert row.values["actor/pg_loss"] == 0.1
    assert row.values["critic/rewards/mean"] == 0.5
    assert 0 <= row.values["timing_s/wait_for_batch"] < 60
    assert sent["sync"] == [None]
    assert run.pk in sent["advance"]


def test_a_message_delivered_twice_trains_once(batch, run):
    engines = FakeEngines()

    batch_train(batch_id=batch.pk, engines=engines)
    batch_train(batch_id=batch.pk, engines=engines)

    assert len(engines.started[0].asked) == 1
    assert run.metrics.filter(source="trainer").count() == 1


def test_two_trainers_do_not_share_a_batch(batch):
    assert batch_claim(batch_id=batch.pk) is not None
    assert batch_claim(batch_id=batch.pk) is None


def test_a_trainer_that_lost_its_batch_records_nothing(batch, run, monkeypatch):
    engines = FakeEngines()
    engine = engines.engine_for(run, None)
    request = engine.request

    def slow_request(message, *, timeout_s):
        # Meanwhile the lease ran out and another trainer took the batch.
        Batch.objects.update(lease_expires_at=timezone.now() + timedelta(seconds=60))
        return request(message, timeout_s=timeout_s)

    monkeypatch.setattr(engine, "request", slow_request)

    batch_train(batch_id=batch.pk, engines=engines)

    run.refresh_from_db()
    assert run.optimizer_step == 0
    assert not run.checkpoints.exists()
    assert Batch.objects.get().status == "training"


def test_an_engine_that_died_is_replaced_and_asked_for_the_same_step(batch, run):
    engines = FakeEngines(fails=[EngineDied("killed")])

    batch_train(batch_id=batch.pk, engines=engines)

    run.refresh_from_db()
    assert (run.status, run.optimizer_step) == ("running", 1)
    assert len(engines.started) == 2


def test_an_engine_that_keeps_dying_fails_the_run_with_its_last_words(batch, run):
    fails = [EngineDied(f"out of memory {number}") for number in range(MAX_TRIES)]

    batch_train(batch_id=batch.pk, engines=FakeEngines(fails=fails))

    run.refresh_from_db()
    batch.refresh_from_db()
    assert run.status == "failed"
    assert "out of memory 2" in run.reason
    assert batch.status == "returned"
    assert set(run.groups.values_list("status", flat=True)) == {"ready"}


def test_an_engine_that_refuses_fails_the_run_with_its_reason(batch, run):
    fails = [EngineRefused("the gradient norm is nan")]

    batch_train(batch_id=batch.pk, engines=FakeEngines(fails=fails))

    run.refresh_from_db()
    assert (run.status, run.reason) == ("failed", "the gradient norm is nan")


def test_a_bug_fails_the_run_without_showing_its_insides(batch, run):
    fails = [KeyError("/srv/secret")]

    with pytest.raises(KeyError):
        batch_train(batch_id=batch.pk, engines=FakeEngines(fails=fails))

    run.refresh_from_db()
    assert run.status == "failed"
    assert "secret" not in run.reason


def test_a_run_that_stops_lets_no_batch_be_claimed(batch, run):
    Run.objects.update(status="stopping")

    assert batch_claim(batch_id=batch.pk) is None


def test_steps_that_a_damaged_checkpoint_took_along_are_done_again(batch, run):
    Run.objects.update(optimizer_step=2)
    Batch.objects.update(step=3)
    for step in (2, 1):
        earlier = storage().batch(run.pk, step)
        earlier.parent.mkdir(parents=True, exist_ok=True)
        earlier.write_text("{}")
    engines = FakeEngines(step=0)

    batch_train(batch_id=batch.pk, engines=engines)

    asked = engines.started[0].asked
    assert [message.step for message in asked] == [1, 2, 3]
    run.refresh_from_db()
    assert run.optimizer_step == 3


@pytest.fixture
def sft_run(alice, media):
    config = SftConfig(
        kind="sft", dataset=str(DatasetFactory(owner=alice).pk), max_optimizer_steps=5
    )
    return RunFactory(
        owner=alice, kind="sft", running=True, config=config.model_dump(mode="json")
    )


def test_supervised_slices_follow_each_other_to_the_last_step(
    sft_run, sent, django_capture_on_commit_callbacks
):
    engines = FakeEngines(num_per_slice=3)
    first = BatchFactory(run=sft_run, step=1)

    with django_capture_on_commit_callbacks(execute=True):
        batch_train(batch_id=first.pk, engines=engines)
    (second,) = sent["train_step"]
    with django_capture_on_commit_callbacks(execute=True):
        batch_train(batch_id=second, engines=engines)

    sft_run.refresh_from_db()
    assert sft_run.optimizer_step == 5
    steps = sft_run.metrics.filter(source="trainer").values_list("step", flat=True)
    assert list(steps) == [1, 2, 3, 4, 5]
    assert sent["train_step"] == [second]  # Nothing is left to ask for.


def test_a_supervised_run_that_lost_steps_does_not_measure_them_twice(sft_run):
    Run.objects.update(optimizer_step=3)
    sft_run.refresh_from_db()
    for step in (1, 2, 3):
        sft_run.metrics.create(
            seq=step, attempt=1, step=step, source="trainer", values={}
        )
    Run.objects.update(last_seq=3)
    batch = BatchFactory(run=sft_run, step=4)

    batch_train(batch_id=batch.pk, engines=FakeEngines(step=1, num_per_slice=2))

    sft_run.refresh_from_db()
    assert sft_run.optimizer_step == 5
    steps = sft_run.metrics.values_list("step", flat=True)
    assert list(steps) == [1, 2, 3, 4, 5]


class UnloadablePolicy(FakeEngines):
    """Engines that die ``times`` times before one starts."""

    def __init__(self, times):
        super().__init__()
        self.left = times

    def engine_for(self, run, config):
        if self.left:
            self.left -= 1
            raise EngineDied("a tensor is missing")
        return super().engine_for(run, config)


def test_a_policy_that_no_engine_can_load_fails_the_run_that_would_wait(run):
    Run.objects.update(status="starting")

    engine_prepare(run_id=run.pk, engines=UnloadablePolicy(MAX_TRIES))

    run.refresh_from_db()
    assert run.status == "failed"
    assert "a tensor is missing" in run.reason


def test_an_engine_that_is_killed_while_it_loads_is_started_again(run):
    Run.objects.update(status="starting")

    engine_prepare(run_id=run.pk, engines=UnloadablePolicy(MAX_TRIES - 1))

    assert Run.objects.get().status == "starting"
