"""Types of requests."""

from django.contrib.auth.models import User
from django.http import HttpRequest
from rest_framework.request import Request


class AuthenticatedRequest(Request):
    """An API request that a permission class has already let through."""

    user: User


class SignedInRequest(HttpRequest):
    """A page's request behind ``login_required``."""

    user: User
