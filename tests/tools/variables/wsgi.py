"""Answers each request with its variables as JSON: `python3 wsgi.py` with wsgiref, or as an application of Gunicorn."""

import json
from wsgiref.simple_server import make_server


def application(environ, start_response):
    variables = {name: value for name, value in environ.items() if name.startswith("HTTP_")}
    start_response("200 OK", [("Content-Type", "application/json")])
    return [json.dumps(variables).encode()]


if __name__ == "__main__":
    with make_server("127.0.0.1", 0, application) as server:
        print(f"http://127.0.0.1:{server.server_port}", flush=True)
        server.serve_forever()
