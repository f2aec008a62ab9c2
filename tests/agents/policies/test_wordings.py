import random

import pytest

from agents.policies.wordings import random_text, rephrase


@pytest.mark.parametrize(
    ("task", "instruction", "words"),
    [
        ("enter-text", 'Enter "Bob" into the text field and press Submit.', ["Bob"]),
        (
            "enter-password",
            'Enter the password "x1Y" into both text fields and press submit.',
            ["x1Y"],
        ),
        (
            "login-user",
            'Enter the username "keli" and the password "1b" into the text fields and '
            "press login.",
            ["keli", "1b"],
        ),
        ("focus-text-2", "Focus into the 3rd input textbox.", ["3rd"]),
        ("click-tab", "Click on Tab #2.", ["2"]),
        ("click-option", "Select TC and click Submit.", ["TC"]),
        ("click-color", "Click on the magenta colored box.", ["magenta"]),
        ("click-link", 'Click on the link "Sapien".', ["Sapien"]),
    ],
)
def test_an_instruction_has_five_wordings_that_keep_what_matters(
    task: str, instruction: str, words: list[str]
):
    rng = random.Random(1)

    said = {rephrase(task, instruction, rng) for _ in range(200)}

    assert len(said) == 5
    assert instruction in said
    assert all(word in sentence for sentence in said for word in words)


def test_a_sentence_that_is_not_understood_stays_as_it_is():
    rng = random.Random(1)

    assert rephrase("click-tab", "Do something.", rng) == "Do something."
    assert rephrase("no-such-task", "Do it.", rng) == "Do it."


def test_the_task_that_is_to_be_composed_has_no_other_wordings():
    instruction = 'Enter "Bob" into the 2nd input textbox and press Submit.'
    rng = random.Random(1)

    assert {rephrase("fill-nth", instruction, rng) for _ in range(20)} == {instruction}


def test_texts_to_type_are_short_and_of_many_kinds():
    rng = random.Random(1)

    texts = [random_text(rng) for _ in range(500)]

    assert all(2 <= len(text) <= 8 and text.isalnum() for text in texts)
    assert any(text.isdigit() for text in texts)
    assert any(text.isupper() for text in texts)
    assert len(set(texts)) > 250
