from training.curation.batches import Candidate, choose_batch, staleness


def choose(min_versions, *, groups_per_step=2, trainer_version=3, max_staleness=2):
    candidates = [
        Candidate(group=f"group {number}", min_version=version)
        for number, version in enumerate(min_versions)
    ]
    return choose_batch(
        candidates,
        groups_per_step=groups_per_step,
        trainer_version=trainer_version,
        max_staleness=max_staleness,
    )


def test_the_oldest_come_first_and_the_rest_waits():
    choice = choose([1, 2, 3])

    assert choice.batch == ["group 0", "group 1"]
    assert choice.stale == []


def test_what_is_too_stale_is_sorted_out_and_the_next_moves_up():
    choice = choose([0, 1, 3])

    assert choice.stale == ["group 0"]
    assert choice.batch == ["group 1", "group 2"]


def test_a_batch_is_never_small():
    choice = choose([0, 3])

    assert not choice.batch
    assert choice.stale == ["group 0"]


def test_with_no_staleness_allowed_only_the_present_version_trains():
    choice = choose([2, 3, 3], max_staleness=0)

    assert choice.stale == ["group 0"]
    assert choice.batch == ["group 1", "group 2"]


def test_a_token_from_the_future_is_not_stale():
    assert staleness(trainer_version=2, min_version=5) == 0
