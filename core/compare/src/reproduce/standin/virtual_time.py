"""An event loop that does not wait."""

import asyncio


class Soon(asyncio.SelectorEventLoop):
    """An event loop that advances its clock instead of waiting."""

    late = 0.0

    def time(self):
        return super().time() + self.late

    def _run_once(self):
        if self._scheduled and not self._ready:
            self.late += max(0.0, self._scheduled[0].when() - self.time())
        super()._run_once()
