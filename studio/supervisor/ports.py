"""Which port the pages are served on."""

import socket

HOST = "127.0.0.1"
DEFAULT_PORT = 8000
NUM_TRIES = 50


class PortTaken(Exception):
    """Something else listens on the port that was asked for."""


def is_free(port: int) -> bool:
    """Return whether a server could listen there."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # As servers do: a connection that lingers from before is no obstacle.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def choose_port(asked: int | None) -> int:
    """Return the port asked for, or the first free one from the usual one on.

    Raises:
        PortTaken: If the one asked for, or everything that was tried, is taken.
    """
    if asked is not None:
        if is_free(asked):
            return asked
        raise PortTaken(
            f"port {asked} of {HOST} is taken by another program; choose another by "
            "--port, or leave --port out and a free one is found"
        )
    for port in range(DEFAULT_PORT, DEFAULT_PORT + NUM_TRIES):
        if is_free(port):
            return port
    last = DEFAULT_PORT + NUM_TRIES - 1
    raise PortTaken(
        f"ports {DEFAULT_PORT} to {last} are taken; name a free one: --port"
    )
