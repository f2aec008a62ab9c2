"""How a model sees a screen and answers with an action."""
