import io
import json
import zipfile

import pytest
from asgiref.sync import async_to_sync
from PIL import Image

from tests.factories import (
    EvaluationFactory,
    RunFactory,
    TaskFactory,
    TrajectoryFactory,
)

TRAJECTORIES = "/api/v1/trajectories/"


async def collect(chunks):
    return [chunk async for chunk in chunks]


def downloaded(response) -> zipfile.ZipFile:
    chunks = async_to_sync(collect)(response.streaming_content)
    return zipfile.ZipFile(io.BytesIO(b"".join(chunks)))


def test_a_trajectory_has_its_row_and_its_record(api, played):
    answer = api.get(f"{TRAJECTORIES}{played.trajectory.pk}/").data

    assert answer["task"] == "miniwob/click-test"
    assert answer["end_reason"] == "solved"
    assert answer["record"] == played.record


def test_one_that_is_not_over_has_no_record(api, alice):
    trajectory = TrajectoryFactory(run=RunFactory(owner=alice))

    answer = api.get(f"{TRAJECTORIES}{trajectory.pk}/")
    steps = api.get(f"{TRAJECTORIES}{trajectory.pk}/steps/")

    assert answer.data["record"] is None
    assert steps.status_code == 404
    assert steps.data["code"] == "training.files_missing"


def test_steps_are_those_of_the_record(api, played):
    answer = api.get(f"{TRAJECTORIES}{played.trajectory.pk}/steps/").data

    assert answer == {
        "steps": played.record["steps"],
        "final_screen": played.record["final_screen"],
    }


def test_files_that_are_gone_are_not_found(api, played, media):
    (media / played.trajectory.path / "trajectory.json").unlink()

    assert api.get(f"{TRAJECTORIES}{played.trajectory.pk}/steps/").status_code == 404
    assert api.get(f"{TRAJECTORIES}{played.trajectory.pk}/download/").status_code == 404


def test_a_picture_that_the_trajectory_names_is_its_very_pixels(api, played):
    address = f"{TRAJECTORIES}{played.trajectory.pk}/frames/{played.hashes['red']}.webp"

    response = api.get(address)

    assert response["Content-Type"] == "image/webp"
    assert "immutable" in response["Cache-Control"]
    picture = Image.open(io.BytesIO(response.content))
    assert picture.size == (16, 21)
    assert picture.convert("RGB").getpixel((0, 0)) == (255, 0, 0)


@pytest.mark.parametrize("name", ["0" * 64, "..", "x"])
def test_a_picture_that_it_does_not_name_is_not_found(api, played, name):
    address = f"{TRAJECTORIES}{played.trajectory.pk}/frames/{name}.webp"

    assert api.get(address).status_code == 404


def test_a_picture_that_another_trajectory_names_is_not_found(
    api, played, alice, media
):
    other = TrajectoryFactory(run=RunFactory(owner=alice), path="runs/x")
    (media / "runs/x").mkdir(parents=True)
    (media / "runs/x/trajectory.json").write_text(json.dumps({"steps": []}))

    address = f"{TRAJECTORIES}{other.pk}/frames/{played.hashes['red']}.webp"

    assert api.get(address).status_code == 404


def test_a_download_holds_record_tokens_and_pictures(api, played):
    response = api.get(f"{TRAJECTORIES}{played.trajectory.pk}/download/")

    assert response["Content-Type"] == "application/zip"
    assert ".zip" in response["Content-Disposition"]
    archive = downloaded(response)
    assert archive.testzip() is None
    assert set(archive.namelist()) == {
        "trajectory.json",
        "tokens.safetensors",
        *(f"frames/{sha}.webp" for sha in played.hashes.values()),
    }
    assert json.loads(archive.read("trajectory.json")) == played.record
    assert archive.read("tokens.safetensors") == b"tokens"


def test_a_download_comes_in_pieces_and_not_whole(api, played):
    response = api.get(f"{TRAJECTORIES}{played.trajectory.pk}/download/")

    chunks = async_to_sync(collect)(response.streaming_content)

    assert len([chunk for chunk in chunks if chunk]) == 5  # Four files, the directory.


def test_a_download_says_what_it_lacks(api, played, media):
    (media / played.trajectory.path / "tokens.safetensors").unlink()

    archive = downloaded(api.get(f"{TRAJECTORIES}{played.trajectory.pk}/download/"))

    assert json.loads(archive.read("missing.json")) == ["tokens.safetensors"]


def test_trajectories_are_filtered(api, alice):
    run = RunFactory(owner=alice)
    solved = TrajectoryFactory(run=run, solved=True)
    other = TaskFactory(name="enter-text")
    failed = TrajectoryFactory(run=run, unsolved=True, task=other)
    evaluation = EvaluationFactory(owner=alice)
    held_out = TrajectoryFactory(run=None, owner=alice, evaluation=evaluation)

    def found(**query):
        return {row["id"] for row in api.get(TRAJECTORIES, query).data["results"]}

    assert found(run=run.pk) == {str(solved.pk), str(failed.pk)}
    assert found(evaluation=evaluation.pk) == {str(held_out.pk)}
    assert found(status="queued") == {str(held_out.pk)}
    assert found(end_reason="unsolved") == {str(failed.pk)}
    assert found(task="miniwob/enter-text") == {str(failed.pk)}
    assert found(task="miniwob/enter") == set()


def test_a_list_costs_the_same_however_long_it_is(
    api, alice, django_assert_max_num_queries
):
    run = RunFactory(owner=alice)
    TrajectoryFactory.create_batch(5, run=run, solved=True)

    with django_assert_max_num_queries(2):
        assert api.get(TRAJECTORIES).data["count"] == 5
