"""Named configurations to start from; every field can be changed."""

from typing import Any, Final

QUICKSTART_TASKS: Final = ("miniwob/fill-nth", "miniwob/click-collapsible")

PRESETS: Final[dict[str, dict[str, Any]]] = {
    "quickstart": {
        "kind": "rl",
        "preset": "quickstart",
        "policy": "oche-tiny",
        "tasks": QUICKSTART_TASKS,
        "max_optimizer_steps": 40,
        "stop_at_success": 0.97,
        "success_window": 256,
        "optimizer": {
            "learning_rate": 2e-4,
            "weight_decay": 0.0,
            "betas": (0.9, 0.99),
            "grad_clip": 1.0,
            "warmup_steps": 5,
            "micro_batch_rows": 64,
        },
        "grpo": {"group_size": 8, "groups_per_step": 8, "kl_coefficient": 0.0},
        "rollout": {"max_response_tokens": 24, "max_steps": 12},
        "asynchrony": {"max_staleness": 2},
    },
    "sft": {
        "kind": "sft",
        "preset": "sft",
        "policy": "oche-tiny",
        "max_optimizer_steps": 200,
        "checkpoint_every": 50,
        "batch_rows": 32,
        "optimizer": {
            "learning_rate": 1e-3,
            "matrix_learning_rate": 1e-3,
            "weight_decay": 0.0,
            "grad_clip": 1.0,
            "warmup_steps": 10,
            "decay": "linear",
            "micro_batch_rows": 64,
        },
    },
}
"""``dart`` and ``gui-r1`` come with the rules that they are named after."""
