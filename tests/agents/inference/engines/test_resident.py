import shutil
from dataclasses import replace

import torch

from agents.inference.engines.resident import ResidentModel


def test_a_model_in_memory_does_not_change_with_its_file(weights_of, tmp_path):
    weights = weights_of("0")
    folder = tmp_path / "policy"
    shutil.copytree(weights.path, folder)
    resident = ResidentModel.load("run-a", replace(weights, path=str(folder)))
    before = [tensor.clone() for tensor in resident.model.parameters()]

    file = folder / "model.safetensors"
    size = file.stat().st_size
    with file.open("r+b") as rewritten:
        rewritten.write(b"\x7f" * size)

    now = list(resident.model.parameters())
    assert all(map(torch.equal, before, now))

    with file.open("wb"):
        pass  # Shorter than what was mapped: to touch that would end the process.

    assert all(map(torch.equal, before, now))
