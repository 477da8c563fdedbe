# Sourced: lets uv and pip trust the certificates that this machine trusts, as behind a company's proxy. By themselves both trust
# only the list that they bring. A setting of the user's own, also in pip's configuration, comes first.
for bundle in /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/ca-bundle.pem /etc/ssl/cert.pem; do
  if [ -r "$bundle" ]; then
    export SSL_CERT_FILE="${SSL_CERT_FILE:-$bundle}" REQUESTS_CA_BUNDLE="${REQUESTS_CA_BUNDLE:-$bundle}"
    break
  fi
done
