"""The launcher and what continuous integration runs, as far as they can be tried here."""

import os
import shutil
import subprocess
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
LAUNCHER = REPOSITORY / "oche"


def run(*arguments, cwd=REPOSITORY, env=None):
    return subprocess.run(
        arguments,
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("shell", ["dash", "bash"])
def test_the_launcher_is_plain_shell(shell):
    assert run(shell, "-n", str(LAUNCHER)).returncode == 0


def test_help_names_every_verb():
    said = run(str(LAUNCHER), "help").stdout

    for verb in ("demo", "up", "test", "check", "bench", "pretrain", "manage", "setup"):
        assert f"./oche {verb}" in said


def test_an_unknown_verb_is_an_error_that_names_it():
    result = run(str(LAUNCHER), "dmeo")

    assert result.returncode == 1
    assert "there is no 'dmeo'" in result.stderr


def test_it_may_be_called_from_anywhere_by_a_link(tmp_path):
    link = tmp_path / "oche"
    link.symlink_to(LAUNCHER)

    assert run(str(link), "help", cwd=tmp_path).stdout.startswith("Oche:")


@pytest.fixture
def checkout(tmp_path):
    """Return a copy of the launcher with an environment that seems complete."""
    shutil.copy(LAUNCHER, tmp_path / "oche")
    for name in ("requirements.txt", "requirements-dev.txt"):
        shutil.copy(REPOSITORY / name, tmp_path / name)
    return tmp_path


def fake(folder, name, script):
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)


def test_without_python_and_root_it_names_the_line_that_installs_it(checkout):
    # A machine with the tools of a shell only, whose user is not root.
    tools = checkout / "bin"
    tools.mkdir()
    for name in ("dirname", "readlink", "sh", "cat", "grep", "date", "mkdir"):
        (tools / name).symlink_to(shutil.which(name))
    fake(tools, "id", "echo 1000")

    result = run("/bin/sh", "./oche", "setup", cwd=checkout, env={"PATH": str(tools)})

    assert result.returncode == 1
    assert "sudo apt-get install python3 python3-venv" in result.stderr


def test_packages_are_installed_once_and_again_when_the_pins_change(checkout):
    calls = checkout / "calls"
    fake(checkout / ".venv" / "bin", "python", f'echo "$@" >> {calls}')

    run("./oche", "setup", cwd=checkout)
    first = calls.read_text()
    run("./oche", "setup", cwd=checkout)
    second = calls.read_text().removeprefix(first)
    with (checkout / "requirements.txt").open("a") as pins:
        pins.write("another==1.0\n")
    run("./oche", "setup", cwd=checkout)
    third = calls.read_text().removeprefix(first + second)

    assert "install --no-deps -r requirements.txt" in first
    assert "install" not in second
    assert "install --no-deps -r requirements.txt" in third


def test_a_stage_that_fails_says_which_and_shows_why(checkout):
    fake(
        checkout / ".venv" / "bin",
        "python",
        'case "$*" in *install*) echo "no such version"; exit 1;; esac',
    )

    result = run("./oche", "setup", cwd=checkout)

    assert result.returncode == 1
    assert "no such version" in result.stderr
    assert "that failed: Installing PyTorch" in result.stderr


def test_what_is_installed_is_what_is_pinned():
    pins = [
        line.split(" ;")[0].split("==")
        for file in ("requirements.txt", "requirements-dev.txt")
        for line in (REPOSITORY / file).read_text().splitlines()
        if "==" in line and "python_full_version" not in line
    ]

    wrong = {
        name: version(name)
        for name, pinned in pins
        if version(name).split("+")[0] != pinned
    }

    assert len(pins) > 80
    assert wrong == {}


def test_continuous_integration_runs_the_same_line_as_people():
    script = (REPOSITORY / ".ci" / "run").read_text()

    assert "./oche test" in script
    assert os.access(REPOSITORY / ".ci" / "run", os.X_OK)


def test_the_import_contracts_name_both_walls():
    config = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
    names = {c["name"] for c in config["tool"]["importlinter"]["contracts"]}

    assert {"The core knows no Django", "The web knows no torch"} <= names
