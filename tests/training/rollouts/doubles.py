"""A world and a policy that follow a script, for tests of what drives them."""

import asyncio
from typing import Self

import numpy as np
from PIL import Image

from agents.coordinates import ScreenView
from agents.errors import ParseError
from agents.formats import compact
from agents.types import Answer, Decision, Prompt
from environments.actions import Click
from environments.types import Box, Observation, StepResult, TaskSpec

TASK = TaskSpec(backend="miniwob", name="click-test", max_steps=10)
VIEW = ScreenView(left=0, top=0, right=1, bottom=1)
CLICK = compact.render(Click(x=0.5, y=0.5), VIEW)
DONE = "<|complete|>"
GIVE_UP = "<|fail|>"
NONSENSE = "hello"


def screen(number: int) -> Image.Image:
    """Return a 160x210 screen that no other number has."""
    return Image.new("RGB", (160, 210), (number, 0, 255))


def observation(number: int) -> Observation:
    """Return what is to be seen after so many actions."""
    return Observation(
        screen=screen(number),
        instruction="Click the button.",
        task_area=Box(left=0, top=50, right=160, bottom=210),
    )


def answer(text: str, versions: tuple[int, int] = (3, 3)) -> Answer:
    """Return an answer of two tokens."""
    return Answer(
        text=text,
        prompt_token_ids=np.array([1, 2, 3], dtype=np.int32),
        response_token_ids=np.array([7, 4], dtype=np.int32),
        logprobs=np.array([-0.5, -0.25], dtype=np.float32),
        entropies=np.array([1.5, 0.5], dtype=np.float32),
        versions=np.array(versions, dtype=np.int32),
        finish_reason="stop",
        timings_s={"queue": 0.001, "model": 0.002},
        token_texts=(text, "<|im_end|>"),
    )


class World:
    """Shows screens 0, 1, 2 …; each action has the next of the given results."""

    def __init__(self, *results, reset_s=0.0, step_s=0.0):
        self.results = list(results)
        self.reset_s = reset_s
        self.step_s = step_s
        self.actions = []
        self.resets = []

    async def reset(self, task, seed):
        self.resets.append((task, seed))
        await asyncio.sleep(self.reset_s)
        return observation(0)

    async def step(self, action):
        await asyncio.sleep(self.step_s)
        result = self.results.pop(0) if self.results else going_on()
        if isinstance(result, Exception):
            raise result
        self.actions.append(action)
        return StepResult(observation=observation(len(self.actions)), **result)

    async def close(self):
        """Nothing to free."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_):
        await self.close()


class Script:
    """A policy that gives the texts one after the other, and notes what it is shown."""

    def __init__(self, *texts, delay_s=0.0):
        self.texts = list(texts)
        self.delay_s = delay_s
        self.shown = []

    async def decide(self, observation, turns):
        self.shown.append((observation, [turn.text for turn in turns]))
        await asyncio.sleep(self.delay_s)
        text = self.texts.pop(0)
        if isinstance(text, Exception):
            raise text
        prompt = Prompt(
            messages=[{"role": "user", "content": [{"type": "image"}]}],
            images=[observation.screen.crop((0, 50, 160, 210))],
        )
        action = parse_error = None
        try:
            action = compact.parse(text, VIEW)
        except ParseError as error:
            parse_error = str(error)
        return Decision(
            prompt=prompt,
            answer=answer(text),
            text=text,
            action=action,
            parse_error=parse_error,
        )


def going_on():
    """Return the result of an action that ends nothing."""
    return {}


def over(reward):
    """Return the result of an action that ends the task."""
    return {"terminated": True, "reward": reward}
