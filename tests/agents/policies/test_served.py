"""A served policy, with a client that answers from a script."""

import asyncio

import pytest

from agents.errors import InferenceFailed
from agents.policies.served import ServedPolicy
from agents.types import Turn
from environments.actions import Click
from tests.training.rollouts.doubles import answer, observation


class ScriptedClient:
    """Answers every prompt with one text, and notes how it was asked."""

    def __init__(self, text):
        self.text = text
        self.asked = []

    async def complete(self, prompt, **how):
        self.asked.append((prompt, how))
        if isinstance(self.text, Exception):
            raise self.text
        return answer(self.text)


def decide(client, *past, **options):
    policy = ServedPolicy(client, model="run-a", **options)
    turns = [Turn(text=text) for text in past]
    return asyncio.run(policy.decide(observation(0), turns))


def test_an_answer_becomes_an_action_in_the_task_area():
    decision = decide(ScriptedClient("<|click|><x0><y0>"))

    # Half a bin into the task area, which begins 50 px down a screen of 210.
    assert isinstance(decision.action, Click)
    assert decision.action.x == pytest.approx(0.5 / 40)
    assert decision.action.y == pytest.approx((50 + 2) / 210)
    assert decision.parse_error is None


def test_the_model_sees_the_task_area_the_instruction_and_its_past():
    client = ScriptedClient("<|complete|>")

    decide(client, "<|click|><x1><y1>", temperature=0.5, max_tokens=64, top_p=0.9)

    prompt, how = client.asked[0]
    assert prompt.images[0].size == (160, 160)
    text = prompt.messages[0]["content"][1]["text"]
    assert text == "Click the button.\n<|click|><x1><y1>"
    assert how == {
        "model": "run-a",
        "temperature": 0.5,
        "top_p": 0.9,
        "max_tokens": 64,
        "seed": None,
        "deadline_s": 120.0,
    }


def test_an_unreadable_answer_is_a_decision_without_an_action():
    decision = decide(ScriptedClient("click the button"))

    assert decision.action is None
    assert decision.text == "click the button"
    assert decision.answer is not None
    assert "expected an action token" in decision.parse_error


def test_a_seed_repeats_an_episode_but_not_its_turns():
    def seeds(seed):
        client = ScriptedClient("<|complete|>")
        decide(client, seed=seed)
        decide(client, "<|complete|>", seed=seed)
        return [how["seed"] for _, how in client.asked]

    assert seeds(1) == seeds(1)
    assert len({*seeds(1), *seeds(2)}) == 4


def test_a_failure_of_inference_is_passed_on():
    with pytest.raises(InferenceFailed):
        decide(ScriptedClient(InferenceFailed("nobody there")))
