import pytest

from tests.factories import MetricRowFactory, RunFactory


@pytest.fixture
def address(alice):
    """Five rows of a run of alice's, seq 1…5."""
    run = RunFactory(owner=alice)
    for seq in range(1, 6):
        MetricRowFactory(run=run, seq=seq, step=seq, values={"reward/mean": seq / 10})
    MetricRowFactory(run=RunFactory(owner=alice), seq=6)
    return f"/api/v1/runs/{run.pk}/metrics/"


def test_rows_after_a_number_are_those_that_a_page_lacks(api, address):
    answer = api.get(address, {"after": 3}).data

    assert [row["seq"] for row in answer["rows"]] == [4, 5]
    assert answer["last_seq"] == 5
    assert answer["rows"][0]["values"] == {"reward/mean": 0.4}
    assert set(answer["rows"][0]) == {
        "seq",
        "attempt",
        "step",
        "source",
        "at",
        "values",
    }


def test_following_last_seq_misses_nothing_whatever_the_limit(api, address):
    seen, after = [], 0
    while rows := api.get(address, {"after": after, "limit": 2}).data["rows"]:
        seen += [row["seq"] for row in rows]
        after = rows[-1]["seq"]

    assert seen == [1, 2, 3, 4, 5]


def test_nothing_new_leaves_the_number_where_it_was(api, address):
    assert api.get(address, {"after": 5}).data == {"rows": [], "last_seq": 5}
    assert api.get(address, {"after": 99}).data == {"rows": [], "last_seq": 99}


@pytest.mark.parametrize(
    "query", [{"after": "x"}, {"after": -1}, {"limit": 0}, {"limit": 10**6}]
)
def test_numbers_out_of_range_are_mistakes(api, address, query):
    response = api.get(address, query)

    assert response.status_code == 400
    assert list(response.data["errors"]) == list(query)
