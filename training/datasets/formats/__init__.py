"""One importer a module; each turns records of its shape into conversations."""
