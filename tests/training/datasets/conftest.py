"""Fixtures of the import's tests."""

from pathlib import Path

import pytest

from tests.training.datasets.helpers import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """Return a folder to import in."""
    return Desk(tmp_path)
