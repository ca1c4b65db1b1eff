"""The commands, one file a verb, each a thin call of the library."""
