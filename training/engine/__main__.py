"""``python -m training.engine``: reads its arguments and then requests from stdin."""

import json
import logging
import os
import sys
from typing import IO

from pydantic import BaseModel, TypeAdapter
from transformers.utils.logging import disable_progress_bar

from training.config import RlConfig, RunConfig, SftConfig
from training.engine.protocol import REQUESTS, EngineSettings, Failed
from training.engine.trainer import StepRefused, Trainer

logger = logging.getLogger("training.engine")


def main() -> None:
    """Serve one run until stdin ends, which is when the parent is gone."""
    logging.basicConfig(
        level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s"
    )
    disable_progress_bar()  # A log is read by lines.
    replies = _claim_stdout()
    arguments = json.loads(sys.stdin.readline())
    adapter: TypeAdapter[SftConfig | RlConfig] = TypeAdapter(RunConfig)
    config = adapter.validate_python(arguments["config"])
    trainer = Trainer(config, EngineSettings.model_validate(arguments["settings"]))
    logger.info("engine ready: %s", trainer.ready.model_dump_json())
    _say(replies, trainer.ready)
    for line in sys.stdin:
        try:
            _say(replies, trainer.handle(REQUESTS.validate_json(line)))
        except StepRefused as error:
            _say(replies, Failed(code="step_refused", detail=str(error)))
        except FloatingPointError as error:
            _say(replies, Failed(code="not_finite", detail=str(error)))


def _claim_stdout() -> IO[bytes]:
    """Keep stdout for replies; whatever else is printed goes to stderr."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return replies


def _say(replies: IO[bytes], message: BaseModel) -> None:
    replies.write(message.model_dump_json().encode() + b"\n")
    replies.flush()


main()
