import pytest
import torch
from torch import nn

from training.config import OptimizerConfig
from training.engine.optimizer import PolicyOptimizer


def small_model():
    torch.manual_seed(0)
    return nn.Sequential(nn.Embedding(4, 3), nn.Linear(3, 2))


def loss_of(model):
    return model(torch.tensor([0, 1, 2])).square().sum()


@pytest.mark.parametrize(
    ("step", "share"), [(1, 0.1), (10, 1.0), (60, 0.55), (110, 0.1), (500, 0.1)]
)
def test_the_rate_rises_for_ten_steps_and_then_falls_to_a_tenth(step, share):
    config = OptimizerConfig(warmup_steps=10, decay="linear", final_rate_fraction=0.1)
    optimizer = PolicyOptimizer(small_model(), config, total_steps=110)

    assert optimizer.rate_at(step) == pytest.approx(share)


def test_a_constant_rate_stays_at_its_peak():
    optimizer = PolicyOptimizer(small_model(), OptimizerConfig(), total_steps=3)

    assert [optimizer.rate_at(step) for step in (1, 2, 99)] == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("matrix_learning_rate", [0.0, 1e-2])
def test_state_that_is_taken_up_again_changes_nothing(matrix_learning_rate):
    config = OptimizerConfig(
        learning_rate=1e-2, matrix_learning_rate=matrix_learning_rate
    )
    straight, interrupted = small_model(), small_model()
    one = PolicyOptimizer(straight, config, total_steps=9)
    other = PolicyOptimizer(interrupted, config, total_steps=9)
    for step in (1, 2):
        for model, optimizer in ((straight, one), (interrupted, other)):
            loss_of(model).backward()
            optimizer.step(step)

    resumed = PolicyOptimizer(interrupted, config, total_steps=9)
    resumed.load_state_tensors(other.state_tensors())
    for model, optimizer in ((straight, one), (interrupted, resumed)):
        loss_of(model).backward()
        optimizer.step(3)

    for left, right in zip(
        straight.parameters(), interrupted.parameters(), strict=True
    ):
        assert torch.equal(left, right)


def test_a_gradient_that_is_not_finite_changes_no_weight():
    model = small_model()
    optimizer = PolicyOptimizer(
        model, OptimizerConfig(learning_rate=1.0), total_steps=1
    )
    before = [parameter.clone() for parameter in model.parameters()]
    (loss_of(model) * float("nan")).backward()

    with pytest.raises(FloatingPointError, match="nan"):
        optimizer.step(1)

    assert all(
        torch.equal(left, right)
        for left, right in zip(before, model.parameters(), strict=True)
    )


def test_the_gradient_is_clipped_to_its_largest_norm():
    model = small_model()
    optimizer = PolicyOptimizer(model, OptimizerConfig(grad_clip=0.5), total_steps=1)
    (loss_of(model) * 1000).backward()

    norm, _ = optimizer.step(1)

    assert norm > 100
