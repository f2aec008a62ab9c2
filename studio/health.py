"""Whether this process can answer at all."""

from django.http import HttpRequest, JsonResponse


async def healthz(request: HttpRequest) -> JsonResponse:
    """Answer at once, without touching the database: is the web process there?"""
    return JsonResponse({"status": "ok"})
