import pytest
from django.urls import reverse

from tests.factories import TaskFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def signed_in(client, alice):
    client.force_login(alice)
    return client


def test_tasks_are_filtered_by_text_suite_and_origin(signed_in):
    official = TaskFactory.create(name="click-tab", title="Click on tab 2.")
    ours = TaskFactory.create(name="fill-nth", title="Fill it.", is_official=False)

    def listed(**query):
        response = signed_in.get(reverse("environments:tasks"), query)
        return list(response.context["tasks"])

    assert listed() == [official, ours]
    assert listed(origin="ours") == [ours]
    assert listed(q="tab 2") == [official]
    assert listed(suite="miniwob") == [official, ours]
    assert listed(suite="other") == []


def test_tasks_are_filtered_by_kind_and_by_what_they_need(signed_in):
    typed = TaskFactory.create(name="enter-text", category="typing", needs_text=True)
    known = TaskFactory.create(name="click-tab", category="clicking", has_oracle=True)
    plain = TaskFactory.create(name="unknown")

    def listed(**query):
        response = signed_in.get(reverse("environments:tasks"), query)
        return list(response.context["tasks"])

    assert listed(category="typing") == [typed]
    assert listed(need="text") == [typed]
    assert listed(need="oracle") == [known]
    assert listed(category="typing", need="oracle") == []
    assert listed(need="nonsense") == [known, typed, plain]


def test_an_empty_catalogue_says_what_fills_it(signed_in):
    page = signed_in.get(reverse("environments:tasks")).content.decode()

    assert "The catalogue is empty" in page


def test_a_task_shows_its_limits(signed_in):
    TaskFactory.create(name="click-tab", max_steps=4)

    page = signed_in.get("/tasks/miniwob/click-tab/").content.decode()

    assert "at most 4 actions per episode" in page
    assert "miniwob/click-tab" in page


def test_a_task_says_what_it_needs(signed_in):
    TaskFactory.create(
        name="drag-box", category="dragging", typical_steps=2, needs_drag=True
    )

    page = signed_in.get("/tasks/miniwob/drag-box/").content.decode()

    assert "2 actions, as a rule" in page
    assert "?category=dragging" in page
    assert '<span class="chip">dragging</span>' in page
    assert '<span class="chip">scrolling</span>' not in page


def test_a_task_that_does_not_exist_is_not_found(signed_in):
    assert signed_in.get("/tasks/miniwob/nope/").status_code == 404


def test_a_visitor_is_led_to_the_sign_in_page(client):
    assert client.get("/tasks/").url == "/sign-in/?next=/tasks/"
