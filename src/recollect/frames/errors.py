"""What can be wrong with a frame's name; what is wrong with its fields is `InvalidInput`.

InvalidInput
├── UnknownFrame        (LookupError)      no frame has this name
├── FrameExists         registered before
└── FrameImmutable      built in: can be extended, not changed
"""

from __future__ import annotations

from recollect.errors import InvalidInput

__all__ = ["FrameExists", "FrameImmutable", "UnknownFrame"]


class UnknownFrame(InvalidInput, LookupError):
    """No frame has this name."""

    code = "unknown_frame"


class FrameExists(InvalidInput):
    """A frame of this name was registered before."""

    code = "frame_exists"


class FrameImmutable(InvalidInput):
    """Built-in frames can be extended, but neither changed nor deleted."""

    code = "frame_immutable"
