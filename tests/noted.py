"""What tests of notes share: their kinds, and those of one kind, never their wording."""


def kinds(notes):
    """Return the kind of each note."""
    return [note.kind for note in notes]


def of_kind(notes, *kind):
    """Return the notes of some kinds."""
    return [note for note in notes if note.kind in kind]
