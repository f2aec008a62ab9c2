import logging

import pytest

from studio.common.logs import EventFormatter, bound


@pytest.fixture
def said():
    """Collect what a logger says, formatted."""
    lines = []

    class Collect(logging.Handler):
        def emit(self, record):
            lines.append(self.format(record))

    handler = Collect()
    handler.setFormatter(EventFormatter())
    logger = logging.getLogger("test-logs")
    logger.setLevel(logging.INFO)
    logger.addHandler(handler)
    yield logger, lines
    logger.removeHandler(handler)


def test_an_event_is_a_line_with_its_fields(said):
    logger, lines = said

    logger.info("run started", extra={"run_id": 7, "rate": 1 / 3})

    assert lines[0].split(" ", 1)[1] == "INFO    run started run_id=7 rate=0.333333"


def test_what_is_bound_is_added_to_every_event_of_the_block(said):
    logger, lines = said

    with bound(run_id=7):
        logger.info("step", extra={"step": 1})
    logger.info("over")

    assert lines[0].endswith("step run_id=7 step=1")
    assert lines[1].endswith("over")


def test_a_value_with_blanks_is_quoted(said):
    logger, lines = said

    logger.warning("failed", extra={"reason": "out of memory"})

    assert lines[0].endswith("reason='out of memory'")
