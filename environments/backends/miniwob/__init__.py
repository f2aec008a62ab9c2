"""MiniWoB++: small web pages with a task each, and pages of ours in their manner."""
