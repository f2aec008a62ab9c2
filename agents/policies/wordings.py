"""Many ways to say the same: a policy that knows one template per task reads none.

Holds sentences only; who does what they say is in ``experts`` and ``fragments``.
"""

import random
import re
from typing import Final

FILL: Final = (
    'Enter "{text}" into the {field}.',
    'Type "{text}" into the {field}.',
    'Write "{text}" in the {field}.',
    'Put "{text}" into the {field}.',
    'Fill the {field} with "{text}".',
    'Click the {field} and type "{text}".',
    'Enter the text "{text}" into the {field}.',
)
FILL_NAMED: Final = (
    'Enter "{text}" as the {label}.',
    'Enter the {label} "{text}".',
    'Type the {label} "{text}".',
    'Fill in "{text}" as the {label}.',
    'Enter the {label} "{text}" into its field.',
)
FILL_BOTH: Final = (
    'Enter the password "{text}" into both text fields.',
    'Enter "{text}" into both text fields.',
    'Type "{text}" into both fields.',
    'Fill both text fields with "{text}".',
    'Put the password "{text}" into both fields.',
    'Enter the password "{text}" and verify it.',
)
FILL_LOGIN: Final = (
    'Enter the username "{username}" and the password "{password}" into the text fields.',
    'Enter the username "{username}" and the password "{password}".',
    'Type the username "{username}" and the password "{password}".',
    'Fill in "{username}" as the username and "{password}" as the password.',
    'Put the username "{username}" and the password "{password}" into the fields.',
)
TYPE: Final = (
    'Type "{text}".',
    'Enter "{text}".',
    'Write "{text}".',
    'Type the text "{text}".',
    'Type "{text}" into the focused field.',
)
TYPE_THEN_PRESS: Final = (
    'Type "{text}", then press {button}.',
    'Write "{text}", then click {button}.',
    'Type "{text}", then press the {button} button.',
    'Type "{text}". Then press {button}.',
    'First type "{text}", then press {button}.',
)
CLICK_FIELD: Final = (
    "Click the {field}.",
    "Click on the {field}.",
    "Focus into the {field}.",
    "Focus the {field}.",
    "Select the {field}.",
    "Put the cursor into the {field}.",
)
PRESS: Final = (
    "Press {button}.",
    "Press the {button} button.",
    "Click {button}.",
    "Click on {button}.",
    "Click the {button} button.",
    "Push {button}.",
)
PRESS_QUOTED: Final = (
    'Click on the "{button}" button.',
    'Press "{button}".',
    'Click "{button}".',
    'Press the "{button}" button.',
    'Click the button labeled "{button}".',
)
EXPAND: Final = (
    "Expand the section.",
    "Expand the section below.",
    "Open the section.",
    "Click on the section to expand it.",
    "Unfold the section below.",
)
SELECT: Final = (
    "Select {name}.",
    "Choose {name}.",
    "Pick the option {name}.",
    "Select the option {name}.",
    "Click the radio button {name}.",
)
BUTTON_NAMED: Final = (
    "Click button {button}.",
    "Press button {button}.",
    "Click the button {button}.",
    "Press the button labeled {button}.",
    "Click on {button}.",
)

_ENTER_TEXT: Final = (
    r'Enter "(?P<text>.*)" into the text field and press Submit\.',
    (
        'Type "{text}" into the text field and press Submit.',
        'Enter "{text}" in the text box, then click Submit.',
        'Write "{text}" into the field and press the Submit button.',
        'Put "{text}" into the text field and click on Submit.',
    ),
)
_REPHRASINGS: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "enter-text": _ENTER_TEXT,
    "enter-text-dynamic": _ENTER_TEXT,
    "enter-password": (
        r'Enter the password "(?P<text>.*)" into both text fields and press submit\.',
        (
            'Type the password "{text}" into both text fields and press submit.',
            'Enter "{text}" as the password, verify it, and press submit.',
            'Enter the password "{text}" twice, then click Submit.',
            'Fill both fields with the password "{text}" and press Submit.',
        ),
    ),
    "login-user": (
        r'Enter the username "(?P<user>.*)" and the password "(?P<text>.*)" into the '
        r"text fields and press login\.",
        (
            'Log in as "{user}" with the password "{text}".',
            'Type the username "{user}" and the password "{text}", then press login.',
            'Enter "{user}" as the username and "{text}" as the password and click Login.',
            'Fill in the username "{user}" and the password "{text}" and press Login.',
        ),
    ),
    "focus-text": (
        r"Focus into the textbox\.",
        (
            "Click the textbox.",
            "Click on the text field.",
            "Focus the textbox.",
            "Put the cursor into the textbox.",
        ),
    ),
    "focus-text-2": (
        r"Focus into the (?P<nth>\S+) input textbox\.",
        (
            "Click the {nth} input textbox.",
            "Click on the {nth} textbox.",
            "Focus the {nth} textbox.",
            "Put the cursor into the {nth} input textbox.",
        ),
    ),
    "click-dialog": (
        r'Close the dialog box by clicking the "x"\.',
        (
            "Close the dialog box.",
            'Click the "x" of the dialog.',
            "Close the dialog.",
            'Close the box with the "x".',
        ),
    ),
    "click-dialog-2": (
        r'Click the button in the dialog box labeled "(?P<button>.*)"\.',
        (
            'Click the "{button}" button in the dialog box.',
            'Press "{button}" in the dialog.',
            'Click "{button}".',
            'Click the dialog button labeled "{button}".',
        ),
    ),
    "click-tab": (
        r"Click on Tab #(?P<number>\d)\.",
        (
            "Click Tab #{number}.",
            "Open Tab #{number}.",
            "Switch to Tab #{number}.",
            "Select tab {number}.",
        ),
    ),
    "click-widget": (
        r'Click on a "(?P<widget>.*)" widget\.',
        (
            'Click a "{widget}" widget.',
            "Click on a {widget}.",
            "Click a {widget} widget.",
            'Click any "{widget}".',
        ),
    ),
    "click-test": (
        r"Click the button\.",
        ("Press the button.", "Click on the button.", "Push the button.", "Click Me!"),
    ),
    "click-test-2": (
        r"Click button ONE\.",
        (
            "Press button ONE.",
            "Click the button ONE.",
            "Click on ONE.",
            "Press the button labeled ONE.",
        ),
    ),
    "click-button": (
        r'Click on the "(?P<button>.*)" button\.',
        (
            'Press the "{button}" button.',
            'Click "{button}".',
            'Click the button labeled "{button}".',
            'Press "{button}".',
        ),
    ),
    "click-button-sequence": (
        r"Click button ONE, then click button TWO\.",
        (
            "Press button ONE, then press button TWO.",
            "Click ONE and then TWO.",
            "First click button ONE, then button TWO.",
            "Press ONE, then TWO.",
        ),
    ),
    "click-collapsible": (
        r"Expand the section below and click submit\.",
        (
            "Expand the section and press Submit.",
            "Open the section below, then click Submit.",
            "Unfold the section and click submit.",
            "Click on the section to expand it and press submit.",
        ),
    ),
    "click-color": (
        r"Click on the (?P<color>\w+) colored box\.",
        (
            "Click the {color} box.",
            "Click on the {color} square.",
            "Select the {color} box.",
            "Click the box that is {color}.",
        ),
    ),
    "click-option": (
        r"Select (?P<name>\S+) and click Submit\.",
        (
            "Choose {name} and press Submit.",
            "Select the option {name}, then click Submit.",
            "Pick {name} and click Submit.",
            "Click {name}, then press Submit.",
        ),
    ),
    "click-link": (
        r'Click on the link "(?P<link>.*)"\.',
        (
            'Click the link "{link}".',
            'Follow the link "{link}".',
            'Open the link "{link}".',
            'Click on "{link}".',
        ),
    ),
}

_NAMES: Final = (
    "Ada Alan Anna Ben Bob Carl Clara Dora Emil Emma Eva Felix Fred Greta Hans "
    "Ida Ivan Jan Joan Karl Kim Lena Leo Lisa Mara Max Mia Nina Noah Olga Otto "
    "Paul Petra Rosa Sam Sara Theo Tim Uma Vera Walter Yara Zoe Keli Myron Cheree "
    "Michel Nathalie"
)
_WORDS: Final = (
    "apple blue book bread chair cloud coffee day door earth fire fish flower "
    "forest garden glass green hello house island key lamp leaf letter light moon "
    "morning mountain music night ocean orange paper pencil phone queen rain "
    "river road rose school shoe silver snow spring star stone summer sun table "
    "tea train tree water wind window winter world yellow"
)
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
_ALPHABETS: Final = (
    _LETTERS,
    _LETTERS.upper(),
    "0123456789",
    _LETTERS + _LETTERS.upper() + "0123456789",
)


def random_text(rng: random.Random) -> str:
    """Return something to type: a name, a word, or 2 to 8 random characters."""
    kind = rng.randrange(4)
    if kind == 0:
        name = rng.choice(_NAMES.split())
        return name.lower() if rng.random() < 0.3 else name
    if kind == 1:
        return rng.choice(_WORDS.split())
    alphabet = rng.choice(_ALPHABETS)
    return "".join(rng.choice(alphabet) for _ in range(rng.randint(2, 8)))


def rephrase(task: str, instruction: str, rng: random.Random) -> str:
    """Say a task's instruction in other words, or in its own, at random.

    Args:
        task: Name within the ``miniwob`` backend.
        instruction: As the page says it.
        rng: Chooses the wording; the page's own is one of them.

    Returns:
        The instruction unchanged if the task has no other wordings.
    """
    pattern, templates = _REPHRASINGS.get(task, ("", ()))
    match = re.fullmatch(pattern, instruction)
    if match is None:
        return instruction
    choice = rng.randrange(len(templates) + 1)
    if choice == len(templates):
        return instruction
    return templates[choice].format(**match.groupdict())
