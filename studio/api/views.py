"""The API of tokens and of the user, and the page that shows the whole API."""

from typing import Any

from django.contrib.auth.decorators import login_required
from django.db.models import QuerySet
from django.utils.decorators import method_decorator
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularSwaggerSplitView
from rest_framework import mixins, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from rest_framework.viewsets import GenericViewSet

from studio.api.serializers import (
    MeSerializer,
    TokenCreatedSerializer,
    TokenCreateSerializer,
    TokenSerializer,
)
from studio.common.http import AuthenticatedRequest
from studio.middleware import CONTENT_SECURITY_POLICY
from studio.models import ApiToken
from studio.tokens import token_create, token_revoke, tokens_of


class MeView(APIView):
    """Who you are."""

    @extend_schema(operation_id="me", responses=MeSerializer)
    def get(self, request: AuthenticatedRequest) -> Response:
        """Answer whom the token, or the session, speaks for."""
        return Response(MeSerializer(request.user).data)


class TokenViewSet(mixins.ListModelMixin, GenericViewSet[ApiToken]):
    """Your tokens."""

    request: AuthenticatedRequest
    queryset = ApiToken.objects.none()
    serializer_class = TokenSerializer
    lookup_value_converter = "int"

    def get_queryset(self) -> QuerySet[ApiToken]:
        """Return the user's own tokens; not even an administrator sees others'."""
        return tokens_of(self.request.user)

    @extend_schema(
        request=TokenCreateSerializer, responses={201: TokenCreatedSerializer}
    )
    def create(self, request: AuthenticatedRequest) -> Response:
        """Make a token; the answer holds its key, this once."""
        payload = TokenCreateSerializer(data=request.data)
        payload.is_valid(raise_exception=True)
        token, key = token_create(owner=request.user, **payload.validated_data)
        body = TokenSerializer(token).data | {"key": key}
        return Response(body, status=status.HTTP_201_CREATED)

    @extend_schema(responses={204: None})
    def destroy(self, request: AuthenticatedRequest, pk: int) -> Response:
        """Revoke a token at once."""
        token_revoke(token_id=pk, owner=request.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


@method_decorator(login_required, name="dispatch")
class DocsView(SpectacularSwaggerSplitView):
    """The API, browsable; every script and style comes from this server."""

    url_name = "api-schema"

    def finalize_response(
        self, request: Request, response: Response, *args: Any, **kwargs: Any
    ) -> Response:
        """Let Swagger's page have its inline style; scripts stay as strict as ever."""
        answer = super().finalize_response(request, response, *args, **kwargs)
        answer.headers["Content-Security-Policy"] = CONTENT_SECURITY_POLICY.replace(
            "style-src 'self'", "style-src 'self' 'unsafe-inline'"
        )
        return answer
