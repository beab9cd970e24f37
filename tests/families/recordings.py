"""The made-up recording in a format: a function of the format's name in one of the modules of samples."""

from tests.families import samples, samples_assistants, samples_sessions


def recording_of(name: str) -> bytes:
    """The recording in a format."""
    module = next(one for one in (samples, samples_sessions, samples_assistants) if hasattr(one, name))
    recording: bytes = getattr(module, name)()
    return recording
