"""Text for people, from values: pure functions that know neither streams nor files."""
