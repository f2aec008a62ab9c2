import fcntl
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import psutil
import pytest

from environments.browser import chromium
from environments.browser.chromium import Chromium, find_chromium
from environments.errors import StartFault

OWNER = """
import asyncio
from environments.browser.chromium import Chromium

async def main():
    browser = await Chromium.launch()
    print(browser.pid, flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""


def _names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def _is_alive(process: psutil.Process) -> bool:
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE


def test_no_browser_at_all_is_an_error_that_names_the_remedy(monkeypatch, tmp_path):
    monkeypatch.setattr(chromium, "_candidates", lambda: iter(()))

    with pytest.raises(StartFault, match=r"apt install .*OCHE_CHROMIUM"):
        find_chromium()


def test_the_browser_that_the_user_names_is_taken(monkeypatch, tmp_path: Path):
    chosen = tmp_path / "my-chromium"
    chosen.write_text("#!/bin/sh\n")
    monkeypatch.setenv("OCHE_CHROMIUM", str(chosen))
    with pytest.raises(StartFault, match="not an executable file"):
        find_chromium()

    chosen.chmod(0o755)

    assert find_chromium() == chosen


@pytest.mark.asyncio
async def test_a_browser_that_will_not_start_says_why(monkeypatch, tmp_path: Path):
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\necho no libraries here >&2\nexit 3\n")
    broken.chmod(0o755)
    monkeypatch.setenv("OCHE_CHROMIUM", str(broken))

    with pytest.raises(StartFault, match=r"exited with 3.*no libraries here"):
        await Chromium.launch()


@pytest.mark.browser
@pytest.mark.asyncio
async def test_killing_a_browser_leaves_neither_process_nor_profile():
    browser = await Chromium.launch()
    root = psutil.Process(browser.pid)
    tree = [root, *root.children(recursive=True)]
    folder = browser._folder
    assert folder.exists()

    await browser.kill()
    await browser.kill()

    psutil.wait_procs(tree, timeout=5)
    assert not any(_is_alive(process) for process in tree)
    assert not folder.exists()
    assert not browser.is_running


@pytest.mark.browser
def test_a_browser_and_its_children_die_with_an_owner_that_is_killed():
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER], stdout=subprocess.PIPE, text=True
    )
    assert owner.stdout is not None
    root = psutil.Process(int(owner.stdout.readline()))
    tree = [root, *root.children(recursive=True)]
    assert len(tree) > 2

    owner.send_signal(signal.SIGKILL)
    owner.wait()

    psutil.wait_procs(tree, timeout=10)
    assert not any(_is_alive(process) for process in tree)


@pytest.mark.browser
@pytest.mark.asyncio
async def test_what_a_killed_owner_left_is_swept_and_what_is_in_use_is_not(
    monkeypatch, tmp_path: Path
):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left = tmp_path / "oche-chromium-left"
    left.mkdir()
    (left / "lock").touch()
    first = await Chromium.launch()

    second = await Chromium.launch()

    assert not left.exists()
    assert first._folder.exists()
    await first.kill()
    await second.kill()
    assert _names_in(tmp_path) == []


@pytest.mark.parametrize(("is_owned", "num_ended"), [(False, 1), (True, 0)])
def test_only_browsers_without_an_owner_are_swept(
    is_owned, num_ended, monkeypatch, tmp_path: Path
):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = tmp_path / "oche-chromium-left"
    folder.mkdir()
    command = [sys.executable, "-c", "import time; time.sleep(60)"]
    browser = subprocess.Popen([*command, f"--user-data-dir={folder / 'profile'}"])
    with (folder / "lock").open("w") as lock:
        if is_owned:
            fcntl.flock(lock, fcntl.LOCK_EX)

        swept = chromium.sweep()

        assert swept == num_ended
        assert _names_in(tmp_path) == (["oche-chromium-left"] if is_owned else [])
        assert (browser.poll() is None) == is_owned or browser.wait(5) < 0
    browser.kill()
    browser.wait()
