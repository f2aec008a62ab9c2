import math

from training.engine.protocol import REPLIES, Stepped, StepResult


def test_a_metric_that_is_no_number_does_not_make_a_reply_unreadable():
    metrics = {"k3_kl": math.inf, "kl": math.nan, "loss": 0.5}
    said = Stepped(results=[StepResult(step=1, metrics=metrics)]).model_dump_json()

    heard = REPLIES.validate_json(said)

    assert isinstance(heard, Stepped)
    found = heard.results[0].metrics
    assert (found["k3_kl"], found["loss"]) == (math.inf, 0.5)
    assert math.isnan(found["kl"])
