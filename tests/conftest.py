"""Fixtures shared by all tests."""

from pathlib import Path

import pytest
from django.contrib.auth.models import User
from rest_framework.test import APIClient

from tests.factories import UserFactory


@pytest.fixture
def alice(db: None) -> User:
    """Return the owner of what is under test."""
    return UserFactory.create(username="alice")


@pytest.fixture
def mallory(db: None) -> User:
    """Return a stranger, who must see none of it."""
    return UserFactory.create(username="mallory")


@pytest.fixture
def api(alice: User) -> APIClient:
    """Return a client of the API that alice is signed in to."""
    client = APIClient()
    client.force_authenticate(alice)
    return client


@pytest.fixture
def media(tmp_path: Path, settings) -> Path:
    """Return a media root of this test's own."""
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.MEDIA_ROOT.mkdir()
    return settings.MEDIA_ROOT
