"""Addresses of the pages of runs, trajectories and data sets."""

from django.urls import path

from training.pages import datasets, run_new, runs, trajectories, wall

app_name = "training"
urlpatterns = [
    path("runs/", runs.run_list, name="runs"),
    path("runs/new/", run_new.run_new, name="run-new"),
    path("runs/quickstart/", run_new.quickstart, name="quickstart"),
    path("runs/<uuid:run_id>/", runs.run_overview, name="run"),
    path("runs/<uuid:run_id>/pulse/", runs.run_pulse, name="run-pulse"),
    path("runs/<uuid:run_id>/live/", runs.run_live, name="run-live"),
    path("runs/<uuid:run_id>/wall/", wall.run_wall, name="run-wall"),
    path(
        "runs/<uuid:run_id>/trajectories/",
        trajectories.run_trajectories,
        name="run-trajectories",
    ),
    path("runs/<uuid:run_id>/config/", runs.run_config, name="run-config"),
    path("runs/<uuid:run_id>/metrics.csv", runs.run_metrics_csv, name="run-csv"),
    path("runs/<uuid:run_id>/<slug:action>/", runs.run_action, name="run-action"),
    path("trajectories/", trajectories.trajectory_list, name="trajectories"),
    path(
        "trajectories/<uuid:trajectory_id>/",
        trajectories.trajectory_detail,
        name="trajectory",
    ),
    path(
        "trajectories/<uuid:trajectory_id>/frames/<str:sha256>.webp",
        trajectories.trajectory_frame,
        name="trajectory-frame",
    ),
    path(
        "trajectories/<uuid:trajectory_id>/trajectory.json",
        trajectories.trajectory_file,
        name="trajectory-file",
    ),
    path("datasets/", datasets.dataset_list, name="datasets"),
    path("datasets/new/", datasets.dataset_new, name="dataset-new"),
    path("datasets/<uuid:dataset_id>/", datasets.dataset_detail, name="dataset"),
    path(
        "datasets/<uuid:dataset_id>/pulse/",
        datasets.dataset_pulse,
        name="dataset-pulse",
    ),
    path(
        "datasets/<uuid:dataset_id>/frames/<str:sha256>.webp",
        datasets.dataset_frame,
        name="dataset-frame",
    ),
]
