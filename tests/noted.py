"""What tests of notes share: side, kind and values of each, never its wording."""

from refusing import parts_of

from segbench.core.messages import Message


def noted(notes):
    """Return side, kind and values of notes."""
    return [(note.side, note.kind, note.values) for note in notes]


def kinds(notes):
    """Return the kind of each note."""
    return [note.kind for note in notes]


def of_kind(said, *kinds):
    """Return the notes, findings or messages of some kinds."""
    return [message for message in said if message.kind in kinds]


def values_of(message):
    """Return the values of a message and of all messages that stand in it; outer ones count."""
    return {name: value for part in [*parts_of(message, Message)][::-1] for name, value in part.values.items()}


def advised(settings):
    """Return settings, objects or their JSON, as a dictionary: name, value; None where the reader chooses one."""
    pairs = [
        (said["name"], said.get("value")) if isinstance(said, dict) else (said.name, said.value) for said in settings
    ]
    return {name: None if value is ... else value for name, value in pairs}


def problems_of(error):
    """Return line, kind and values of each problem that an error lists."""
    problems = [(problem.values["line"], problem.values["problem"]) for problem in error.values["problems"]]
    return [(line, problem.kind, problem.values) for line, problem in problems]
