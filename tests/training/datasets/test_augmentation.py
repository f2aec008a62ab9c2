import random

from training.datasets.augmentation import augmented, retexted


def row(text, answer):
    content = [{"type": "image"}, {"type": "text", "text": text}]
    return {
        "messages": [
            {"role": "user", "content": content},
            {"role": "assistant", "content": answer},
        ],
        "images": ["0" * 64],
    }


def said(row):
    question, answer = row["messages"]
    return question["content"][1]["text"], answer["content"]


def test_another_text_stands_in_instruction_and_answer_alike():
    original = row('Enter "Bob" into the box.\n<|click|><x1><y2>', "<|type|>Bob")

    changed = retexted(original, random.Random(1))

    asked, answer = said(changed)
    fresh = answer.removeprefix("<|type|>")
    assert fresh != "Bob"
    assert asked == f'Enter "{fresh}" into the box.\n<|click|><x1><y2>'
    assert changed["images"] == original["images"]
    assert said(original)[1] == "<|type|>Bob", "the original is left alone"


def test_of_two_texts_only_the_one_that_is_typed_changes():
    original = row(
        'User "ann", password "x1".\n<|click|><x1><y2>\n<|type|>ann\n<|click|><x1><y9>',
        "<|type|>x1",
    )

    asked, answer = said(retexted(original, random.Random(1)))

    assert asked.startswith('User "ann", password "')
    assert answer.removeprefix("<|type|>") in asked


def test_a_text_that_the_screen_may_show_already_is_left_as_it_is():
    typed_before = row('Enter "Bob" twice.\n<|type|>Bob', "<|type|>Bob")

    assert retexted(typed_before, random.Random(1)) is None


def test_an_answer_that_types_nothing_has_no_other_text():
    assert retexted(row("Press Submit.", "<|click|><x1><y2>"), random.Random(1)) is None
    assert retexted(row("Type it.", "<|type|>Bob"), random.Random(1)) is None


def test_copies_are_added_and_a_seed_gives_the_same_ones():
    rows = [row('Type "Bob".', "<|type|>Bob"), row("Press Submit.", "<|complete|>")]

    once = augmented(rows, copies=2, seed=3)

    assert [said(r)[1][:8] for r in once] == ["<|type|>"] * 3 + ["<|comple"]
    assert once == augmented(rows, copies=2, seed=3)
