"""The built-in engine, with a small real model."""

import json
import shutil
import threading
import time
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from agents.errors import InferenceFailed, PolicyInvalid
from agents.inference.engines import batch, sampling, transformers
from agents.inference.engines.base import BadPrompt, ModelNotLoaded
from agents.inference.engines.transformers import TransformersEngine
from agents.inference.types import Weights
from tests.agents.inference.helpers import (
    picture,
    plain_logprobs,
    prompt,
    request,
)

CHATS = [
    prompt(),
    prompt("Click on the button.", picture(1)),
    prompt("Two of them: which one is the dialog?", picture(2), picture(3)),
    prompt("Type.\n<|type|>Bob\n<|click|><x3><y4>\n<|key|>Enter", picture(1)),
]


def answers(engine, requests):
    futures = [engine.submit(request) for request in requests]
    return [future.result(timeout=30) for future in futures]


def watch_batches(monkeypatch):
    """Return a list that will hold how many rows each draw had."""
    sizes = []

    def watched(logits, **options):
        sizes.append(len(logits))
        return sampling.draw(logits, **options)

    monkeypatch.setattr(batch, "draw", watched)
    return sizes


def test_a_batch_answers_as_one_by_one(engine):
    requests = [request(chat) for chat in CHATS]

    alone = [answers(engine, [request])[0] for request in requests]
    together = answers(engine, requests)

    for one, other in zip(alone, together, strict=True):
        assert one.token_ids == other.token_ids
        assert one.prompt_token_ids == other.prompt_token_ids
        np.testing.assert_allclose(one.logprobs, other.logprobs, atol=1e-4)
        np.testing.assert_allclose(one.entropies, other.entropies, atol=1e-4)


@pytest.mark.parametrize("temperature", [1.0, 0.7])
def test_logprobs_are_those_of_a_plain_forward_pass(engine, policies, temperature):
    requests = [
        request(chat, temperature=temperature, seed=number)
        for number, chat in enumerate(CHATS)
    ]

    for chat, sampled in zip(CHATS, answers(engine, requests), strict=True):
        logprobs, entropies = plain_logprobs(
            policies / "0", chat, sampled, temperature=temperature
        )
        np.testing.assert_allclose(sampled.logprobs, logprobs, atol=1e-4)
        np.testing.assert_allclose(sampled.entropies, entropies, atol=1e-4)


def test_requests_that_join_a_running_batch_are_answered_as_alone(
    weights_of, monkeypatch
):
    engine = TransformersEngine(company_wait_s=0.0)
    engine.load("run-a", weights_of("0"))
    lengths = [40, 8, 23, 60]
    requests = [
        request(chat, max_tokens=length)
        for chat, length in zip(CHATS, lengths, strict=True)
    ]
    alone = [answers(engine, [request])[0] for request in requests]

    sizes = watch_batches(monkeypatch)
    futures = [engine.submit(requests[0])]
    for one in requests[1:]:
        seen = len(sizes)
        while len(sizes) < seen + 3 and not futures[-1].done():
            time.sleep(0.001)
        futures.append(engine.submit(one))
    joined = [future.result(timeout=30) for future in futures]
    engine.stop()

    for one, other in zip(alone, joined, strict=True):
        assert one.token_ids == other.token_ids
        np.testing.assert_allclose(one.logprobs, other.logprobs, atol=1e-4)
    assert max(sizes) > 1


def test_a_seed_repeats_an_answer_whatever_else_is_in_the_batch(engine):
    seeded = request(temperature=1.0, seed=7)
    others = [request(chat, temperature=1.0) for chat in CHATS]

    first = answers(engine, [seeded])[0]
    second = answers(engine, [*others, seeded])[-1]

    assert first.token_ids == second.token_ids


def test_without_a_seed_answers_differ(engine):
    sampled = answers(engine, [request(temperature=1.0) for _ in range(3)])

    assert len({tuple(one.token_ids) for one in sampled}) > 1


def test_structural_tokens_are_never_sampled(policies, processor, weights_of, tmp_path):
    # A model that likes nothing more than to open a picture.
    shutil.copytree(policies / "0", tmp_path / "p")
    tensors = load_file(tmp_path / "p" / "model.safetensors")
    banned = list(processor.banned_token_ids)
    embedding = tensors["model.language_model.embed_tokens.weight"]
    embedding[banned] *= 40
    save_file(tensors, tmp_path / "p" / "model.safetensors", metadata={"format": "pt"})
    engine = TransformersEngine()
    engine.load("run-a", weights_of(str(tmp_path / "p")))

    sampled = answers(engine, [request(temperature=1.0, seed=s) for s in range(20)])
    engine.stop()

    assert not {token for one in sampled for token in one.token_ids} & set(banned)


def test_an_answer_is_cut_at_max_tokens(engine):
    sampled = answers(engine, [request(max_tokens=n) for n in (1, 5)])

    assert [len(one.token_ids) for one in sampled] == [1, 5]
    assert {one.finish_reason for one in sampled} == {"length"}


def test_an_answer_ends_with_the_end_of_turn_token(engine, processor):
    sampled = answers(
        engine, [request(temperature=5.0, seed=s, max_tokens=100) for s in range(32)]
    )

    ended = [one for one in sampled if one.finish_reason == "stop"]
    assert ended
    for one in ended:
        assert one.token_ids[-1] in processor.stop_token_ids
        assert not set(one.token_ids[:-1]) & set(processor.stop_token_ids)
        assert "<|im_end|>" not in one.text
        assert len(one.token_texts) == len(one.token_ids)


def test_new_weights_answer_as_if_loaded_afresh(engine, policies, weights_of):
    before = answers(engine, [request()])[0]

    engine.load("run-a", weights_of("1", version=3))
    after = answers(engine, [request()])[0]

    assert before.versions == [0] * 8
    assert after.versions == [3] * 8
    # The picture is the same: its features must not be those of the old weights.
    logprobs, _ = plain_logprobs(policies / "1", prompt(), after)
    np.testing.assert_allclose(after.logprobs, logprobs, atol=1e-4)
    assert before.logprobs != after.logprobs


def test_the_same_version_with_other_weights_is_loaded(engine, policies, weights_of):
    answers(engine, [request()])

    engine.load("run-a", weights_of("1", version=0))
    after = answers(engine, [request()])[0]

    logprobs, _ = plain_logprobs(policies / "1", prompt(), after)
    np.testing.assert_allclose(after.logprobs, logprobs, atol=1e-4)


def test_swaps_under_load_lose_no_request_and_mix_no_answer(
    engine, policies, weights_of
):
    chats = [prompt("Click.", picture(n % 3)) for n in range(6)]
    stop = threading.Event()

    def swap():
        version = 1
        while not stop.is_set():
            engine.load("run-a", weights_of(str(version % 2), version=version))
            version += 1

    swapper = threading.Thread(target=swap)
    swapper.start()
    sampled = []
    try:
        for _ in range(5):
            sampled += answers(engine, [request(chat) for chat in chats])
    finally:
        stop.set()
        swapper.join()

    assert len(sampled) == 30
    assert len({one.versions[0] for one in sampled}) > 2
    for number, one in enumerate(sampled):
        assert len(set(one.versions)) == 1
        folder = policies / str(one.versions[0] % 2)
        if number % 8 == 0:
            logprobs, _ = plain_logprobs(folder, chats[number % 6], one)
            np.testing.assert_allclose(one.logprobs, logprobs, atol=1e-4)


def test_a_swap_takes_less_than_50_ms(engine, weights_of):
    resident = engine._lanes["run-a"].resident
    took = []
    for version in range(1, 4):
        weights = weights_of(str(version % 2), version=version)
        tensors = resident.read_update(weights)
        # Of this thread: how busy the machine is must not matter.
        started = time.thread_time()
        resident.swap(weights, tensors)
        took.append(time.thread_time() - started)

    assert min(took) < 0.05


def test_a_model_that_is_not_loaded_is_refused(engine):
    with pytest.raises(ModelNotLoaded, match="run-b is not loaded here; loaded: run-a"):
        engine.submit(request(model="run-b"))


def test_the_model_used_longest_ago_is_dropped_for_the_seventh(engine, weights_of):
    for name in "bcdef":
        engine.load(f"run-{name}", weights_of("1"))
    answers(engine, [request(model="run-a")])

    engine.load("run-g", weights_of("1"))

    assert set(engine.state().models) == {f"run-{name}" for name in "acdefg"}


def test_models_answer_each_with_their_own_weights(engine, policies, weights_of):
    engine.load("run-b", weights_of("1", version=9))

    a, b = answers(engine, [request(model="run-a"), request(model="run-b")])

    assert (a.versions[0], b.versions[0]) == (0, 9)
    for folder, sampled in (("0", a), ("1", b)):
        logprobs, _ = plain_logprobs(policies / folder, prompt(), sampled)
        np.testing.assert_allclose(sampled.logprobs, logprobs, atol=1e-4)


def test_another_file_than_announced_is_refused_and_the_old_weights_stay(
    engine, weights_of
):
    announced = weights_of("1", version=1)
    wrong = Weights(path=announced.path, sha256="0" * 64, version=1)

    with pytest.raises(
        PolicyInvalid, match=f"has sha256 {announced.sha256}, expected 0"
    ):
        engine.load("run-a", wrong)

    assert answers(engine, [request()])[0].versions[0] == 0


def damaged(policies, tmp_path, change):
    shutil.copytree(policies / "1", tmp_path / "bad")
    path = tmp_path / "bad" / "model.safetensors"
    tensors = load_file(path)
    change(tensors)
    save_file(tensors, path, metadata={"format": "pt"})
    return str(tmp_path / "bad")


@pytest.mark.parametrize("name", ["run-a", "run-new"])
def test_a_missing_tensor_is_named(engine, policies, weights_of, tmp_path, name):
    norm = "model.language_model.norm.weight"
    bad = damaged(policies, tmp_path, lambda tensors: tensors.pop(norm))

    with pytest.raises(PolicyInvalid, match=f"{norm} is missing"):
        engine.load(name, weights_of(bad, version=1))


def test_a_tensor_of_another_shape_is_named(engine, policies, weights_of, tmp_path):
    norm = "model.language_model.norm.weight"
    bad = damaged(policies, tmp_path, lambda t: t.update({norm: torch.ones(64)}))

    with pytest.raises(PolicyInvalid, match=f"{norm} is 64, expected 128"):
        engine.load("run-a", weights_of(bad, version=1))


def test_another_architecture_is_refused(engine, policies, weights_of, tmp_path):
    shutil.copytree(policies / "1", tmp_path / "bad")
    config = json.loads((tmp_path / "bad" / "config.json").read_text())
    config["text_config"]["num_attention_heads"] = 2
    (tmp_path / "bad" / "config.json").write_text(json.dumps(config))

    with pytest.raises(PolicyInvalid, match="another architecture"):
        engine.load("run-a", weights_of(str(tmp_path / "bad"), version=1))


def test_a_folder_without_weights_is_refused(engine, tmp_path):
    nothing = Weights(path=str(tmp_path), sha256="0" * 64, version=1)

    with pytest.raises(PolicyInvalid, match="cannot read"):
        engine.load("run-b", nothing)


def test_a_file_that_is_no_picture_is_a_bad_prompt(engine):
    with pytest.raises(BadPrompt, match="cannot read a picture"):
        engine.submit(replace(request(), images=[b"GIF89a and then nothing"]))


def test_a_prompt_that_does_not_fit_is_a_bad_prompt(engine):
    with pytest.raises(BadPrompt, match="do not fit into the model's 2048"):
        engine.submit(request(max_tokens=2040))


def test_a_chat_without_its_picture_is_a_bad_prompt(engine):
    with pytest.raises(BadPrompt, match="1 picture placeholders but 0 pictures"):
        engine.submit(replace(request(), images=[]))


def test_a_failure_of_the_model_reaches_the_askers_and_the_engine_lives(
    engine, monkeypatch
):
    model = engine._lanes["run-a"].resident.model
    monkeypatch.setattr(
        model,
        "forward",
        lambda **_: (_ for _ in ()).throw(RuntimeError("out of memory")),
    )
    with pytest.raises(InferenceFailed, match="out of memory"):
        answers(engine, [request()])
    monkeypatch.undo()

    assert answers(engine, [request()])[0].finish_reason == "length"
    assert engine.state().in_flight == 0


def test_a_stopped_engine_fails_what_is_waiting(weights_of):
    engine = TransformersEngine(company_wait_s=60.0)
    engine.load("run-a", weights_of("0"))
    future = engine.submit(request())

    engine.stop()

    with pytest.raises(InferenceFailed, match="stopped"):
        future.result(timeout=5)


def test_the_state_counts_tokens_and_busy_time(engine):
    started = time.monotonic()
    answers(engine, [request(max_tokens=5), request(max_tokens=3)])

    state = engine.state()

    assert state.tokens_sampled == 8
    assert state.in_flight == state.waiting == 0
    assert 0.0 < state.busy_seconds <= time.monotonic() - started


def test_one_picture_passes_the_vision_tower_once_for_all_siblings(engine, monkeypatch):
    resident = engine._lanes["run-a"].resident
    seen = []
    original = resident.model.get_image_features

    def watch(pixel_values, grid_thw, **options):
        seen.append(len(grid_thw))
        return original(pixel_values, grid_thw, **options)

    monkeypatch.setattr(resident.model, "get_image_features", watch)

    answers(engine, [request() for _ in range(8)])
    answers(engine, [request()])

    assert seen == [1]


def test_the_wait_for_company_is_short():
    assert transformers.COMPANY_WAIT_S <= 0.005
