"""The documents on disk: their types, published schemas, canonical bytes, and private, durable files."""
