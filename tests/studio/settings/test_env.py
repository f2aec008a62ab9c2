from pathlib import Path

import pytest

from studio.settings import env
from studio.settings.database import postgresql, sqlite
from studio.settings.secret import secret_from


@pytest.mark.parametrize(
    ("value", "meant"), [("1", True), ("Yes", True), ("off", False), ("", False)]
)
def test_a_flag_is_read_in_the_usual_words(value, meant):
    assert env.flag("X", default=not meant, source={"X": value}) is meant


def test_a_flag_that_is_not_set_is_its_default():
    assert env.flag("X", default=True, source={}) is True


def test_a_flag_in_other_words_is_an_error_that_names_it():
    with pytest.raises(env.InvalidVariable, match="OCHE_DEBUG='maybe': expected 1"):
        env.flag("OCHE_DEBUG", default=False, source={"OCHE_DEBUG": "maybe"})


@pytest.mark.parametrize("value", ["zero", "0", "257", "1.5"])
def test_a_number_out_of_range_is_an_error_that_names_the_range(value):
    with pytest.raises(env.InvalidVariable, match="from 1 to 256"):
        env.integer("X", 8, low=1, high=256, source={"X": value})


@pytest.mark.parametrize(
    ("source", "meant"), [({}, 8), ({"X": ""}, 8), ({"X": "3"}, 3)]
)
def test_a_number_that_is_not_set_is_its_default(source, meant):
    assert env.integer("X", 8, low=1, high=256, source=source) == meant


def test_a_list_is_separated_by_commas():
    assert env.words("X", source={"X": "a.example, b.example,,"}) == [
        "a.example",
        "b.example",
    ]


def test_a_path_is_absolute_and_knows_the_home_folder(monkeypatch):
    monkeypatch.setenv("HOME", "/home/alice")

    assert env.path("X", Path("/d"), source={"X": "~/o"}) == Path("/home/alice/o")
    assert env.path("X", Path("/d"), source={}) == Path("/d")


def test_an_address_of_another_kind_is_an_error():
    with pytest.raises(env.InvalidVariable, match="redis:// or unix://"):
        env.url("X", schemes=("redis", "unix"), source={"X": "http://example"})


def test_a_postgresql_address_is_taken_apart():
    database = postgresql("postgresql://oche:p%40ss@db.example:5433/studio")

    assert (database["USER"], database["PASSWORD"]) == ("oche", "p@ss")
    assert (database["HOST"], database["PORT"]) == ("db.example", "5433")
    assert database["NAME"] == "studio"


def test_the_embedded_database_takes_its_write_lock_at_once():
    assert sqlite(Path("/x"))["OPTIONS"]["transaction_mode"] == "IMMEDIATE"


def test_a_secret_is_made_once_for_its_owner_alone(tmp_path):
    file = tmp_path / "new" / "secret.key"

    first, second = secret_from(file), secret_from(file)

    assert first == second
    assert len(first) >= 50
    assert file.stat().st_mode & 0o777 == 0o600
    assert list(file.parent.iterdir()) == [file]
