from pathlib import Path

from agents.policies.oracle_table import solved_share, summary, table
from agents.policies.trials import Trial
from environments.backends.miniwob.tasks import LEFT_OUT, TASKS
from environments.definitions import TaskDefinition

DOCUMENT = Path(__file__).parents[3] / "docs/reference/miniwob.md"


def _task(name: str = "enter-text", **others) -> TaskDefinition:
    fields = {"category": "typing", "has_oracle": True, **others}
    return TaskDefinition(
        backend="miniwob", name=name, title="Enter …", max_steps=6, **fields
    )


def _trials(*rewards: float, num_steps: int = 3) -> list[Trial]:
    return [
        Trial(
            task="enter-text",
            seed=seed,
            num_steps=num_steps + seed,
            reward=max(0.0, reward),
            raw_reward=reward,
        )
        for seed, reward in enumerate(rewards)
    ]


def test_a_row_says_what_the_expert_needed_and_got():
    rows = table(
        [_task(needs_text=True)], {"enter-text": _trials(1.0, -1.0, 0.6)}, {}
    ).splitlines()

    # Solved: seeds 0 and 2, in 3 and 5 steps; raw rewards 1, -1 and 0.6.
    assert rows[-1] == (
        "| `enter-text` | Enter … | typing | 4.0 (5) | 6 | 2/3 | 0.20 | not always |  |"
    )


def test_a_task_that_nobody_plays_points_to_its_note():
    rows = table(
        [_task(has_oracle=False, is_timed=True)], {}, {"enter-text": "a | b"}
    ).splitlines()

    assert rows[-1].endswith(
        "| timing | – | 6 | – | – | in part: see the note | a \\| b |"
    )


def test_each_kind_has_a_table_of_its_own():
    text = table([_task(), _task("click", category="clicking")], {}, {})

    assert text.index("## Typing") < text.index("`enter-text`")
    assert (
        text.index("`enter-text`") < text.index("## Clicking") < text.index("`click`")
    )


def test_the_summary_counts_the_reliable_experts():
    tasks = [_task("a"), _task("b"), _task("c")]
    trials = {"a": _trials(*[1.0] * 100), "b": _trials(*[1.0] * 98, 0.0, 0.0)}

    assert solved_share(trials["b"]) == 0.98
    assert summary(tasks, trials).startswith("3 tasks; 2 are played")
    assert "solves 1 of them in at least 99%" in summary(tasks, trials)


def test_the_document_lists_every_task_and_what_is_left_out():
    text = DOCUMENT.read_text()

    for task in TASKS:
        if task.is_official:
            assert f"| `{task.name}` |" in text
    for name in LEFT_OUT:
        assert f"- `{name}`: " in text
