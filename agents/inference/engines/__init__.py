"""What samples answers inside an inference worker; one module per engine."""
