import pydantic
import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError as DjangoValidationError
from rest_framework import exceptions, serializers
from rest_framework.test import APIRequestFactory
from rest_framework.views import APIView

from environments.errors import UnknownTask
from studio.errors import exception_handler, pydantic_mistakes
from training.config import RlConfig


def answer(error):
    class Failing(APIView):
        authentication_classes = permission_classes = ()

        def get(self, request):
            raise error

    return Failing.as_view()(APIRequestFactory().get("/"))


class Inner(serializers.Serializer):
    size = serializers.IntegerField(min_value=2)


class Outer(serializers.Serializer):
    name = serializers.CharField()
    items = Inner(many=True)


def test_every_mistake_in_the_input_is_named_by_its_path():
    serializer = Outer(data={"items": [{"size": 5}, {"size": 1}]})
    with pytest.raises(serializers.ValidationError) as caught:
        serializer.is_valid(raise_exception=True)

    response = answer(caught.value)

    assert response.status_code == 400
    assert response.data["code"] == "invalid"
    assert set(response.data["errors"]) == {"name", "items.1.size"}


def test_a_mistake_of_no_single_field_has_a_name_too():
    response = answer(serializers.ValidationError("begin before the end"))

    assert response.data["errors"] == {"non_field_errors": ["begin before the end"]}


def test_every_mistake_in_a_configuration_is_named_by_its_path():
    with pytest.raises(pydantic.ValidationError) as caught:
        RlConfig.model_validate(
            {"kind": "rl", "tasks": [], "grpo": {"group_size": 1}, "learing_rate": 1}
        )

    assert set(pydantic_mistakes(caught.value, under="config")) == {
        "config.tasks",
        "config.grpo.group_size",
        "config.learing_rate",
    }
    assert answer(caught.value).status_code == 400


def test_a_models_own_checks_answer_400():
    response = answer(DjangoValidationError({"name": ["too long"]}))

    assert response.data == {"code": "invalid", "errors": {"name": ["too long"]}}


def test_a_domain_error_answers_with_its_code_and_its_words():
    response = answer(UnknownTask("miniwob has no task 'x'"))

    assert response.status_code == 404
    assert response.data == {
        "code": "environments.unknown_task",
        "detail": "miniwob has no task 'x'",
    }


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (User.DoesNotExist(), 404, "not_found"),
        (exceptions.NotFound(), 404, "not_found"),
        (exceptions.PermissionDenied(), 403, "permission_denied"),
        (exceptions.MethodNotAllowed("PUT"), 405, "method_not_allowed"),
        (exceptions.ParseError(), 400, "parse_error"),
        (exceptions.Throttled(wait=3), 429, "throttled"),
    ],
)
def test_what_the_framework_raises_has_the_same_shape(error, status, code):
    response = answer(error)

    assert response.status_code == status
    assert response.data["code"] == code
    assert isinstance(response.data["detail"], str)


def test_a_bug_is_not_dressed_up():
    assert exception_handler(KeyError("/srv/secret"), {}) is None
