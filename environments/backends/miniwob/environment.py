"""A MiniWoB page as an environment."""

import asyncio
import contextlib
from typing import Any, Final

from environments.actions import (
    Action,
    Click,
    DoubleClick,
    Drag,
    Key,
    Move,
    RightClick,
    Scroll,
    Type,
    Wait,
)
from environments.backends.miniwob.host import MiniWobHost
from environments.backends.miniwob.scripts import PRELOAD, STATE, reset_script
from environments.backends.miniwob.tasks import HEIGHT, PAGES, WIDTH, TaskPage
from environments.browser.page import Page
from environments.errors import EnvironmentFault, StartFault, StepFault, UnknownTask
from environments.types import Box, Observation, StepResult, TaskSpec
from studio.common.closing import AsyncClosing

TASK_AREA: Final = Box(left=0, top=50, right=WIDTH, bottom=HEIGHT)
"""Below the yellow bar that repeats the instruction."""
_NOTCH_PX: Final = 40
_WHEEL: Final = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}


class MiniWobEnvironment(AsyncClosing):
    """One page of a host; a task is started anew within the page, by its own script."""

    def __init__(self, host: MiniWobHost) -> None:
        self._host = host
        self._page: Page | None = None
        self._task_name: str | None = None
        self._task_page = TaskPage(path="")
        self._instruction = ""
        self._is_over = True

    async def reset(self, task: TaskSpec, seed: int) -> Observation:
        """Start the seed's episode."""
        if task.name not in PAGES:
            raise UnknownTask(f"miniwob has no task {task.name!r}")
        try:
            page = await self._page_of(task.name)
            # The pointer rests on the yellow bar: nothing lights up beneath it. Both at
            # once, since a move waits for the next frame.
            self._instruction, _ = await asyncio.gather(
                page.evaluate(reset_script(seed)), page.move_mouse(0, 0)
            )
            observation = await self._look(page)
        except StepFault as error:
            raise StartFault(str(error)) from error
        self._is_over = False
        return observation

    async def step(self, action: Action) -> StepResult:
        """Carry out one action; one that ``ends_episode`` leaves the reward at 0."""
        page = self._page
        if page is None or self._is_over:
            raise StepFault("the episode is over, or was never reset")
        if action.ends_episode:
            # The page judges by itself when the deed is done; so far it has not.
            self._is_over = True
            return StepResult(observation=await self._look(page), terminated=True)
        await _carry_out(page, action, self._size)
        (is_done, raw_reward, reason), observation = await asyncio.gather(
            page.evaluate(STATE), self._look(page)
        )
        self._is_over = bool(is_done)
        return StepResult(
            observation=observation,
            reward=min(1.0, max(0.0, float(raw_reward))) if is_done else 0.0,
            terminated=bool(is_done),
            info={"raw_reward": raw_reward, "reason": reason} if is_done else {},
        )

    async def evaluate(self, js: str) -> Any:
        """Return a script's value: oracles may read what a policy never sees."""
        if self._page is None:
            raise StepFault("no episode was started yet")
        return await self._page.evaluate(js)

    async def close(self) -> None:
        """Close the page."""
        page, self._page, self._task_name = self._page, None, None
        self._task_page = TaskPage(path="")
        self._is_over = True
        if page is not None:
            with contextlib.suppress(EnvironmentFault):
                await page.close()

    async def _page_of(self, task_name: str) -> Page:
        if self._page is None:
            self._page = await self._host.open_page()
        wanted = PAGES[task_name]
        if self._task_name != task_name or wanted.reload:
            self._task_name = None
            if (wanted.width, wanted.height) != self._size:
                await self._page.send(
                    "Emulation.setDeviceMetricsOverride",
                    {
                        "width": wanted.width,
                        "height": wanted.height,
                        "deviceScaleFactor": 1,
                        "mobile": False,
                    },
                )
            self._task_page = wanted
            await self._page.navigate(self._host.url(task_name))
            await self._page.evaluate(PRELOAD)
            self._task_name = task_name
        return self._page

    @property
    def _size(self) -> tuple[int, int]:
        return self._task_page.width, self._task_page.height

    async def _look(self, page: Page) -> Observation:
        screen = await page.screenshot()
        if screen.size != self._size:
            raise StepFault(f"expected a screen of {self._size}, got {screen.size}")
        return Observation(
            screen=screen,
            instruction=self._instruction,
            task_area=TASK_AREA if self._task_page.has_bar else None,
        )


async def _carry_out(page: Page, action: Action, size: tuple[int, int]) -> None:
    def pixel(x: float, y: float) -> tuple[int, int]:
        return _pixel(x, y, size)

    match action:
        case Click():
            await page.click(*pixel(action.x, action.y))
        case DoubleClick():
            await page.click(*pixel(action.x, action.y), count=2)
        case RightClick():
            await page.click(*pixel(action.x, action.y), button="right")
        case Move():
            await page.move_mouse(*pixel(action.x, action.y))
        case Drag():
            await page.drag(pixel(action.x, action.y), pixel(action.to_x, action.to_y))
        case Scroll():
            right, down = _WHEEL[action.direction]
            pixels = action.amount * _NOTCH_PX
            x, y = pixel(action.x, action.y)
            await page.scroll(x, y, dx=right * pixels, dy=down * pixels)
        case Type():
            await page.type(action.text)
        case Key():
            await page.press(action.keys)
        case Wait():
            await asyncio.sleep(action.seconds)


def _pixel(x: float, y: float, size: tuple[int, int]) -> tuple[int, int]:
    """Return the pixel that a point lies in; 1.0 is the last one."""
    width, height = size
    return min(int(x * width), width - 1), min(int(y * height), height - 1)
