from tests.factories import EvaluationFactory
from training.models import Evaluation

EVALUATIONS = "/api/v1/evaluations/"
ASKED = {"policy": "oche-tiny", "tasks": ["miniwob/click-test"], "num_episodes": 10}


def test_an_evaluation_is_greedy_and_held_out_unless_asked_otherwise(api, task):
    response = api.post(EVALUATIONS, ASKED)

    assert response.status_code == 201
    assert response.data["temperature"] == 0.0
    assert response.data["first_seed"] == 900_000_000
    assert response.data["status"] == "queued"
    assert Evaluation.objects.get().owner.username == "alice"


def test_every_mistake_is_reported(api, task):
    response = api.post(
        EVALUATIONS,
        {"policy": "", "tasks": [], "num_episodes": 0, "first_seed": 1},
    )

    assert response.status_code == 400
    assert set(response.data["errors"]) == {
        "policy",
        "tasks",
        "num_episodes",
        "first_seed",
    }


def test_an_unknown_task_or_policy_is_named_at_its_field(api, task):
    by_task = api.post(EVALUATIONS, ASKED | {"tasks": ["miniwob/nope"]})
    by_policy = api.post(EVALUATIONS, ASKED | {"policy": "gpt-9"})

    assert "miniwob/nope" in by_task.data["errors"]["tasks"][0]
    assert "gpt-9" in by_policy.data["errors"]["policy"][0]


def test_cancelling_ends_an_evaluation(api, alice):
    evaluation = EvaluationFactory(owner=alice)

    response = api.post(f"{EVALUATIONS}{evaluation.pk}/cancel/")

    assert response.data["status"] == "cancelled"


def test_a_strangers_evaluation_does_not_exist(api, mallory):
    evaluation = EvaluationFactory(owner=mallory)

    assert api.get(f"{EVALUATIONS}{evaluation.pk}/").status_code == 404
    assert api.post(f"{EVALUATIONS}{evaluation.pk}/cancel/").status_code == 404


def test_a_seed_that_the_database_cannot_hold_is_a_mistake(api, task):
    response = api.post(EVALUATIONS, ASKED | {"first_seed": 10**30})

    assert response.status_code == 400
    assert set(response.data["errors"]) == {"first_seed"}
