import pytest

from agents.policies import fragments
from tests.factories import RunFactory, TaskFactory, UserFactory
from training.errors import QuickstartFailed, TaskNotFound
from training.models import Run
from training.presets import PRESETS
from training.services.collecting import lessons_of
from training.services.evaluations import FIRST_HELD_OUT_SEED
from training.services.quickstart import (
    Measurement,
    quickstart_config,
    quickstart_start,
)

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def policy(settings, tmp_path, media):
    settings.BUNDLED_POLICIES = tmp_path / "bundled"
    folder = settings.BUNDLED_POLICIES / "oche-tiny"
    folder.mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(b"weights")
    for name in PRESETS["quickstart"]["tasks"]:
        TaskFactory(name=name.split("/")[1])


def test_the_quickstart_is_created_and_queued(alice):
    run = quickstart_start(owner=alice)

    assert (run.status, run.owner) == ("queued", alice)
    assert run.config["preset"] == "quickstart"


def test_without_an_owner_it_is_the_administrators_and_started_once():
    admin = UserFactory(is_superuser=True)

    first = quickstart_start()
    second = quickstart_start()

    assert first.owner == admin
    assert second == first
    assert Run.objects.count() == 1


def test_without_anyone_to_own_it_it_says_so():
    with pytest.raises(QuickstartFailed, match="no administrator"):
        quickstart_start()


def test_each_seed_trains_on_episodes_of_its_own():
    first, second = quickstart_config(seed=0), quickstart_config(seed=1)

    assert first.first_seed == 1_000_000
    assert second.first_seed - first.first_seed == 1_000_000
    assert second.first_seed < FIRST_HELD_OUT_SEED


def test_a_measurement_that_is_told_to_end_stops_its_run(alice):
    run = RunFactory(owner=alice, config=quickstart_config().model_dump(mode="json"))
    measurement = Measurement(
        owner=alice, say=lambda text: None, should_end=lambda: True
    )

    with pytest.raises(QuickstartFailed, match="told to end"):
        measurement._train(run)

    run.refresh_from_db()
    assert run.status == "stopped"


def test_lessons_take_names_in_turn_and_seeds_in_a_row():
    fragment = fragments.NAMES[0]

    lessons = lessons_of(["miniwob/click-test", fragment], episodes=2, first_seed=5)

    assert [(one.name, one.seed, one.is_fragment) for one in lessons] == [
        ("click-test", 5, False),
        (fragment, 5, True),
        ("click-test", 6, False),
        (fragment, 6, True),
    ]


def test_demonstrations_stay_below_the_seeds_of_training():
    with pytest.raises(TaskNotFound, match="from 0 to 999999"):
        lessons_of(["miniwob/click-test"], episodes=2, first_seed=999_999)


def test_a_task_without_a_page_is_named():
    with pytest.raises(TaskNotFound, match="nonsense"):
        lessons_of(["miniwob/nonsense"], episodes=1)
