"""The form for a new run: which fields it has, and how what was sent becomes a config.

No HTTP. The rules themselves are those of ``training.config``; ranges and defaults are
read from there, so that the form never says anything else.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from training.config import RlConfig, RunConfig, Section, SftConfig
from training.presets import PRESETS

CONFIG: Final[TypeAdapter[RlConfig | SftConfig]] = TypeAdapter(RunConfig)
CLASSES: Final[dict[str, type[Section]]] = {"rl": RlConfig, "sft": SftConfig}


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One field of the form."""

    path: str
    """Dotted, as in the configuration."""
    label: str
    sentence: str
    section: str
    kinds: tuple[str, ...] = ("rl", "sft")
    unit: str = ""


BASICS: Final = "Basics"
LEARNING: Final = "Learning"
ROLLOUTS: Final = "Rollouts"

ENTRIES: Final = (
    Entry(
        path="max_optimizer_steps",
        label="Optimizer steps",
        section=BASICS,
        sentence="The run ends after so many.",
    ),
    Entry(
        path="seed",
        label="Seed",
        section=BASICS,
        sentence="Fixes the order of the data and every other draw of the trainer.",
    ),
    Entry(
        path="stop_at_success",
        label="Stop at success",
        section=BASICS,
        kinds=("rl",),
        sentence="End early once this share of the latest episodes was solved; "
        "0 trains to the last optimizer step.",
    ),
    Entry(
        path="optimizer.learning_rate",
        label="Learning rate",
        section=LEARNING,
        sentence="AdamW’s peak.",
    ),
    Entry(
        path="optimizer.matrix_learning_rate",
        label="Learning rate, matrices",
        section=LEARNING,
        sentence="Muon’s peak for the matrices of hidden layers; 0 leaves them to AdamW.",
    ),
    Entry(
        path="optimizer.warmup_steps",
        label="Warm-up",
        section=LEARNING,
        unit="optimizer steps",
        sentence="The learning rate rises in a line over so many.",
    ),
    Entry(
        path="optimizer.grad_clip",
        label="Gradient clip",
        section=LEARNING,
        sentence="The largest gradient norm that is let through.",
    ),
    Entry(
        path="batch_rows",
        label="Rows per optimizer step",
        section=LEARNING,
        kinds=("sft",),
        sentence="Demonstrated answers that one update learns from.",
    ),
    Entry(
        path="checkpoint_every",
        label="Checkpoint every",
        section=LEARNING,
        unit="optimizer steps",
        sentence="In live training each checkpoint is a policy version that acts.",
    ),
    Entry(
        path="grpo.groups_per_step",
        label="Groups per optimizer step",
        section=LEARNING,
        kinds=("rl",),
        sentence="Tasks that one update learns from.",
    ),
    Entry(
        path="grpo.group_size",
        label="Rollouts per group",
        section=LEARNING,
        kinds=("rl",),
        sentence="Rollouts of one task and seed that are compared with each other.",
    ),
    Entry(
        path="grpo.clip_low",
        label="Clip, low",
        section=LEARNING,
        kinds=("rl",),
        sentence="How far a token may become less likely in one update.",
    ),
    Entry(
        path="grpo.clip_high",
        label="Clip, high",
        section=LEARNING,
        kinds=("rl",),
        sentence="How far a token may become more likely in one update.",
    ),
    Entry(
        path="grpo.kl_coefficient",
        label="KL to the start",
        section=LEARNING,
        kinds=("rl",),
        sentence="Weight of the distance to the first policy; with 0 no reference "
        "model is loaded.",
    ),
    Entry(
        path="asynchrony.max_staleness",
        label="Most staleness",
        section=ROLLOUTS,
        kinds=("rl",),
        unit="versions",
        sentence="With 0, no rollout starts before the last update is live everywhere.",
    ),
    Entry(
        path="rollout.temperature",
        label="Temperature",
        section=ROLLOUTS,
        kinds=("rl",),
        sentence="How boldly the policy is sampled.",
    ),
    Entry(
        path="rollout.max_steps",
        label="Steps per episode",
        section=ROLLOUTS,
        kinds=("rl",),
        sentence="Actions after which an episode is cut off; never above the task’s own "
        "limit.",
    ),
    Entry(
        path="rollout.max_response_tokens",
        label="Tokens per answer",
        section=ROLLOUTS,
        kinds=("rl",),
        unit="tokens",
        sentence="Longer answers are cut off.",
    ),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Shown:
    """A field as the page shows it."""

    entry: Entry
    value: str
    default: str
    range: str
    errors: Sequence[str]

    @property
    def is_changed(self) -> bool:
        """Return whether the value is not the preset's."""
        return self.value != self.default


@dataclass(frozen=True, kw_only=True, slots=True)
class RunForm:
    """What was sent, or what a preset suggests, and what is wrong with it."""

    preset: str
    values: Mapping[str, str]
    """By path; ``name``, ``policy`` and ``dataset`` among them."""
    tasks: Sequence[str]
    errors: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """Return the kind of run that the preset is for."""
        return str(PRESETS[self.preset]["kind"])

    @property
    def sections(self) -> dict[str, list[Shown]]:
        """Return the fields of this kind, by section."""
        sections: dict[str, list[Shown]] = {}
        for entry in ENTRIES:
            if self.kind in entry.kinds:
                sections.setdefault(entry.section, []).append(self._shown(entry))
        return sections

    @property
    def num_errors(self) -> int:
        """Return how many mistakes there are."""
        return sum(map(len, self.errors.values()))

    @property
    def stray_errors(self) -> list[str]:
        """Return the mistakes that belong to no field of the page."""
        fields = {entry.path for entry in ENTRIES if self.kind in entry.kinds}
        fields |= {"name", "policy", "dataset", "tasks"}
        return [
            f"{path}: {message}" if path else message
            for path, messages in self.errors.items()
            if path not in fields
            for message in messages
        ]

    def _shown(self, entry: Entry) -> Shown:
        default = written(preset_value(self.preset, entry.path))
        return Shown(
            entry=entry,
            value=self.values.get(entry.path, default),
            default=default,
            range=range_of(CLASSES[self.kind], entry.path),
            errors=self.errors.get(entry.path, ()),
        )


def blank_form(preset: str, *, name: str, dataset: str = "") -> RunForm:
    """Return the form as the preset fills it."""
    values = PRESETS[preset]
    return RunForm(
        preset=preset,
        values={"name": name, "policy": str(values["policy"]), "dataset": dataset},
        tasks=[str(task) for task in values.get("tasks", ())],
    )


def sent_form(preset: str, sent: Mapping[str, str], tasks: Sequence[str]) -> RunForm:
    """Return the form as it was sent."""
    return RunForm(
        preset=preset,
        values={path: value.strip() for path, value in sent.items()},
        tasks=list(tasks),
    )


def config_of(form: RunForm) -> RlConfig | SftConfig:
    """Return the configuration that was asked for.

    Raises:
        ValidationError: With every mistake by its path.
    """
    config = dict(PRESETS[form.preset])
    config["policy"] = form.values.get("policy", "")
    if form.kind == "rl":
        config["tasks"] = tuple(form.tasks)
    else:
        config["dataset"] = form.values.get("dataset", "")
    for entry in ENTRIES:
        if form.kind in entry.kinds and entry.path in form.values:
            _put(config, entry.path, form.values[entry.path])
    return CONFIG.validate_python(config)


def mistakes_of(error: ValidationError) -> dict[str, list[str]]:
    """Return pydantic's findings by the path of the form's field."""
    found: dict[str, list[str]] = {}
    for one in error.errors(include_url=False):
        # The first part names the kind of run, which the form's paths leave out.
        path = ".".join(str(part) for part in one["loc"][1:])
        found.setdefault(_field_of(path), []).append(_plain(one["msg"]))
    return found


def range_of(section: type[Section], path: str) -> str:
    """Return the values that a field may have, in words: ``1 – 256``."""
    info = _field_info(section, path)
    low = high = ""
    for rule in info.metadata:
        if (value := getattr(rule, "gt", None)) is not None:
            low = f"above {value:g}"
        if (value := getattr(rule, "ge", None)) is not None:
            low = f"{value:g}"
        if (value := getattr(rule, "lt", None)) is not None:
            high = f"below {value:g}"
        if (value := getattr(rule, "le", None)) is not None:
            high = f"{value:,}" if isinstance(value, int) else f"{value:g}"
    if low and high:
        return f"{low} – {high}"
    if low:
        return low if low.startswith("above") else f"{low} or more"
    return high


def preset_value(preset: str, path: str) -> Any:
    """Return a field's value in a preset, the configuration's own default otherwise."""
    here: Any = PRESETS[preset]
    for part in path.split("."):
        if not isinstance(here, Mapping) or part not in here:
            return _field_info(CLASSES[PRESETS[preset]["kind"]], path).default
        here = here[part]
    return here


def written(value: Any) -> str:
    """Return a number as people write it in a form."""
    if isinstance(value, float):
        return f"{value:g}".replace("e-0", "e-")
    return str(value)


def _field_info(section: type[Section], path: str) -> FieldInfo:
    *outer, name = path.split(".")
    for part in outer:
        inner = section.model_fields[part].annotation
        assert isinstance(inner, type)  # noqa: S101 - no section is optional
        assert issubclass(inner, Section)  # noqa: S101
        section = inner
    return section.model_fields[name]


def _put(config: dict[str, Any], path: str, value: str) -> None:
    *outer, name = path.split(".")
    for part in outer:
        # A copy at each level: presets are shared.
        config[part] = dict(config.get(part, {}))
        config = config[part]
    config[name] = value


def _field_of(path: str) -> str:
    if path.startswith("tasks."):
        return "tasks"
    # A rule about two fields of a section is shown at the one that it names first.
    return "grpo.clip_high" if path == "grpo" else path


def _plain(message: str) -> str:
    text = message.removeprefix("Value error, ")
    return text[:1].upper() + text[1:]
