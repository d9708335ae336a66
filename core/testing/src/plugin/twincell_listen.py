"""What a test prints, logs and warns while it runs, without taking it from those who read it."""

import logging
import sys
import warnings


class Listener(logging.Handler):
    """Between `begin` and `end`, collects what was said since it was asked last."""

    def __init__(self):
        super().__init__(0)
        self.output, self.error_output, self.messages, self.warned = [], [], [], []
        self.undo = []

    def begin(self):
        self.taken()
        self.tap(sys.stdout, self.output)
        if sys.stderr is not sys.stdout:
            self.tap(sys.stderr, self.error_output)
        logging.getLogger().addHandler(self)
        self.undo.append(lambda: logging.getLogger().removeHandler(self))
        shown = warnings.showwarning

        def show(message, category, filename, lineno, file=None, line=None):
            self.warned.append((category, str(message)))
            return shown(message, category, filename, lineno, file, line)

        warnings.showwarning = show

        def restore():
            if warnings.showwarning is show:
                warnings.showwarning = shown

        self.undo.append(restore)

    def tap(self, stream, pieces):
        """Lets each text that is written to a stream be heard."""
        write = stream.write

        def heard(text):
            if isinstance(text, str):
                pieces.append(text)
            return write(text)

        try:
            stream.write = heard
        except AttributeError:
            return
        self.undo.append(lambda: stream.__dict__.pop("write", None))

    def end(self):
        while self.undo:
            self.undo.pop()()

    def emit(self, record):
        try:
            self.messages.append(record.getMessage())
        except Exception:
            # Its arguments do not fit its text. Others will tell.
            pass

    def taken(self):
        """What was said, by channel, and from now on nothing."""
        said = {
            "output": "".join(self.output),
            "error_output": "".join(self.error_output),
            "messages": list(self.messages),
            "warnings": list(self.warned),
        }
        for pieces in (self.output, self.error_output, self.messages, self.warned):
            pieces.clear()
        return {channel: value for channel, value in said.items() if value}
