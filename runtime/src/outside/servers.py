"""Servers: none is asked, and each answers a request as it was drawn, whoever sends it. The path in decisions is
`http('GET', 'https://example.com/')`.
"""

import http.client
import io
import zlib

from twincell_outside import draw, intended, is_on, tell, texts

_LONGEST = 90
_FAILURES = [None] * 7 + ["ConnectionError", "ReadTimeout"]
_STATUSES = [200] * 6 + [201, 204, 404, 404, 500]
_KINDS = ["application/json"] * 3 + ["text/plain; charset=utf-8", "text/html", None]
#: What every client sends as it likes.
_USUAL = {"user-agent", "accept-encoding", "accept", "connection", "content-length"}


def patch(adapters):
    from urllib3.response import HTTPResponse

    HTTPAdapter = adapters.HTTPAdapter
    real = HTTPAdapter.send

    def send(self, request, stream=False, timeout=None, verify=True, cert=None, proxies=None):
        if not is_on():
            return real(self, request, stream, timeout, verify, cert, proxies)
        body = request.body if isinstance(request.body, (str, bytes)) or request.body is None else b"..."
        body = body.encode() if isinstance(body, str) else body
        # A path of a decision holds so much.
        asked = ", ".join(map(repr, [request.method, request.url, *([body] if body else [])]))
        if len(asked) > _LONGEST:
            asked = f"{request.method!r}, {request.url[:40]!r}, {zlib.crc32(asked.encode(errors='replace'))}"
        headers = {name: value for name, value in request.headers.items() if name.lower() not in _USUAL}
        given = {"headers": headers} if headers else {}
        given.update((name, value) for name, value in (("verify", verify), ("cert", cert)) if value not in (True, None))
        tell("http", [request.method, request.url, *([body] if body else [])], given)
        path = f"http({asked})"
        failure = draw(f"{path}.failure", _FAILURES, True)
        if failure is not None:
            error = getattr(adapters, failure)(f"{request.url}: {failure}", request=request)
            intended(error)
            raise error
        status = draw(f"{path}.status_code", _STATUSES, True)
        text = "" if status == 204 else draw(f"{path}.text", texts(True), False)
        kind = draw(f"{path}.headers['Content-Type']", _KINDS, True)
        raw = HTTPResponse(
            body=io.BytesIO(text.encode(errors="surrogateescape")),
            headers={} if kind is None else {"Content-Type": kind},
            status=status,
            reason=http.client.responses.get(status, ""),
            preload_content=False,
        )
        return self.build_response(request, raw)

    HTTPAdapter.send = send
