"""Pages that begin a run: the form, and the quickstart's one button."""

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError as DjangoValidationError
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST
from pydantic import ValidationError

from environments.models import Task
from studio.common.http import SignedInRequest
from training.errors import (
    DatasetNotReady,
    PolicyNotFound,
    TaskNotFound,
    TrainingError,
)
from training.models import Dataset, Run
from training.pages.run_form import (
    RunForm,
    blank_form,
    config_of,
    mistakes_of,
    sent_form,
)
from training.presets import PRESETS
from training.selectors import datasets_visible_to, runs_visible_to
from training.services.runs import run_create, run_start
from training.states import CheckpointStatus, DatasetStatus

FIELD_OF_ERROR: dict[type[TrainingError], str] = {
    PolicyNotFound: "policy",
    TaskNotFound: "tasks",
    DatasetNotReady: "dataset",
}
NUM_POLICIES = 20


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def run_new(request: SignedInRequest) -> HttpResponse:
    """Show the form, or keep the run that it describes and start it."""
    asked = request.POST.get("preset") or request.GET.get("preset", "")
    preset = asked if asked in PRESETS else "quickstart"
    if request.method != "POST":
        dataset = request.GET.get("dataset", "")
        form = blank_form(preset, name=free_name(request, preset), dataset=dataset)
        return _page(request, form)
    form = sent_form(preset, request.POST.dict(), request.POST.getlist("tasks"))
    run, errors = _create(request, form)
    if run is None:
        wrong = RunForm(
            preset=preset, values=form.values, tasks=form.tasks, errors=errors
        )
        return _page(request, wrong)
    if "draft" in request.POST:
        messages.success(request, f"{run.name} is kept as a draft.")
    else:
        run_start(run_id=run.pk, who=request.user.get_username())
    return redirect(reverse("training:run", args=[run.pk]))


@login_required
@require_POST
def quickstart(request: SignedInRequest) -> HttpResponse:
    """Start the quickstart and show it."""
    form = blank_form("quickstart", name=free_name(request, "quickstart"))
    run, errors = _create(request, form)
    if run is None:
        for found in errors.values():
            messages.error(request, f"The quickstart cannot start: {'; '.join(found)}.")
        return redirect(reverse("pages:home"))
    run_start(run_id=run.pk, who=request.user.get_username())
    return redirect(reverse("training:run", args=[run.pk]))


def free_name(request: SignedInRequest, preset: str) -> str:
    """Return a name that none of the user's runs has yet: ``quickstart-2``."""
    runs = runs_visible_to(request.user).filter(name__startswith=preset)
    taken = set(runs.values_list("name", flat=True))
    number = 1
    name = preset
    while name in taken:
        number += 1
        name = f"{preset}-{number}"
    return name


def _create(
    request: SignedInRequest, form: RunForm
) -> tuple[Run | None, dict[str, list[str]]]:
    """Return the run, or every mistake by its field."""
    name = form.values.get("name", "")
    try:
        config = config_of(form)
        return run_create(owner=request.user, name=name, config=config), {}
    except ValidationError as error:
        missing = {} if name else {"name": ["A run needs a name."]}
        return None, mistakes_of(error) | missing
    except DjangoValidationError as error:
        return None, {key: list(found) for key, found in error.message_dict.items()}
    except TrainingError as error:
        return None, {FIELD_OF_ERROR.get(type(error), ""): [str(error)]}


def _page(request: SignedInRequest, form: RunForm) -> HttpResponse:
    context = {
        "nav": "runs",
        "form": form,
        "presets": [
            ("quickstart", "rl, from live rollouts", QUICKSTART),
            ("sft", "sft, from demonstrations", SFT),
        ],
        "tasks": Task.objects.filter(is_feasible=True),
        "policies": _policies(request),
        "datasets": _datasets(request),
    }
    return render(request, "training/run_new.html", context)


QUICKSTART = (
    "Acts in browsers and learns from how episodes end. Needs tasks; filled in with the "
    "quickstart, which takes minutes on two cores."
)
SFT = "Learns to answer as people did. Needs a data set. Good as a warm start."


def _policies(request: SignedInRequest) -> list[tuple[str, str]]:
    """Return what a run can start from: (reference, words)."""
    runs = runs_visible_to(request.user).filter(
        checkpoints__status=CheckpointStatus.READY
    )
    found: dict[UUID, tuple[str, str]] = {}
    rows = runs.order_by("-created_at", "-checkpoints__version").values_list(
        "pk", "name", "checkpoints__version"
    )
    for pk, name, version in rows[: NUM_POLICIES * 20]:
        found.setdefault(pk, (f"{pk}@{version}", f"{name}, v{version}"))
    base = [("oche-tiny", "oche-tiny, ships with the studio")]
    return base + list(found.values())[:NUM_POLICIES]


def _datasets(request: SignedInRequest) -> list[Dataset]:
    ready = datasets_visible_to(request.user).filter(status=DatasetStatus.READY)
    return list(ready.order_by("-created_at")[:100])
