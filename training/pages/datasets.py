"""Pages of data sets: the list, the upload, and what became of it."""

import re
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from studio.common.http import SignedInRequest
from training.datasets.importing import read_rows
from training.errors import TrainingError
from training.models import Dataset
from training.pages.paging import ordered, paged
from training.pages.trajectories import picture
from training.selectors import datasets_visible_to
from training.services.datasets import dataset_create_from_upload
from training.services.files import storage
from training.states import DatasetStatus

NUM_SAMPLES: Final = 9
ORDERS: Final = {
    "name": "name",
    "status": "status",
    "rows": "num_kept",
    "created": "created_at",
}
UNDER_WAY: Final = (
    DatasetStatus.UPLOADED,
    DatasetStatus.CHECKING,
    DatasetStatus.IMPORTING,
)
STAGES: Final = (
    (DatasetStatus.UPLOADED, "Upload"),
    (DatasetStatus.CHECKING, "Check"),
    (DatasetStatus.IMPORTING, "Import"),
    (DatasetStatus.READY, "Ready"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Sample:
    """One row, to look at."""

    number: int
    images: list[str]
    """Hashes."""
    instruction: str
    """The last thing that the model is told."""
    answer: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Stage:
    """One stage of an import."""

    label: str
    is_done: bool
    is_current: bool


@login_required
@require_safe
def dataset_list(request: SignedInRequest) -> HttpResponse:
    """List the data sets."""
    rows = datasets_visible_to(request.user)
    rows, order = ordered(rows, request.GET.get("order", ""), ORDERS, "-created")
    page = paged(rows.select_related("owner"), request.GET)
    context = {"nav": "datasets", "page": page, "order": order}
    return render(request, "training/dataset_list.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def dataset_new(request: SignedInRequest) -> HttpResponse:
    """Take an upload in, or say what is wrong with it."""
    if request.method != "POST":
        return _form(request, name="", errors={})
    name = request.POST.get("name", "").strip()
    rows, images = request.FILES.get("rows"), request.FILES.get("images")
    if rows is None:
        return _form(request, name, {"rows": ["Choose the file with the rows."]})
    try:
        dataset = dataset_create_from_upload(
            owner=request.user,
            name=name or _name_of(rows.name),
            rows_file=rows,
            images_zip=images,
        )
    except ValidationError as error:
        found = error.message_dict if hasattr(error, "error_dict") else None
        return _form(request, name, found or {"": error.messages})
    except TrainingError as error:
        return _form(request, name, {"": [str(error)]})
    return redirect(reverse("training:dataset", args=[dataset.pk]))


@login_required
@require_safe
def dataset_detail(request: SignedInRequest, dataset_id: UUID) -> HttpResponse:
    """Show what was read, kept and rejected, and the first rows."""
    dataset = get_object_or_404(datasets_visible_to(request.user), pk=dataset_id)
    context = _state(dataset) | {"nav": "datasets"}
    return render(request, "training/dataset_detail.html", context)


@login_required
@require_safe
def dataset_pulse(request: SignedInRequest, dataset_id: UUID) -> HttpResponse:
    """Answer only the regions that change while an import is under way."""
    dataset = get_object_or_404(datasets_visible_to(request.user), pk=dataset_id)
    return render(request, "training/dataset_pulse.html", _state(dataset))


@login_required
@require_safe
def dataset_frame(
    request: SignedInRequest, dataset_id: UUID, sha256: str
) -> HttpResponse:
    """Answer a picture of one of the rows that the page shows."""
    dataset = get_object_or_404(datasets_visible_to(request.user), pk=dataset_id)
    if not any(sha256 in sample.images for sample in _samples(dataset)):
        raise Http404
    return picture(request, sha256)


def _form(
    request: SignedInRequest, name: str, errors: dict[str, list[str]]
) -> HttpResponse:
    context = {
        "nav": "datasets",
        "name": name,
        "errors": errors,
        "stray": errors.get("", []) + errors.get("__all__", []),
    }
    return render(request, "training/dataset_new.html", context)


def _state(dataset: Dataset) -> dict[str, object]:
    return {
        "dataset": dataset,
        "is_under_way": dataset.status in UNDER_WAY,
        "is_ready": dataset.status == DatasetStatus.READY,
        "is_rejected": dataset.status == DatasetStatus.REJECTED,
        "stages": _stages(dataset),
        "samples": _samples(dataset),
    }


def _stages(dataset: Dataset) -> list[Stage]:
    names = [str(status) for status, _ in STAGES]
    here = names.index(dataset.status) if dataset.status in names else len(names) - 1
    is_ready = dataset.status == DatasetStatus.READY
    return [
        Stage(
            label=label,
            # Files that have arrived are no stage that anybody waits for.
            is_done=place < here or is_ready or place == 0,
            is_current=place == max(here, 1) and not is_ready,
        )
        for place, (_, label) in enumerate(STAGES)
    ]


def _samples(dataset: Dataset) -> list[Sample]:
    if dataset.status != DatasetStatus.READY or not dataset.path:
        return []
    folder = storage().absolute(dataset.path)
    try:
        rows = list(read_rows(folder, start=0, count=NUM_SAMPLES))
    except OSError:
        return []
    return [_sample(number, row) for number, row in enumerate(rows, start=1)]


def _sample(number: int, row: dict[str, object]) -> Sample:
    messages = row["messages"]
    images = row["images"]
    assert isinstance(messages, list)  # noqa: S101 - the importer has checked it
    assert isinstance(images, list)  # noqa: S101
    *prompt, answer = messages
    return Sample(
        number=number,
        images=images,
        instruction=_text(prompt[-1]["content"]) if prompt else "",
        answer=_text(answer["content"]),
    )


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    assert isinstance(content, list)  # noqa: S101 - the importer has checked it
    return "\n".join(part["text"] for part in content if part["type"] == "text")


def _name_of(file: str | None) -> str:
    stem = (file or "").rsplit("/", 1)[-1].rsplit(".", 1)[0]
    return re.sub(r"[_\s]+", "-", stem)[:100] or "demonstrations"
