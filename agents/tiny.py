"""Makes an untrained ``oche-tiny``: a Qwen3-VL of 1.5 M parameters, tokenizer included.

The classes are the stock ones of transformers, so whatever loads a Qwen3-VL (vLLM
too) loads it. Head sizes are 32, the smallest that vLLM serves.
"""

import json
from pathlib import Path
from typing import Final

import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    PreTrainedTokenizerFast,
    Qwen2VLImageProcessor,
    Qwen3VLConfig,
    Qwen3VLForConditionalGeneration,
)

from agents.formats import compact

PICTURE_PX: Final = 160
"""Side of the square picture that the model sees."""
PATCH_PX: Final = 16

TURN_START: Final = "<|im_start|>"
TURN_END: Final = "<|im_end|>"
PAD: Final = "<|endoftext|>"
VISION_TOKENS: Final = (
    "<|vision_start|>",
    "<|vision_end|>",
    "<|image_pad|>",
    "<|video_pad|>",
)

CHAT_TEMPLATE: Final = (
    "{% for message in messages %}"
    "{% if message.role == 'user' %}<|im_start|>{% endif %}"
    "{% if message.content is string %}{{ message.content }}"
    "{% else %}{% for part in message.content %}"
    "{% if part.type == 'text' %}{{ part.text }}"
    "{% elif part.type in ['image', 'image_url'] %}"
    "<|vision_start|><|image_pad|><|vision_end|>"
    "{% endif %}{% endfor %}{% endif %}<|im_end|>"
    "{% endfor %}"
)
"""No generation prompt: after a user's ``<|im_end|>`` the answer begins."""

CORPUS: Final = """
Enter the username and the password into the text fields and press login
Enter into the text field and press Submit
Type in the first second third last input textbox and press Submit
Focus into the 1st 2nd 3rd input textbox field box
Click on the button link tab dialog widget checkbox radio
Select and click Submit then click button Tab
Close the dialog box by clicking the x
Click the button in the dialog box labeled OK Cancel
Expand the section below and click submit
Switch between the tabs to find and click on the link
Search for the email and forward reply delete star
Choose from the drop down list menu item option
Use the slider color date time number text area paste copy
Press Enter key Password Verify both Username both User name
Put Write Fill Insert Open Go to Show Hide Move Drag Scroll Find Pick Tap Hit Push
"""
"""Words that instructions are made of. Names and random strings are left out on
purpose: they fall apart into letters, which are easier to copy."""


def build_tokenizer() -> PreTrainedTokenizerFast:
    """Train the byte-level tokenizer on ``CORPUS``; the result is always the same."""
    specials = [PAD, TURN_START, TURN_END, *VISION_TOKENS]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=512,
        special_tokens=specials,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(CORPUS.strip().splitlines(), trainer)
    # Not "special" ones: skip_special_tokens must keep what an answer is made of.
    tokenizer.add_tokens(
        [AddedToken(token, normalized=False) for token in compact.SPECIAL_TOKENS]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token=TURN_END,
        pad_token=PAD,
        additional_special_tokens=[TURN_START, *VISION_TOKENS],
        chat_template=CHAT_TEMPLATE,
        clean_up_tokenization_spaces=False,
        padding_side="left",
        model_max_length=2048,
    )


def build_config(tokenizer: PreTrainedTokenizerFast) -> Qwen3VLConfig:
    """Return the shape of ``oche-tiny`` for a tokenizer."""
    ids = {
        name: tokenizer.convert_tokens_to_ids(token)
        for name, token in {
            "vision_start_token_id": "<|vision_start|>",
            "vision_end_token_id": "<|vision_end|>",
            "image_token_id": "<|image_pad|>",
            "video_token_id": "<|video_pad|>",
        }.items()
    }
    vision = {
        "depth": 3,
        "hidden_size": 96,
        "intermediate_size": 288,
        "num_heads": 3,
        "patch_size": PATCH_PX,
        "spatial_merge_size": 2,
        "temporal_patch_size": 1,
        "out_hidden_size": 128,
        "num_position_embeddings": (PICTURE_PX // PATCH_PX) ** 2,
        "deepstack_visual_indexes": [1],
    }
    text = {
        "vocab_size": len(tokenizer),
        "hidden_size": 128,
        "intermediate_size": 384,
        "num_hidden_layers": 3,
        "num_attention_heads": 4,
        "num_key_value_heads": 4,
        "head_dim": 32,
        "max_position_embeddings": 2048,
        "pad_token_id": tokenizer.pad_token_id,
        "bos_token_id": None,
        "eos_token_id": tokenizer.eos_token_id,
        "tie_word_embeddings": True,
        "rope_parameters": {
            "rope_type": "default",
            "rope_theta": 10_000.0,
            "mrope_section": [6, 5, 5],
            "mrope_interleaved": True,
        },
    }
    return Qwen3VLConfig(
        text_config=text, vision_config=vision, tie_word_embeddings=True, **ids
    )


def build_model(
    config: Qwen3VLConfig, *, seed: int = 0
) -> Qwen3VLForConditionalGeneration:
    """Return a model with random weights, float32, on the CPU.

    Linear layers start at a standard deviation of 1/√fan-in: with the 0.02 of large
    models, a network of this size hardly begins to learn.
    """
    torch.manual_seed(seed)
    model = Qwen3VLForConditionalGeneration(config).float()
    for module in model.modules():
        if isinstance(module, torch.nn.Linear | torch.nn.Conv3d):
            fan_in = module.weight[0].numel()
            torch.nn.init.normal_(module.weight, std=fan_in**-0.5)
            if module.bias is not None:
                torch.nn.init.zeros_(module.bias)
    # The tied output layer is a Linear too, but it is the embedding: keep it small.
    torch.nn.init.normal_(model.get_input_embeddings().weight, std=0.05)
    return model


def build_image_processor() -> Qwen2VLImageProcessor:
    """Return the stock image processor, fixed to the one size of picture."""
    pixels = PICTURE_PX * PICTURE_PX
    return Qwen2VLImageProcessor(
        patch_size=PATCH_PX,
        merge_size=2,
        temporal_patch_size=1,
        image_mean=[0.5, 0.5, 0.5],
        image_std=[0.5, 0.5, 0.5],
        size={"shortest_edge": pixels, "longest_edge": pixels},
    )


def save_policy(folder: Path, *, seed: int = 0) -> None:
    """Write an untrained policy, complete, into a folder that is made."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = build_tokenizer()
    model = build_model(build_config(tokenizer), seed=seed)
    model.generation_config.eos_token_id = tokenizer.eos_token_id
    model.generation_config.pad_token_id = tokenizer.pad_token_id
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    build_image_processor().save_pretrained(folder)
    about = {"format_version": 1, "name": "oche-tiny", "answer_format": "compact"}
    (folder / "oche.json").write_text(json.dumps(about, indent=2) + "\n")
