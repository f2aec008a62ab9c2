"""``manage.py collect``: demonstrations by the scripted experts, as a data set."""

from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError, CommandParser

from environments.errors import EnvironmentsError
from training.errors import TrainingError
from training.services.collecting import dataset_collect, lessons_of

REPORT_EVERY = 100


class Command(BaseCommand):
    """Plays tasks on the real pages, in this process; no other has to run."""

    help = "Demonstrate MiniWoB tasks or fragments and keep them as a data set."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        parser.add_argument(
            "--tasks",
            nargs="+",
            required=True,
            metavar="NAME",
            help="miniwob/<task>, or <kind>/<task> of a fragment such as fill/fill-nth",
        )
        parser.add_argument("--episodes", type=int, default=100, help="of each")
        parser.add_argument("--first-seed", type=int, default=0)
        parser.add_argument("--out", required=True, metavar="DATASET", help="its name")
        parser.add_argument("--owner", help="user name; the first administrator's")
        parser.add_argument("--slots", type=int, default=settings.NUM_SLOTS)

    def handle(self, *args: Any, **options: Any) -> None:
        """Collect, and say where it went."""
        users = get_user_model().objects.order_by("pk")
        named = options["owner"]
        owner = users.filter(
            **({"username": named} if named else {"is_superuser": True})
        ).first()
        if owner is None:
            raise CommandError(f"there is no user {named or 'who is administrator'}")
        try:
            dataset = dataset_collect(
                owner=owner,
                name=options["out"],
                lessons=lessons_of(
                    options["tasks"],
                    episodes=options["episodes"],
                    first_seed=options["first_seed"],
                ),
                num_slots=options["slots"],
                on_progress=self._say,
            )
        except (TrainingError, EnvironmentsError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{dataset.pk} {dataset.num_kept} rows {dataset.status}")

    def _say(self, num_lessons: int, num_rows: int) -> None:
        if num_lessons % REPORT_EVERY == 0:
            self.stderr.write(f"{num_lessons} episodes, {num_rows} rows")
