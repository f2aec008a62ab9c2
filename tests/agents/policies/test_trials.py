import dataclasses

import pytest

from agents.policies.trials import play_all
from environments.backends.miniwob.tasks import TASKS_BY_NAME
from environments.pool import SlotPool


@pytest.mark.browser
def test_experts_play_on_several_pages_and_a_hopeless_episode_is_a_result():
    click, enter = TASKS_BY_NAME["click-test"], TASKS_BY_NAME["enter-text"]
    hurried = dataclasses.replace(TASKS_BY_NAME["login-user"], max_steps=2)
    found = []
    pool = SlotPool(worker="trials", num_slots=2)
    try:
        episodes = [(task, seed) for task in (click, enter, hurried) for seed in (1, 2)]
        pool.run(play_all(pool, episodes, on_trial=found.append))
    finally:
        pool.close()

    steps = {(trial.task, trial.seed): trial.num_steps for trial in found}
    assert steps == {
        ("click-test", 1): 1,
        ("click-test", 2): 1,
        ("enter-text", 1): 3,
        ("enter-text", 2): 3,
        ("login-user", 1): 2,
        ("login-user", 2): 2,
    }
    assert {trial.task for trial in found if trial.is_solved} == {
        "click-test",
        "enter-text",
    }
    assert {trial.fault for trial in found if not trial.is_solved} == {"out of steps"}
