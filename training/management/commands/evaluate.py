"""``manage.py evaluate``: the success of a policy on held-out seeds."""

import json
import time
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError, CommandParser

from training.errors import TrainingError
from training.models import Evaluation
from training.services.evaluations import (
    FIRST_HELD_OUT_SEED,
    OPEN,
    evaluation_cancel,
    evaluation_create,
)

POLL_S = 0.5


class Command(BaseCommand):
    """Asks the running studio to evaluate, and waits for the result."""

    help = "Evaluate a policy on held-out seeds; the studio's services must run."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        parser.add_argument("--policy", default="oche-tiny")
        parser.add_argument("--tasks", nargs="+", required=True, metavar="BACKEND/NAME")
        parser.add_argument("--episodes", type=int, default=200)
        parser.add_argument("--first-seed", type=int, default=FIRST_HELD_OUT_SEED)
        parser.add_argument("--temperature", type=float, default=0.0, help="0: greedy")
        parser.add_argument("--timeout", type=float, default=3600.0, help="seconds")

    def handle(self, *args: Any, **options: Any) -> None:
        """Evaluate and print one JSON line."""
        owner = get_user_model().objects.filter(is_superuser=True).first()
        if owner is None:
            raise CommandError("there is no administrator to own the evaluation")
        try:
            evaluation = evaluation_create(
                owner=owner,
                policy=options["policy"],
                tasks=options["tasks"],
                num_episodes=options["episodes"],
                first_seed=options["first_seed"],
                temperature=options["temperature"],
            )
        except TrainingError as error:
            raise CommandError(str(error)) from error
        self._wait(evaluation, options["timeout"])
        if evaluation.success_rate is None:
            raise CommandError("the evaluation ended without a result")
        result = {
            "policy": evaluation.policy,
            "success_rate": evaluation.success_rate,
            "episodes": evaluation.num_finished,
            "results": evaluation.results,
        }
        self.stdout.write(json.dumps(result))

    def _wait(self, evaluation: Evaluation, timeout_s: float) -> None:
        deadline = time.monotonic() + timeout_s
        while evaluation.status in OPEN:
            if time.monotonic() > deadline:
                evaluation_cancel(evaluation_id=evaluation.pk)
                raise CommandError(f"the evaluation was not over after {timeout_s} s")
            time.sleep(POLL_S)
            evaluation.refresh_from_db()
