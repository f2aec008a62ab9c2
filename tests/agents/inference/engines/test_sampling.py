"""Drawing one token from a distribution."""

import math

import pytest
import torch

from agents.inference.engines.sampling import draw

HALF_AND_QUARTERS = torch.tensor([[0.5, 0.25, 0.25]]).log()
NOTHING_BANNED = torch.zeros(3)


def draw_one(logits=HALF_AND_QUARTERS, banned=NOTHING_BANNED, t=1.0, top_p=1.0, u=0.0):
    drawn = draw(
        logits, banned_V=banned, temperatures=[t], top_ps=[top_p], uniforms=[u]
    )
    return drawn.ids[0], drawn.logprobs[0], drawn.entropies[0]


@pytest.mark.parametrize(
    ("u", "expected"),
    [(0.0, 0), (0.49, 0), (0.51, 1), (0.74, 1), (0.76, 2), (1 - 2**-53, 2)],
)
def test_the_random_number_picks_the_token_by_its_share(u, expected):
    token, logprob, _ = draw_one(u=u)

    assert token == expected
    assert logprob == pytest.approx(math.log([0.5, 0.25, 0.25][expected]))


def test_the_entropy_is_that_of_the_distribution():
    _, _, entropy = draw_one()

    # 1/2 ln 2 + 1/4 ln 4 + 1/4 ln 4
    assert entropy == pytest.approx(1.5 * math.log(2))


def test_a_banned_token_is_never_drawn_and_its_share_goes_to_the_others():
    banned = torch.tensor([float("-inf"), 0.0, 0.0])

    drawn = [draw_one(banned=banned, u=u) for u in (0.0, 0.49, 0.51, 1 - 2**-53)]

    assert [token for token, _, _ in drawn] == [1, 1, 2, 2]
    assert drawn[0][1] == pytest.approx(math.log(0.5))
    assert drawn[0][2] == pytest.approx(math.log(2))


def test_a_banned_token_at_the_end_is_not_drawn_by_rounding():
    banned = torch.tensor([0.0, 0.0, float("-inf")])

    assert draw_one(banned=banned, u=1 - 2**-53)[0] == 1


def test_temperature_two_takes_square_roots():
    # sqrt(1/2) : sqrt(1/4) : sqrt(1/4) = .7071 : .5 : .5
    _, logprob, _ = draw_one(t=2.0)

    assert logprob == pytest.approx(math.log(0.70711 / 1.70711), abs=1e-4)


def test_temperature_zero_takes_the_likeliest_and_reports_temperature_one():
    token, logprob, entropy = draw_one(t=0.0, u=0.99)

    assert token == 0
    assert logprob == pytest.approx(math.log(0.5))
    assert entropy == pytest.approx(1.5 * math.log(2))


def test_top_p_keeps_the_fewest_tokens_that_reach_it():
    # .5 alone does not reach .6; with one quarter it does: 2/3 and 1/3 remain.
    token, logprob, _ = draw_one(top_p=0.6, u=0.99)

    assert token == 1
    assert logprob == pytest.approx(math.log(1 / 3), abs=1e-6)


def test_a_tiny_top_p_keeps_one_token():
    assert draw_one(top_p=1e-6, u=0.99)[:2] == (0, pytest.approx(0.0))


def test_each_row_keeps_to_its_own_temperature_and_number():
    drawn = draw(
        HALF_AND_QUARTERS.repeat(3, 1),
        banned_V=NOTHING_BANNED,
        temperatures=[0.0, 1.0, 1.0],
        top_ps=[1.0, 1.0, 0.4],
        uniforms=[0.9, 0.9, 0.9],
    )

    assert drawn.ids == [0, 2, 0]
