"""The HTTP API of the studio itself: who asks, tokens, the schema and its page."""
