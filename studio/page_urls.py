"""Addresses of the studio's own pages."""

from django.contrib.auth.views import LoginView, LogoutView
from django.urls import path

from studio.pages import cluster, home, tokens

app_name = "pages"
urlpatterns = [
    path("", home.home, name="home"),
    path("pulse/", home.home_pulse, name="home-pulse"),
    path("cluster/", cluster.cluster, name="cluster"),
    path("cluster/pulse/", cluster.cluster_pulse, name="cluster-pulse"),
    path(
        "cluster/workers/<str:name>/<slug:action>/",
        cluster.worker_action,
        name="worker-action",
    ),
    path(
        "sign-in/",
        LoginView.as_view(
            template_name="studio/sign_in.html", redirect_authenticated_user=True
        ),
        name="sign-in",
    ),
    path("sign-out/", LogoutView.as_view(), name="sign-out"),
    path("settings/tokens/", tokens.tokens, name="tokens"),
    path(
        "settings/tokens/<int:token_id>/revoke/",
        tokens.token_revoked,
        name="token-revoke",
    ),
]
