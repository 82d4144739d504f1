"""What goes wrong, by type.

Bad input is a ValueError; what no back end here can do is an UnsupportedError; everything else is an
Error, whose code says which kind.
"""

from __future__ import annotations


class Error(Exception):
    """Any failure.

    code:  "bad input", "unsupported", "compile failed", ... (src/util/result.h lists them)
    notes: what else is known, a line each
    log:   output of the compiler, where there is one
    """

    code: str
    notes: list[str]
    log: str

    def __init__(
        self, message: str, code: str = "internal", notes: list[str] | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.notes = list(notes or [])
        self.log = "\n".join(self.notes) if code == "compile failed" else ""


class InputError(Error, ValueError):
    """The program, file or argument is wrong; the message names it, expected and found."""

    def __init__(
        self, message: str, code: str = "bad input", notes: list[str] | None = None
    ) -> None:
        super().__init__(message, code, notes)


class UnsupportedError(Error):
    """Well formed, but this target or stage cannot do it."""

    def __init__(
        self, message: str, code: str = "unsupported", notes: list[str] | None = None
    ) -> None:
        super().__init__(message, code, notes)


def from_core(code: str, message: str, notes: list[str]) -> Error:
    """The exception for an error of the compiler (called by the extension module)."""
    kind = {"bad input": InputError, "unsupported": UnsupportedError}.get(code, Error)
    return kind(message, code, notes)
