"""The training API: read the request, call one service, answer."""
