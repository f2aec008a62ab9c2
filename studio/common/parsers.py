"""How JSON in a request is read."""

import json
from typing import Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser


class StrictJSONParser(JSONParser):
    """Refuses what is JSON by the letter and can be neither kept nor answered."""

    def parse(self, *args: Any, **kwargs: Any) -> Any:
        """Return the value.

        Raises:
            ParseError: If it is no JSON, is nested too deeply, or holds half of a
                surrogate pair, which is no text.
        """
        try:
            value = super().parse(*args, **kwargs)
            json.dumps(value, ensure_ascii=False).encode()
        except RecursionError as error:
            raise ParseError("the JSON is nested too deeply to be read") from error
        except UnicodeEncodeError as error:
            raise ParseError(
                "found half of a surrogate pair; expected whole characters"
            ) from error
        return value
