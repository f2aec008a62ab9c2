"""Names of keys, as DevTools wants them."""

from dataclasses import dataclass
from typing import Any, Final

from environments.errors import InvalidAction

MODIFIERS: Final = {"Alt": 1, "Control": 2, "Meta": 4, "Shift": 8}

# DOM ``key`` -> (``code``, Windows virtual key code, text that it types).
_NAMED: Final[dict[str, tuple[str, int, str]]] = {
    "Enter": ("Enter", 13, "\r"),
    "Tab": ("Tab", 9, ""),
    "Backspace": ("Backspace", 8, ""),
    "Delete": ("Delete", 46, ""),
    "Insert": ("Insert", 45, ""),
    "Escape": ("Escape", 27, ""),
    "ArrowLeft": ("ArrowLeft", 37, ""),
    "ArrowUp": ("ArrowUp", 38, ""),
    "ArrowRight": ("ArrowRight", 39, ""),
    "ArrowDown": ("ArrowDown", 40, ""),
    "Home": ("Home", 36, ""),
    "End": ("End", 35, ""),
    "PageUp": ("PageUp", 33, ""),
    "PageDown": ("PageDown", 34, ""),
    "Alt": ("AltLeft", 18, ""),
    "Control": ("ControlLeft", 17, ""),
    "Meta": ("MetaLeft", 91, ""),
    "Shift": ("ShiftLeft", 16, ""),
    " ": ("Space", 32, " "),
    **{f"F{n}": (f"F{n}", 111 + n, "") for n in range(1, 13)},
}
# Editing commands are the platform's, not the page's: headless Chromium must be told.
_COMMANDS: Final = {
    "a": "selectAll",
    "c": "copy",
    "x": "cut",
    "v": "paste",
    "z": "undo",
    "y": "redo",
}
# The two characters of each key, unshifted and shifted.
_KEY_PAIRS: Final = {
    ";:": 186,
    "=+": 187,
    ",<": 188,
    "-_": 189,
    ".>": 190,
    "/?": 191,
    "`~": 192,
    "[{": 219,
    "\\|": 220,
    "]}": 221,
    "'\"": 222,
    **{
        digit + mark: ord(digit)
        for digit, mark in zip("0123456789", ")!@#$%^&*(", strict=True)
    },
}
_PUNCTUATION: Final = {
    character: code for pair, code in _KEY_PAIRS.items() for character in pair
}


@dataclass(frozen=True, kw_only=True, slots=True)
class KeyStroke:
    """One key, ready for ``Input.dispatchKeyEvent``."""

    key: str
    code: str
    key_code: int
    text: str

    def event(self, *, is_down: bool, modifiers: int = 0) -> dict[str, Any]:
        """Return the parameters of one event."""
        # With Control or Alt held a key types nothing.
        text = "" if modifiers & ~MODIFIERS["Shift"] else self.text
        event: dict[str, Any] = {
            "type": ("keyDown" if text else "rawKeyDown") if is_down else "keyUp",
            "key": self.key,
            "code": self.code,
            "windowsVirtualKeyCode": self.key_code,
            "modifiers": modifiers,
        }
        if is_down and text:
            event["text"] = text
        command = _COMMANDS.get(self.key.lower())
        if is_down and command and modifiers == MODIFIERS["Control"]:
            event["commands"] = [command]
        return event


def key_stroke(key: str) -> KeyStroke:
    """Return the key of a DOM name (``Enter``) or of a character (``a``).

    Raises:
        InvalidAction: If there is no such key.
    """
    if key in _NAMED:
        code, key_code, text = _NAMED[key]
        return KeyStroke(key=key, code=code, key_code=key_code, text=text)
    if len(key) != 1 or not key.isprintable():
        raise InvalidAction(f"expected a DOM key name or one character, got {key!r}")
    key_code = _PUNCTUATION.get(key, 0)
    code = ""
    if key.isascii() and key.isalpha():
        code, key_code = f"Key{key.upper()}", ord(key.upper())
    elif key.isascii() and key.isdigit():
        code, key_code = f"Digit{key}", ord(key)
    return KeyStroke(key=key, code=code, key_code=key_code, text=key)
