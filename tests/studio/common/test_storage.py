from pathlib import Path

import pytest

from studio.common.storage import OutsideMediaRoot, Storage, read_json, write_json


@pytest.fixture
def storage(tmp_path):
    """Return an empty storage."""
    return Storage(tmp_path)


def test_everything_of_a_run_lies_where_the_documents_say(storage):
    assert [
        storage.relative(path)
        for path in (
            storage.frame("ab12"),
            storage.trajectory("t", run_id="r"),
            storage.trajectory("t"),
            storage.batch("r", 3),
            storage.attempt_logs("r", 2),
            storage.checkpoint("r", 7),
            storage.dataset("d"),
        )
    ] == [
        "frames/ab/ab12.webp",
        "runs/r/trajectories/t",
        "trajectories/t",
        "runs/r/batches/3.json",
        "runs/r/logs/attempt-2",
        "checkpoints/r/000007",
        "datasets/d",
    ]


def test_a_stored_path_comes_back_as_the_same_place(storage):
    path = storage.checkpoint("r", 1)

    assert storage.absolute(storage.relative(path)) == path


@pytest.mark.parametrize("stored", ["../secret.key", "/etc/passwd", "runs/../../x"])
def test_no_stored_path_leads_out_of_the_root(storage, stored):
    with pytest.raises(OutsideMediaRoot):
        storage.absolute(stored)


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    file = tmp_path / "new" / "value.json"
    write_json(file, {"a": "ä"})

    with pytest.raises(TypeError):
        write_json(file, {"a": object()})

    assert read_json(file) == {"a": "ä"}
    assert list(file.parent.iterdir()) == [file]


def test_a_disk_that_is_full_leaves_no_draft_behind(tmp_path, monkeypatch):
    def full(self, data):
        self.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)

    with pytest.raises(OSError, match="No space"):
        write_json(tmp_path / "value.json", 1)

    assert list(tmp_path.iterdir()) == []
