"""A MiniWoB page as an environment."""

import asyncio
import contextlib
from typing import Any, Final

from environments.actions import Action
from environments.backends.miniwob.host import MiniWobHost
from environments.backends.miniwob.scripts import PRELOAD, STATE, reset_script
from environments.backends.miniwob.tasks import HEIGHT, PAGES, WIDTH, TaskPage
from environments.browser.acting import carry_out
from environments.browser.page import Page, Viewport
from environments.errors import EnvironmentFault, StartFault, StepFault, UnknownTask
from environments.types import Box, Observation, StepResult, TaskSpec
from studio.common.closing import AsyncClosing

TASK_AREA: Final = Box(left=0, top=50, right=WIDTH, bottom=HEIGHT)
"""Below the yellow bar that repeats the instruction."""


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
                page.evaluate(reset_script(seed)), page.input.move_mouse(0, 0)
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
        await carry_out(page, action, self._size)
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
            self._page = await self._host.open_task_page()
        wanted = PAGES[task_name]
        if self._task_name != task_name or wanted.reload:
            self._task_name = None
            if (wanted.width, wanted.height) != self._size:
                await self._page.resize(
                    Viewport(width=wanted.width, height=wanted.height)
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
