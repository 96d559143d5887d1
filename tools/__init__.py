"""Programs for people who work on this repository; nothing here is installed."""
