from tests.factories import TaskFactory, TaskSuiteFactory


def test_tasks_are_found_by_suite_name_and_words(api):
    TaskFactory(name="click-test", title="Click the button.")
    TaskFactory(name="enter-text", title="Enter a word.", tags=["typing"])
    TaskFactory(
        name="fill-nth",
        title="Fill the field.",
        is_official=False,
        suite=TaskSuiteFactory(slug="oche", name="Ours"),
    )

    def found(**query):
        rows = api.get("/api/v1/tasks/", query).data["results"]
        return [row["full_name"] for row in rows]

    assert len(found()) == 3
    assert found(suite="oche") == ["miniwob/fill-nth"]
    assert found(is_official="false") == ["miniwob/fill-nth"]
    assert found(full_name="miniwob/enter-text") == ["miniwob/enter-text"]
    assert found(search="button") == ["miniwob/click-test"]


def test_tasks_are_found_by_what_they_need(api):
    TaskFactory(name="drag-box", category="dragging", needs_drag=True)
    TaskFactory(name="enter-text", category="typing", needs_text=True, has_oracle=True)

    def found(**query):
        rows = api.get("/api/v1/tasks/", query).data["results"]
        return [row["name"] for row in rows]

    assert found(category="dragging") == ["drag-box"]
    assert found(needs_text="true") == ["enter-text"]
    assert found(has_oracle="false") == ["drag-box"]


def test_a_task_says_what_it_is(api):
    task = TaskFactory(tags=["typing"], max_steps=7)

    answer = api.get(f"/api/v1/tasks/{task.pk}/").data

    assert answer["suite"] == "miniwob"
    assert (answer["tags"], answer["max_steps"]) == (["typing"], 7)


def test_suites_count_their_tasks(api):
    TaskFactory(name="a")
    TaskFactory(name="b")

    answer = api.get("/api/v1/suites/miniwob/").data

    assert (answer["name"], answer["num_tasks"]) == ("MiniWoB++", 2)
