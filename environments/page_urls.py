"""Addresses of the pages of tasks."""

from django.urls import path

from environments import pages

app_name = "environments"
urlpatterns = [
    path("tasks/", pages.task_list, name="tasks"),
    path("tasks/<str:backend>/<str:name>/", pages.task_detail, name="task"),
]
