"""The JSON of the training API: one serializer in, one out."""
