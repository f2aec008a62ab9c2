"""The two walls, as running code sees them."""

import subprocess
import sys
import tomllib
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
APPS = ("environments", "agents", "training")
SHELL = {
    *("admin", "api", "apps", "consumers", "events", "management", "migrations"),
    *("models", "page_urls", "pages", "routing", "selectors", "services", "states"),
    *("tasks", "__init__", "__pycache__"),
}
NO_CODE = {"agents.bundled"}


def contract(name):
    config = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
    contracts = config["tool"]["importlinter"]["contracts"]
    return next(found for found in contracts if found["name"] == name)


def python(code):
    result = subprocess.run(
        [sys.executable, "-c", code],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return result.stdout.strip()


def test_every_module_is_either_shell_or_held_to_know_no_django():
    core = set(contract("The core knows no Django")["source_modules"])
    modules = {
        f"{app}.{path.stem}"
        for app in APPS
        for path in (REPOSITORY / app).iterdir()
        if path.stem not in SHELL and (path.is_dir() or path.suffix == ".py")
    }

    assert modules - core - NO_CODE == set()


def test_the_pages_are_served_without_torch():
    loaded = python(
        "import studio.asgi, django.urls, sys;"
        "django.urls.get_resolver().url_patterns;"
        "print([m for m in ('torch', 'transformers') if m in sys.modules])"
    )

    assert loaded == "[]"


def test_an_inference_worker_and_an_engine_run_without_django():
    loaded = python(
        "import agents.inference.server, training.engine.protocol, sys;"
        "print([m for m in ('django', 'celery') if m in sys.modules])"
    )

    assert loaded == "[]"
