import asyncio
import json
import re

import pytest
from django.urls import reverse

from tests.factories import (
    BatchFactory,
    EvaluationFactory,
    GroupFactory,
    RunFactory,
    TaskFactory,
    TrajectoryFactory,
)
from tests.training.replays import frame, record
from tests.training.rollouts.doubles import (
    CLICK,
    NONSENSE,
    TASK,
    Script,
    World,
    going_on,
    over,
)
from training.pages.replay import (
    ReplayMissing,
    describe,
    frames_of,
    read_replay,
    token_bin,
)
from training.pages.verdict import verdict_of
from training.rollouts.runner import roll_out
from training.rollouts.store import write_trajectory

pytestmark = pytest.mark.django_db


@pytest.fixture
def signed_in(client, alice):
    client.force_login(alice)
    return client


@pytest.fixture
def trajectory(alice, media):
    run = RunFactory.create(owner=alice, name="night shift")
    trajectory = TrajectoryFactory.create(solved=True, run=run, owner=alice)
    record(trajectory, media)
    return trajectory


def text_of(response):
    return re.sub(r"\s+", " ", response.content.decode())


def test_the_replay_has_a_card_for_each_step(signed_in, trajectory):
    page = text_of(signed_in.get(reverse("training:trajectory", args=[trajectory.pk])))

    assert 'id="step-1-card"' in page
    assert 'id="step-2-card"' in page
    assert 'id="step-3-card"' not in page
    assert "click · x 0.250 · y 0.500" in page
    assert "at 40, 105 px" in page
    assert "Go &lt;on&gt;." in page


def test_a_real_episode_can_be_replayed(tmp_path):
    episode = asyncio.run(
        roll_out(
            environment=World(going_on(), over(1.0)),
            policy=Script(NONSENSE, CLICK, CLICK),
            task=TASK,
            seed=7,
            step_limit=9,
            max_parse_errors=3,
        )
    )
    write_trajectory(tmp_path / "t1", episode, tmp_path)

    replay = read_replay(tmp_path / "t1")

    unread, click, _ = replay.steps
    assert replay.instruction == "Click the button."
    assert (unread.kind, unread.marks["action"]) == ("unread", None)
    assert unread.parse_error
    assert click.marks["action"]["kind"] == "click"
    assert click.tokens
    assert [phase.label for phase in click.phases] == [
        "Queue",
        "Model",
        "Action and screen",
    ]
    assert click.after in frames_of(tmp_path / "t1")


def test_a_typed_text_is_drawn_where_the_click_before_it_was(media, trajectory):
    replay = read_replay(media / trajectory.path)

    assert replay.steps[0].marks["focus"] is None
    assert replay.steps[1].marks["focus"] == (0.25, 0.5)


def test_a_step_shows_the_screen_before_and_the_screen_after(media, trajectory):
    first, second = read_replay(media / trajectory.path).steps

    assert first.before == frame(media, "white")["sha256"]
    assert first.after == second.before == frame(media, "yellow")["sha256"]
    assert second.after == frame(media, "green")["sha256"]


def test_tokens_are_tinted_by_their_share_of_the_largest_entropy(media, trajectory):
    replay = read_replay(media / trajectory.path)

    assert replay.entropy_scale == 2.0
    assert [token.entropy_bin for token in replay.steps[0].tokens] == [0, 9]
    # A log-probability of -2.5 is beyond half of the scale's 4.6.
    assert [token.logprob_bin for token in replay.steps[0].tokens] == [0, 5]
    assert "p 0.08" in replay.steps[0].tokens[1].title


def test_the_times_of_an_episode_add_up(media, trajectory):
    replay = read_replay(media / trajectory.path)

    assert replay.steps[0].seconds == pytest.approx(0.6)
    assert replay.seconds == pytest.approx(0.5 + 2 * 0.6)
    assert [phase.x for phase in replay.steps[0].phases] == [0, 100, 300]


def test_an_action_of_a_later_release_is_not_drawn(media, trajectory):
    file = media / trajectory.path / "trajectory.json"
    stored = json.loads(file.read_text())
    stored["steps"][0]["action"] = {"kind": "pinch", "x": 0.1}
    file.write_text(json.dumps(stored))

    assert read_replay(media / trajectory.path).steps[0].marks["action"] is None


@pytest.mark.parametrize("damage", ["not json", '{"steps": []}', "[]"])
def test_a_damaged_record_is_no_failure_of_the_page(
    signed_in, media, trajectory, damage
):
    (media / trajectory.path / "trajectory.json").write_text(damage)

    with pytest.raises(ReplayMissing):
        read_replay(media / trajectory.path)
    page = text_of(signed_in.get(reverse("training:trajectory", args=[trajectory.pk])))

    assert "The record cannot be read" in page


def test_damaged_tokens_are_no_failure_of_the_page(signed_in, media, trajectory):
    (media / trajectory.path / "tokens.safetensors").write_bytes(b"cut off")

    page = text_of(signed_in.get(reverse("training:trajectory", args=[trajectory.pk])))

    assert "The record cannot be read" in page


def test_actions_are_told_in_words():
    assert describe({"kind": "type", "text": "Bob"}) == "type · “Bob”"
    assert describe({"kind": "key", "keys": ["Control", "a"]}) == "key · Control+a"
    assert describe({"kind": "double_click", "x": 0.5, "y": 0.25}) == (
        "double click · x 0.500 · y 0.250"
    )
    assert describe(None) == ""


def test_bins_end_at_the_scale():
    assert [token_bin(value, 2.0) for value in (-1.0, 0.0, 0.3, 1.9, 2.0, 9.0)] == [
        0,
        0,
        1,
        9,
        9,
        9,
    ]


# -- Pictures ----------------------------------------------------------------------------


def frame_address(trajectory, sha256):
    return reverse("training:trajectory-frame", args=[trajectory.pk, sha256])


def test_a_picture_of_the_trajectory_is_answered_for_ever(signed_in, media, trajectory):
    sha256 = frame(media, "white")["sha256"]

    response = signed_in.get(frame_address(trajectory, sha256))

    assert response.status_code == 200
    assert response["Content-Type"] == "image/webp"
    assert response["Cache-Control"] == "private, max-age=31536000, immutable"
    again = signed_in.get(
        frame_address(trajectory, sha256), headers={"If-None-Match": response["ETag"]}
    )
    assert again.status_code == 304


def test_a_picture_that_the_trajectory_does_not_name_is_not_there(
    signed_in, media, trajectory
):
    # It is kept, but by something else, perhaps of somebody else.
    sha256 = frame(media, "black")["sha256"]

    assert signed_in.get(frame_address(trajectory, sha256)).status_code == 404


def test_a_name_that_is_no_hash_is_not_there(signed_in, trajectory):
    address = frame_address(trajectory, "..%2F..%2Fsecret")

    assert signed_in.get(address).status_code == 404


def test_a_stranger_sees_neither_replay_nor_picture_nor_record(
    client, mallory, media, trajectory
):
    client.force_login(mallory)
    sha256 = frame(media, "white")["sha256"]

    for address in (
        reverse("training:trajectory", args=[trajectory.pk]),
        reverse("training:trajectory-file", args=[trajectory.pk]),
        frame_address(trajectory, sha256),
    ):
        assert client.get(address).status_code == 404


def test_a_visitor_is_led_to_the_sign_in_page(client, trajectory):
    for address in (
        reverse("training:trajectories"),
        reverse("training:trajectory", args=[trajectory.pk]),
        frame_address(trajectory, "0" * 64),
    ):
        assert client.get(address).url.startswith("/sign-in/")


def test_the_record_can_be_taken_away(signed_in, trajectory):
    response = signed_in.get(reverse("training:trajectory-file", args=[trajectory.pk]))

    assert json.loads(response.content)["id"] == str(trajectory.pk)


# -- Without a record --------------------------------------------------------------------


def test_a_broken_episode_says_what_broke(signed_in, alice):
    trajectory = TrajectoryFactory.create(
        run=RunFactory.create(owner=alice),
        owner=alice,
        status="faulted",
        fault_code="env_timeout",
        fault_detail="The page did not answer.",
    )

    page = text_of(signed_in.get(reverse("training:trajectory", args=[trajectory.pk])))

    assert "env_timeout" in page
    assert "The page did not answer." in page
    assert "there is no reward" in page


def test_an_episode_under_way_says_so(signed_in, alice):
    trajectory = TrajectoryFactory.create(
        run=RunFactory.create(owner=alice), owner=alice, status="running"
    )

    page = text_of(signed_in.get(reverse("training:trajectory", args=[trajectory.pk])))

    assert "The episode is under way" in page


# -- The list ----------------------------------------------------------------------------


def test_the_list_is_filtered_by_run_end_and_task(signed_in, alice):
    run = RunFactory.create(owner=alice)
    fill = TaskFactory.create(name="fill-nth")
    kept = TrajectoryFactory.create(solved=True, run=run, owner=alice, task=fill)
    TrajectoryFactory.create(unsolved=True, run=run, owner=alice, task=fill)
    TrajectoryFactory.create(solved=True, run=run, owner=alice)
    TrajectoryFactory.create(
        solved=True, run=RunFactory.create(owner=alice), owner=alice, task=fill
    )

    response = signed_in.get(
        reverse("training:trajectories"),
        {"run": run.pk, "outcome": "solved", "task": "fill-nth"},
    )

    assert list(response.context["page"].object_list) == [kept]


def test_held_out_episodes_can_be_listed_alone(signed_in, alice):
    evaluation = EvaluationFactory.create(owner=alice)
    held_out = TrajectoryFactory.create(
        solved=True, run=None, owner=alice, evaluation=evaluation
    )
    TrajectoryFactory.create(
        solved=True, run=RunFactory.create(owner=alice), owner=alice
    )

    response = signed_in.get(reverse("training:trajectories"), {"outcome": "held_out"})

    assert list(response.context["page"].object_list) == [held_out]


def test_a_filter_that_is_no_id_filters_nothing(signed_in, trajectory):
    response = signed_in.get(
        reverse("training:trajectories"), {"run": "x'; --", "outcome": "nonsense"}
    )

    assert list(response.context["page"].object_list) == [trajectory]


def test_strangers_trajectories_are_not_in_the_list(client, mallory, trajectory):
    client.force_login(mallory)

    page = text_of(client.get(reverse("training:trajectories")))

    assert "No trajectory yet" in page
    assert "night shift" not in page


def test_neighbours_are_the_next_episodes_of_the_same_run(signed_in, alice):
    run = RunFactory.create(owner=alice)
    older, middle, newer = (
        TrajectoryFactory.create(solved=True, run=run, owner=alice) for _ in range(3)
    )
    TrajectoryFactory.create(
        solved=True, run=RunFactory.create(owner=alice), owner=alice
    )

    context = signed_in.get(reverse("training:trajectory", args=[middle.pk])).context

    assert context["newer"] == newer
    assert context["older"] == older


# -- The verdict -------------------------------------------------------------------------


def grouped(alice, rewards, **group):
    run = RunFactory.create(owner=alice)
    group = GroupFactory.create(run=run, num_rollouts=len(rewards), **group)
    return [
        TrajectoryFactory.create(
            solved=True,
            run=run,
            owner=alice,
            group=group,
            index=index,
            reward=reward,
            min_version=3,
        )
        for index, reward in enumerate(rewards)
    ]


def test_a_trained_trajectory_says_in_which_step_and_how_stale(alice):
    first, *_ = grouped(alice, [1.0, 0.0], status="trained")
    first.group.batch = BatchFactory.create(run=first.run, step=6)

    verdict = verdict_of(first)

    words = [reason.words for reason in verdict.reasons]
    assert words == [
        "2 of 2 finished",
        "Rewards differ: 1 of 2 solved",
        "In the batch of optimizer step 6",
        "Staleness 2 at the batch",
    ]
    assert (verdict.mean, verdict.std) == (0.5, 0.5)


def test_a_dropped_trajectory_says_why(alice):
    first, *_ = grouped(alice, [1.0, 1.0], status="dropped", drop_reason="solved")

    words = [reason.words for reason in verdict_of(first).reasons]

    assert words[1] == "Rewards do not differ: 2 of 2 solved"
    assert words[2].startswith("Every rollout of the group succeeded")


def test_a_broken_try_is_no_sibling_and_is_counted_as_rolled_again(alice):
    first, second = grouped(alice, [1.0, 0.0], status="ready")
    TrajectoryFactory.create(
        run=first.run, owner=alice, group=first.group, index=1, status="faulted"
    )

    verdict = verdict_of(first)

    assert verdict.siblings == [first, second]
    assert verdict.reasons[0].words == "2 of 2 finished, 1 rolled again"


def test_a_held_out_trajectory_is_never_trained(alice):
    trajectory = TrajectoryFactory.create(
        solved=True,
        run=None,
        owner=alice,
        evaluation=EvaluationFactory.create(owner=alice),
    )

    assert "never trained" in verdict_of(trajectory).reasons[0].words
