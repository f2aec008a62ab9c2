"""The API of the cluster: who works, and what staff may ask of a worker."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.permissions import BasePermission, IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from environments.selectors import cluster_visible_to, may_manage_workers
from environments.services.workers import (
    worker_drain,
    worker_restart,
    worker_resume,
)
from environments.workers import (
    EnvironmentWorker,
    WorkerState,
    seconds_in_step,
)
from studio.cluster import Everything, everything
from studio.common.http import AuthenticatedRequest
from studio.common.registry import RegistryUnreadable, Seen


class MayManageWorkers(BasePermission):
    """Only staff: a drained worker is missed by everybody."""

    message = "only staff may drain, resume and restart workers"

    def has_permission(self, request: Request, view: APIView) -> bool:
        """Return whether the user is staff."""
        return may_manage_workers(request.user)


class ClusterSlotSerializer(serializers.Serializer[Any]):
    """What one slot does; of what it plays for others only that it does."""

    slot = serializers.CharField()
    state = serializers.CharField(
        help_text="`idle`, `building`, `reset`, `model` (waits for an answer), "
        "`acting` or `evaluating`."
    )
    in_step_s = serializers.FloatField(
        help_text="Seconds in this step, or idle, when its worker last spoke."
    )
    task = serializers.CharField(help_text="Empty when idle, or somebody else's.")
    run_id = serializers.CharField()
    evaluation_id = serializers.CharField()
    trajectory_id = serializers.CharField()
    step = serializers.IntegerField()
    max_steps = serializers.IntegerField()
    num_episodes = serializers.IntegerField()
    num_restarts = serializers.IntegerField()


class WorkerSerializer(serializers.Serializer[Any]):
    """An environment worker as it last described itself."""

    name = serializers.CharField()
    fence = serializers.IntegerField(help_text="Which life of the name.")
    state = serializers.CharField(
        help_text="`serving`, `draining`, `drained`, `restarting`, `ending`, `ended`, "
        "`lost`, or `doubled` (another worker has taken its name)."
    )
    heard_s = serializers.FloatField(help_text="Seconds since it last spoke.")
    host = serializers.CharField()
    pid = serializers.IntegerField()
    queue = serializers.CharField()
    code = serializers.CharField(help_text="Hash of the code that it runs.")
    up_s = serializers.FloatField()
    is_supervised = serializers.BooleanField()
    own_bytes = serializers.IntegerField()
    browser_bytes = serializers.IntegerField()
    cpu_percent = serializers.FloatField()
    num_episodes_last_min = serializers.IntegerField()
    num_restarts = serializers.IntegerField()
    num_orphans = serializers.IntegerField()
    last_error = serializers.CharField(help_text="For staff; empty for others.")
    slots = ClusterSlotSerializer(many=True)


class ClusterTotalsSerializer(serializers.Serializer[Any]):
    """What there is in all."""

    slots = serializers.IntegerField(help_text="Of workers that take episodes.")
    slots_announced = serializers.IntegerField(help_text="Lost and drained ones too.")
    environment_workers = serializers.IntegerField(help_text="Heard of lately.")
    lost_workers = serializers.IntegerField()
    inference_workers = serializers.IntegerField()
    trainers = serializers.IntegerField()
    managers = serializers.IntegerField()
    episodes_per_min = serializers.IntegerField()
    orphans = serializers.IntegerField()


class ClusterSerializer(serializers.Serializer[Any]):
    """The cluster at one moment."""

    totals = ClusterTotalsSerializer()
    workers = WorkerSerializer(many=True)
    unreadable = serializers.ListField(
        child=serializers.CharField(),
        help_text="Entries that could not be understood: somebody is there.",
    )


class ClusterView(APIView):
    """The environment workers with their slots, and totals."""

    request: AuthenticatedRequest

    @extend_schema(operation_id="cluster", responses=ClusterSerializer)
    def get(self, request: AuthenticatedRequest) -> Response:
        """Answer who works now; 503 where that cannot be read."""
        now = everything(request.user)
        if now.error:
            raise RegistryUnreadable(now.error)
        body = {
            "totals": _totals(now),
            "workers": [
                _worker(seen, state, shows_errors=may_manage_workers(request.user))
                for seen, state in now.environments.workers
            ],
            "unreadable": now.environments.unreadable,
        }
        return Response(ClusterSerializer(body).data)


class WorkerActionView(APIView):
    """What staff may ask of one environment worker."""

    request: AuthenticatedRequest
    permission_classes = (IsAuthenticated, MayManageWorkers)
    act = staticmethod(worker_drain)

    @extend_schema(request=None, responses=WorkerSerializer)
    def post(self, request: AuthenticatedRequest, name: str) -> Response:
        """Ask for it; the worker hears it within two seconds. 409 if it is lost."""
        self.act(name=name, who=request.user.get_username())
        lives = cluster_visible_to(request.user).workers
        seen, state = [one for one in lives if one[0].name == name][-1]
        worker = _worker(seen, state, shows_errors=True)
        return Response(WorkerSerializer(worker).data)


class WorkerDrainView(WorkerActionView):
    """Have a worker begin nothing new; it holds until it is resumed."""

    act = staticmethod(worker_drain)


class WorkerResumeView(WorkerActionView):
    """Have a drained worker take episodes again."""

    act = staticmethod(worker_resume)


class WorkerRestartView(WorkerActionView):
    """Have a worker end itself once it plays nothing; its supervisor starts it again."""

    act = staticmethod(worker_restart)


def _totals(now: Everything) -> dict[str, int]:
    return {
        "slots": now.environments.num_slots,
        "slots_announced": now.num_slots,
        "environment_workers": len(now.environments.present),
        "lost_workers": len(now.environments.lost),
        "inference_workers": len(now.inference),
        "trainers": sum(one.is_fresh for one in now.trainers),
        "managers": sum(one.is_fresh for one in now.managers),
        "episodes_per_min": now.num_episodes_per_min,
        "orphans": now.num_orphans,
    }


def _worker(
    seen: Seen[EnvironmentWorker], state: WorkerState, *, shows_errors: bool
) -> dict[str, Any]:
    worker = seen.entry.model_dump(exclude={"slots"})
    return worker | {
        "name": seen.name,
        "fence": seen.fence,
        "state": state,
        "heard_s": round(seen.heard_s, 1),
        "last_error": seen.entry.last_error if shows_errors else "",
        "slots": [
            slot.model_dump() | {"in_step_s": round(seconds_in_step(seen, slot), 1)}
            for slot in seen.entry.slots
        ],
    }
