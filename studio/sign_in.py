"""The way in by a one-time link."""

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from studio.accounts import sign_in_link_use
from studio.errors import LinkSpent

BACKEND = "django.contrib.auth.backends.ModelBackend"


@never_cache
@require_GET
def sign_in_by_link(request: HttpRequest, token: str) -> HttpResponse:
    """Sign in whom the link was made for, once; otherwise lead to the form."""
    try:
        user = sign_in_link_use(key=token)
    except LinkSpent as error:
        messages.error(request, f"Not signed in: {error}.")
        return redirect(settings.LOGIN_URL)
    login(request, user, backend=BACKEND)
    return redirect(settings.LOGIN_REDIRECT_URL)
