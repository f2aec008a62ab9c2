"""MiniWoB steps per second, each with its screenshot, by the number of pages.

``python -m benchmarks.environments``; the last line is JSON.
"""

import asyncio
import json
import sys
import time
from typing import Final

from environments.actions import Action, Click, Type
from environments.backends.miniwob.environment import MiniWobEnvironment
from environments.backends.miniwob.host import MiniWobHost
from environments.backends.miniwob.tasks import TASKS_BY_NAME

SECONDS: Final = 5.0
NUM_PAGES: Final = (1, 4, 8)
# Three boxes are clicked and written into; nothing here ends the episode.
_EPISODE: Final[tuple[Action, ...]] = (
    Click(x=0.4, y=0.31),
    Type(text="Bob"),
    Click(x=0.4, y=0.45),
    Type(text="Ann"),
)


async def _play(environment: MiniWobEnvironment, first_seed: int, until: float) -> int:
    task = TASKS_BY_NAME["fill-nth"].spec()
    num_steps = 0
    seed = first_seed
    while time.perf_counter() < until:
        await environment.reset(task, seed)
        seed += 1
        for action in _EPISODE:
            await environment.step(action)
            num_steps += 1
    return num_steps


async def steps_per_second(num_pages: int, seconds: float) -> float:
    """Return the steps of all pages together; resets take time but do not count."""
    async with MiniWobHost() as host:
        pages = [MiniWobEnvironment(host) for _ in range(num_pages)]
        # Opening the tabs and loading the page is not what is measured.
        await asyncio.gather(
            *(page.reset(TASKS_BY_NAME["fill-nth"].spec(), 0) for page in pages)
        )
        start = time.perf_counter()
        counts = await asyncio.gather(
            *(_play(page, 1000 * i, start + seconds) for i, page in enumerate(pages))
        )
        return sum(counts) / (time.perf_counter() - start)


def main() -> None:
    """Measure and print."""
    result = {}
    for num_pages in NUM_PAGES:
        rate = asyncio.run(steps_per_second(num_pages, SECONDS))
        result[str(num_pages)] = round(rate, 1)
        sys.stdout.write(f"{num_pages} pages: {rate:.1f} steps/s\n")
    sys.stdout.write(json.dumps({"steps_per_second": result}) + "\n")


if __name__ == "__main__":
    main()
