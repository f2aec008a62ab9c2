from training.rollouts.clock import PhaseClock


class Time:
    """A clock that is set by hand."""

    def __init__(self):
        self.at = 100.0

    def __call__(self):
        return self.at


def test_waiting_for_the_model_occupies_a_slot_and_keeps_it_not_busy():
    time = Time()
    clock = PhaseClock(time)
    for phase, seconds in (
        ("reset", 2),
        ("model", 5),
        ("acting", 1),
        ("model", 4),
        ("evaluating", 3),
    ):
        clock.enter(phase)
        time.at += seconds

    clock.stop()
    time.at += 50

    assert clock.occupied_s == 15
    assert clock.busy_s == 6


def test_time_before_the_first_phase_counts_for_nothing():
    time = Time()
    clock = PhaseClock(time)
    time.at += 30

    clock.enter("reset")
    time.at += 1
    clock.stop()

    assert clock.occupied_s == clock.busy_s == 1


def test_the_seconds_in_a_phase_begin_anew_with_each_step():
    time = Time()
    clock = PhaseClock(time)
    clock.enter("model")
    time.at += 9
    clock.enter("acting")
    time.at += 2

    assert (clock.phase, clock.for_s) == ("acting", 2)
