import pytest

from studio.checks import (
    home_is_writable,
    postgresql_driver_is_there,
    secrets_are_private,
)


def test_a_studio_as_it_comes_has_nothing_to_complain_of():
    assert home_is_writable(None) == secrets_are_private(None) == []


def test_a_key_that_others_can_read_is_reported_with_the_remedy(tmp_path, settings):
    settings.OCHE_HOME = tmp_path
    key = tmp_path / "secret.key"
    key.write_text("s")
    key.chmod(0o644)

    [found] = secrets_are_private(None)

    assert (found.id, found.hint) == ("studio.W001", f"chmod 600 {key}")


def test_a_folder_that_is_not_there_is_an_error(tmp_path, settings):
    settings.OCHE_HOME = tmp_path / "gone"

    assert [found.id for found in home_is_writable(None)] == ["studio.E001"]


def test_a_postgresql_address_needs_its_driver(settings, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "psycopg", None)
    settings.DATABASE_URL = "postgresql://db/studio"

    [found] = postgresql_driver_is_there(None)

    assert found.id == "studio.E003"
    assert "pip install" in found.hint


@pytest.fixture(autouse=True)
def _home(settings):
    settings.OCHE_HOME.mkdir(exist_ok=True)
