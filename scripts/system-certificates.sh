# shellcheck shell=bash
# Let uv and pip trust the certificates of this machine, for example behind a company's proxy. Other scripts source this
# file. Without it, uv and pip trust only their own lists. A setting of the user, also in pip's configuration, takes
# precedence and applies to both.
certificates() {
  local bundle
  for bundle in "${SSL_CERT_FILE-}" "${REQUESTS_CA_BUNDLE-}" "${CURL_CA_BUNDLE-}" \
    "$(.venv/bin/python -m pip config list 2>/dev/null |
      sed -nE "s/^(global|install|:env:)\.cert='(.*)'$/\2/p" | tail -n 1)" \
    /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/ca-bundle.pem /etc/ssl/cert.pem; do
    if [ -r "$bundle" ]; then
      export SSL_CERT_FILE="${SSL_CERT_FILE:-$bundle}" REQUESTS_CA_BUNDLE="${REQUESTS_CA_BUNDLE:-$bundle}"
      return
    fi
  done
}
certificates
