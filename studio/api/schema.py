"""What drf-spectacular cannot guess: how a token is shown, what an error looks like."""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """``Authorization: Bearer oche_…``."""

    target_class = "studio.tokens.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        """Return the scheme as OpenAPI has it."""
        return {"type": "http", "scheme": "bearer", "bearerFormat": "oche_…"}


ERROR = {
    "type": "object",
    "required": ["code"],
    "properties": {
        "code": {"type": "string", "description": "Stable, for programs."},
        "detail": {"type": "string", "description": "For people."},
        "errors": {
            "type": "object",
            "description": "With code `invalid`: every mistake by its path.",
            "additionalProperties": {"type": "array", "items": {"type": "string"}},
        },
    },
}
REASONS = {
    "400": "Mistakes in what was sent",
    "401": "Not signed in, or the token is wrong",
    "404": "Not there, or not yours",
    "409": "The present state does not allow it",
}


def add_errors(
    result: dict[str, Any],
    generator: Any,
    request: Any,
    public: bool,  # noqa: FBT001 - spectacular calls it so
) -> dict[str, Any]:
    """Write the answers that every operation may give into the schema, once."""
    result["components"].setdefault("schemas", {})["Error"] = ERROR
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    for path, operations in result["paths"].items():
        for method, operation in operations.items():
            for code, reason in _reasons(path, method):
                operation["responses"].setdefault(
                    code, {"description": reason, "content": content}
                )
    return result


def _reasons(path: str, method: str) -> list[tuple[str, str]]:
    codes = ["401"]
    if method == "post":
        codes.append("400")
    if "{" in path:
        codes.append("404")
        if method == "post":
            codes.append("409")
    return [(code, REASONS[code]) for code in codes]
