from pathlib import Path

import pytest

from agents.policies import trial_file
from agents.policies.trial_file import TrialFile
from agents.policies.trials import Trial
from environments.backends.miniwob.tasks import TASKS_BY_NAME

TASK = TASKS_BY_NAME["click-test"]
TRIAL = Trial(task="click-test", seed=3, num_steps=1, reward=1.0, raw_reward=1.0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "trials.jsonl"


def test_what_was_played_is_known_again(path: Path):
    TrialFile(path).append(TASK, TRIAL)

    assert TrialFile(path).read([TASK]) == {("click-test", 3): TRIAL}


def test_other_tasks_are_passed_by(path: Path):
    TrialFile(path).append(TASK, TRIAL)

    assert TrialFile(path).read([TASKS_BY_NAME["click-tab"]]) == {}


def test_a_changed_expert_has_to_play_again(path: Path, monkeypatch):
    TrialFile(path).append(TASK, TRIAL)
    monkeypatch.setitem(trial_file.EXPERTS, "click-test", "click(one('#other'))")

    assert TrialFile(path).read([TASK]) == {}


def test_a_line_that_was_cut_off_is_passed_by(path: Path):
    file = TrialFile(path)
    file.append(TASK, TRIAL)
    with path.open("a") as end:
        end.write('{"task": "click-t')

    assert file.read([TASK]) == {("click-test", 3): TRIAL}
