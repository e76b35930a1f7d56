// Certificates of origins.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Makes a key and a self-signed certificate for this machine. Needs OpenSSL.
 *
 * @param {string} [address] another address that it is for
 */
export function makeCertificate(address) {
  const also = address === undefined ? "" : `,IP:${address}`;
  const folder = mkdtempSync(join(tmpdir(), "hedgerow-certificate-"));
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  try {
    execFileSync(
      "openssl",
      [
        ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"],
        ...[
          "-subj",
          "/CN=localhost",
          "-addext",
          `subjectAltName=IP:127.0.0.1,DNS:localhost${also}`,
        ],
        ...["-days", "2", "-keyout", key, "-out", cert],
      ],
      { stdio: ["ignore", "ignore", "pipe"] },
    );
    return { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
