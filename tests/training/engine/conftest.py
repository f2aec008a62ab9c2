"""A tiny untrained policy, made once, and rows for it."""

import json

import numpy as np
import pytest
from PIL import Image

from agents.tiny import save_policy
from agents.types import Prompt
from studio.common.frames import frame_save
from training.engine.model import TrainedPolicy
from training.engine.rows import Row

ANSWERS = ("<|click|><x3><y4>", "<|type|>Bob", "<|click|><x30><y10>", "<|complete|>")


def picture(shade):
    return Image.fromarray(np.full((160, 160, 3), shade, dtype=np.uint8))


def prompt(text, shade):
    content = [{"type": "image"}, {"type": "text", "text": text}]
    return Prompt(
        messages=[{"role": "user", "content": content}], images=[picture(shade)]
    )


@pytest.fixture(scope="session")
def policy_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("policy") / "tiny"
    save_policy(folder, seed=1)
    return folder


@pytest.fixture
def policy(policy_folder):
    return TrainedPolicy.load(policy_folder)


@pytest.fixture
def make_row(policy):
    def make(number, *, advantage=0.0):
        encoded = policy.processor.encode(
            prompt(f"Click button {'ONE ' * number}", 40 * number)
        )
        response = policy.processor.encode_response(ANSWERS[number % len(ANSWERS)])
        return Row(
            prompt_ids=encoded.input_ids,
            response_ids=response,
            images=encoded.images,
            advantage=advantage,
            behaviour_logprobs=np.full(len(response), -1.0, dtype=np.float32),
            versions=np.zeros(len(response), dtype=np.int32),
        )

    return make


@pytest.fixture
def rows_file(tmp_path):
    path = tmp_path / "rows.jsonl"
    lines = []
    for number, answer in enumerate(ANSWERS):
        asked = prompt(f"Do number {number}.", 50 * number)
        images = [frame_save(tmp_path, image) for image in asked.images]
        messages = [*asked.messages, {"role": "assistant", "content": answer}]
        lines.append(json.dumps({"messages": messages, "images": images}))
    path.write_text("\n".join(lines) + "\n")
    return path
