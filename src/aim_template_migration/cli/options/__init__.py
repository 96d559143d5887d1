"""What each command accepts: declared and read without importing anything that the command itself needs.

``declare`` adds the arguments to a parser; ``read`` turns the parsed ones into typed options, or says what is wrong.
"""
