# SPDX-License-Identifier: Apache-2.0
"""Certificates that openssl makes for a test: each signs itself."""

import ssl
import subprocess


class Certificate:
    def __init__(self, directory, name):
        self.cert, self.key = directory / f"{name}.pem", directory / f"{name}.key"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", f"/CN={name}",
                        "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
                        "-out", self.cert, "-keyout", self.key],
                       check=True, stderr=subprocess.DEVNULL)

    def server_context(self, client=None):
        """client: the only certificate that is let in."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.cert, self.key)
        if client is not None:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(client.cert)
        return context
