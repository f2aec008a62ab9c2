"""Find, start and kill a Chromium whose whole process tree dies with its owner."""

import asyncio
import contextlib
import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import psutil

from environments.errors import StartFault
from studio.common.process import die_with_parent, kill_tree
from studio.settings import env

EXECUTABLE_VARIABLE: Final = "OCHE_CHROMIUM"
FLAGS_VARIABLE: Final = "OCHE_CHROMIUM_FLAGS"

_NAMES: Final = ("chromium-headless-shell", "chromium", "google-chrome")
_PLAYWRIGHT: Final = (
    "chromium_headless_shell-*/chrome-*/headless_shell",
    "chromium_headless_shell-*/chrome-*/chrome-headless-shell",
    "chromium-*/chrome-*/chrome",
)
_FLAGS: Final = (
    "--headless",
    "--remote-debugging-port=0",
    # One raster thread and no 60 Hz clock: 122-198 screens/s with 8 pages on two
    # cores, against 26 for one page that waits for vsync.
    "--num-raster-threads=1",
    "--disable-gpu-vsync",
    "--disable-frame-rate-limit",
    # Drawing only what changed leaves borders one level off from drawing it all, so
    # the same screen would have different pixels after another history.
    "--disable-partial-raster",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-hang-monitor",
    "--disable-default-apps",
    "--disable-sync",
    "--disable-translate",
    "--disable-smooth-scrolling",
    "--no-first-run",
    "--mute-audio",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--force-device-scale-factor=1",
    "--font-render-hinting=none",
    "--disable-lcd-text",
    "--password-store=basic",
    "about:blank",
)
_FOLDER_PREFIX: Final = "oche-chromium-"
_LISTENING: Final = re.compile(rb"DevTools listening on (ws://\S+)")


def find_chromium() -> Path:
    """Return the browser to start.

    In order: ``OCHE_CHROMIUM``, the usual names on PATH, what playwright downloaded.

    Raises:
        StartFault: If there is none; the message names the remedy.
    """
    chosen = env.text(EXECUTABLE_VARIABLE, "")
    if chosen:
        if not os.access(chosen, os.X_OK):
            raise StartFault(
                f"{EXECUTABLE_VARIABLE}={chosen} is not an executable file"
            )
        return Path(chosen)
    for candidate in _candidates():
        return candidate
    raise StartFault(
        "no Chromium found: install one (apt install chromium-headless-shell, or "
        "playwright install --only-shell chromium), or set "
        f"{EXECUTABLE_VARIABLE} to its path"
    )


def _candidates() -> Iterator[Path]:
    for name in _NAMES:
        # Debian puts a shell script on PATH that does not exec: the signal for a
        # dead owner would reach the shell and leave the browser behind.
        behind_the_script = Path("/usr/lib/chromium") / name
        if os.access(behind_the_script, os.X_OK):
            yield behind_the_script
        found = shutil.which(name)
        if found:
            yield Path(found)
    cache = Path(
        os.environ.get("PLAYWRIGHT_BROWSERS_PATH")
        or Path.home() / ".cache/ms-playwright"
    )
    for pattern in _PLAYWRIGHT:
        yield from sorted(cache.glob(pattern), reverse=True)


class Chromium:
    """One running browser process and everything below it."""

    def __init__(
        self, process: asyncio.subprocess.Process, url: str, folder: Path, lock: int
    ) -> None:
        self._process = process
        self.url = url
        """WebSocket of the browser's DevTools."""
        self._folder = folder
        self._lock: int | None = lock

    @classmethod
    async def launch(cls, *, timeout_s: float = 20.0) -> "Chromium":
        """Start a browser and wait until it listens.

        Raises:
            StartFault: If there is no browser, or it does not come up in time.
        """
        executable = find_chromium()
        sweep()
        folder, lock = _make_folder()
        process = await _spawn(executable, folder)
        try:
            async with asyncio.timeout(timeout_s):
                url = await _listening_url(process, folder)
        except BaseException as error:
            kill_tree(process.pid)
            tail = _stderr(folder)[-800:].decode(errors="replace")
            os.close(lock)
            shutil.rmtree(folder, ignore_errors=True)
            if isinstance(error, TimeoutError):
                raise StartFault(
                    f"{executable} did not listen within {timeout_s:g} s: {tail}"
                ) from error
            raise
        return cls(process, url, folder, lock)

    @property
    def pid(self) -> int:
        """Return the browser's process id."""
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Return whether the process still lives."""
        return self._process.returncode is None

    async def kill(self) -> None:
        """Kill the whole process tree and remove its profile; may be called twice."""
        kill_tree(self._process.pid)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), timeout=5)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
        shutil.rmtree(self._folder, ignore_errors=True)


def _make_folder() -> tuple[Path, int]:
    """Return a folder for profile and log, and the lock that shows it is in use."""
    folder = Path(tempfile.mkdtemp(prefix=_FOLDER_PREFIX))
    lock = os.open(folder / "lock", os.O_CREAT | os.O_RDWR, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    return folder, lock


def sweep() -> int:
    """End and remove what owners that were killed have left behind.

    Nobody holds the lock of such a browser's folder; a living owner's is never touched.

    Returns:
        How many browsers still ran.
    """
    num_ended = 0
    for folder in Path(tempfile.gettempdir()).glob(f"{_FOLDER_PREFIX}*"):
        with contextlib.suppress(OSError):
            lock = os.open(folder / "lock", os.O_RDWR)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                num_ended += _end_browser(folder)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)
    return num_ended


def _end_browser(folder: Path) -> bool:
    """Kill the browser that has its profile in a folder; returns whether there was one."""
    flag = _profile_flag(folder)
    found = False
    for process in psutil.process_iter():
        # A process that cannot be looked at is another user's, and not of this folder.
        with contextlib.suppress(psutil.Error):
            if flag in process.cmdline():
                found = True
                kill_tree(process.pid)
    return found


def _profile_flag(folder: Path) -> str:
    return f"--user-data-dir={folder / 'profile'}"


async def _spawn(executable: Path, folder: Path) -> asyncio.subprocess.Process:
    flags = [*env.text(FLAGS_VARIABLE, "").split(), *_FLAGS]
    if os.geteuid() == 0:
        # Chromium refuses to build its sandbox for root, the usual user in a container.
        flags.insert(0, "--no-sandbox")
    # A file, because a pipe that nobody reads hangs Chromium once it is full.
    with (folder / "stderr.log").open("wb") as stderr:
        return await asyncio.create_subprocess_exec(
            str(executable),
            _profile_flag(folder),
            *flags,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=stderr,
            start_new_session=True,
            # The signal follows the *thread* that starts the process, so a browser
            # must be launched from a thread that lives as long as it is needed.
            preexec_fn=die_with_parent,
        )


def _stderr(folder: Path) -> bytes:
    with contextlib.suppress(OSError):
        return (folder / "stderr.log").read_bytes()
    return b""


async def _listening_url(process: asyncio.subprocess.Process, folder: Path) -> str:
    while True:
        text = _stderr(folder)
        match = _LISTENING.search(text)
        if match:
            return match[1].decode()
        if process.returncode is not None:
            raise StartFault(
                f"Chromium exited with {process.returncode} at its start: "
                f"{text[-800:].decode(errors='replace')}"
            )
        await asyncio.sleep(0.01)
