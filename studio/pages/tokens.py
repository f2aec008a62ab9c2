"""The settings page of API tokens: made, shown once, revoked."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from studio.common.http import SignedInRequest
from studio.models import ApiToken
from studio.tokens import token_create, token_revoke, tokens_of


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def tokens(request: SignedInRequest) -> HttpResponse:
    """List the user's tokens; a new one's key is in this answer and nowhere else."""
    context: dict[str, object] = {"nav": "settings", "name": "", "errors": []}
    if request.method == "POST":
        name = request.POST.get("name", "").strip()
        try:
            context["made"], context["key"] = token_create(
                owner=request.user, name=name
            )
        except ValidationError as error:
            context |= {"name": name, "errors": _messages(error)}
    context["tokens"] = tokens_of(request.user)
    return render(request, "studio/tokens.html", context)


@login_required
@require_POST
def token_revoked(request: SignedInRequest, token_id: int) -> HttpResponse:
    """Make a token open nothing from now on."""
    try:
        token = token_revoke(token_id=token_id, owner=request.user)
    except ApiToken.DoesNotExist as error:
        raise Http404 from error
    messages.success(request, f"{token.name} opens nothing any more.")
    return redirect(reverse("pages:tokens"))


def _messages(error: ValidationError) -> list[str]:
    if "name" in error.message_dict:
        return ["Say what the token is for, in at most 100 characters."]
    return error.messages
