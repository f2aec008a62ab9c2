from typing import Any

import pytest

from training.datasets.formats.hf_messages import parse_conversation
from training.datasets.types import Conversation, Limits, RecordInvalid


def parse(record: dict[str, Any], **limits: int) -> Conversation:
    return parse_conversation(record, limits=Limits(**limits))


def chat(*contents: Any, **more: Any) -> dict[str, Any]:
    """Return a record whose messages come from user and assistant in turn."""
    roles = ("user", "assistant")
    messages = [
        {"role": roles[index % 2], "content": content}
        for index, content in enumerate(contents)
    ]
    return {"messages": messages, **more}


def mistake(record: dict[str, Any], **limits: int) -> tuple[str, str]:
    with pytest.raises(RecordInvalid) as caught:
        parse(record, **limits)
    return caught.value.field, caught.value.reason


def parts(record: dict[str, Any], index: int = 0) -> list[str | int]:
    return list(parse(record).messages[index].parts)


def test_a_picture_stands_where_its_placeholder_stands():
    record = chat("<image>a <image>\nb<image>", "yes", images=["1", "2", "3"])

    assert parts(record) == [0, "a ", 1, "\nb", 2]
    assert parse(record).images == ["1", "2", "3"]


def test_a_placeholder_may_come_in_a_later_turn():
    record = chat("<image>who?", "he", "and now?<image>", "she", images=["1", "1"])

    assert parts(record, 0) == [0, "who?"]
    assert parts(record, 2) == ["and now?", 1]


def test_conversations_from_qwen_and_llama_factory_are_the_same_thing():
    record = {
        "image": "a.png",
        "conversations": [
            {"from": "human", "value": "where?\n<image>"},
            {"from": "gpt", "value": "there"},
        ],
    }

    conversation = parse(record)

    assert [message.role for message in conversation.messages] == ["user", "assistant"]
    assert parts(record) == ["where?\n", 0]
    assert conversation.images == ["a.png"]
    assert conversation.image_fields == ["image"]


def test_a_system_message_comes_first_wherever_it_is_written():
    beside = chat("a", "b", system="be brief")
    within = {
        "messages": [
            {"role": "system", "content": "be brief"},
            *chat("a", "b")["messages"],
        ]
    }

    assert parse(beside).messages == parse(within).messages
    assert parse(beside).messages[0].parts == ["be brief"]


def test_an_empty_system_message_is_none():
    record = chat("a", "b", system="")
    record["messages"].insert(0, {"role": "system", "content": ""})

    assert [message.role for message in parse(record).messages] == ["user", "assistant"]


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image"},
        {"type": "image", "image": "a.png"},
        {"type": "image", "path": "a.png"},
        {"type": "image_url", "image_url": {"url": "a.png"}},
        {"type": "image_url", "value": "a.png"},
    ],
)
def test_a_list_of_parts_may_name_its_pictures_in_many_ways(part):
    images = ["a.png"] if part == {"type": "image"} else []
    record = chat([part, {"type": "text", "text": "go"}], "yes", images=images)

    assert parts(record) == [0, "go"]
    assert parse(record).images == ["a.png"]


def test_text_parts_may_be_called_value_and_neighbours_are_joined():
    record = chat(
        [{"type": "text", "value": "a"}, {"type": "text", "text": "b"}],
        [{"type": "text", "value": "yes"}],
    )

    assert parts(record) == ["ab"]
    assert parts(record, 1) == ["yes"]


def test_every_answer_is_learned_unless_its_weight_is_none():
    record = chat("a", "b", "c", "d", "e", "f")
    record["messages"][1]["loss_weight"] = 0.0
    record["messages"][3]["loss_mask"] = 0

    learned = [message.is_learned for message in parse(record).messages]

    assert learned == [False, False, False, False, False, True]


def test_answers_in_a_row_are_history_and_answer():
    record = chat("a", "b")
    record["messages"].append({"role": "assistant", "content": "c"})

    assert [message.is_learned for message in parse(record).messages] == [
        False,
        True,
        True,
    ]


@pytest.mark.parametrize(
    ("record", "field", "reason"),
    [
        ({}, "messages", "none (nor conversations)"),
        ({"messages": []}, "messages", "found []"),
        ({"conversations": "hi"}, "conversations", "found 'hi'"),
        ({"messages": ["hi"]}, "messages[0]", "expected a message, found 'hi'"),
        (
            {"messages": [{"role": "tool", "content": "x"}]},
            "messages[0].role",
            "found 'tool', expected one of system, user",
        ),
        (
            {"conversations": [{"from": ["human"], "value": "x"}]},
            "conversations[0].from",
            "found ['human']",
        ),
        (chat(None, "b"), "messages[0].content", "found None"),
        (chat("", "b"), "messages[0].content", "the message is empty"),
        (chat("a", " "), "messages[1].content", "the answer is empty"),
        (chat("a"), "messages", "no answer to learn from"),
        (
            chat("a", "<image>", images=["1"]),
            "messages[1].content",
            "image in an answer",
        ),
        (chat("<image>a", "b"), "images", "1 <image> placeholders but 0 images"),
        (
            chat("a", "b", images=["1"]),
            "images",
            "0 <image> placeholders but 1 images",
        ),
        (chat("a<image>", "b", image=7), "image", "expected a path or a list, found 7"),
        (
            chat("<image>a", "b", images=[{"bytes": "…"}]),
            "images[0]",
            "expected a path",
        ),
        (chat("a<video>", "b", videos=["1.mp4"]), "videos", "cannot be learned"),
        (chat("a<video>", "b"), "messages[0].content", "found <video>"),
        (chat("a", "b", tools="[{}]"), "tools", "cannot be learned"),
        (
            chat([{"type": "audio"}], "b"),
            "messages[0].content[0].type",
            "expected text, image or image_url, found 'audio'",
        ),
        (chat([{"type": "text"}], "b"), "messages[0].content[0].text", "found None"),
        (
            chat([{"type": "image", "image": 7}], "b"),
            "messages[0].content[0].image",
            "found 7",
        ),
        (chat("a\ud800", "b"), "messages[0].content", "surrogate"),
        (
            chat("<|vision_start|><|image_pad|>a", "b"),
            "messages[0].content",
            "found <|vision_start|>",
        ),
        (
            {"messages": [{"role": "assistant", "content": "b"}]},
            "messages",
            "expected a user message first, found assistant",
        ),
        (
            {
                "messages": [
                    *chat("a", "b")["messages"],
                    {"role": "system", "content": "c"},
                ]
            },
            "messages",
            "only at the start",
        ),
    ],
)
def test_the_first_mistake_is_named_with_its_field(record, field, reason):
    found_field, found_reason = mistake(record)

    assert found_field == field
    assert reason in found_reason


def test_a_weight_that_is_neither_none_nor_one_is_refused():
    record = chat("a", "b")
    record["messages"][1]["loss_weight"] = 0.5

    assert mistake(record)[0] == "messages[1].loss_weight"


def test_conversations_and_pictures_are_bounded():
    assert (
        "4 messages, more than the 3"
        in mistake(chat("a", "b", "c", "d"), max_messages=3)[1]
    )
    assert (
        "2 images, more than the 1"
        in mistake(
            chat("<image><image>", "b", images=["1", "2"]), max_images_per_record=1
        )[1]
    )
