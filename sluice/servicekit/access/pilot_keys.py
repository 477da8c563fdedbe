"""Proofs that a pilot has the key with which it registered (like DPoP, RFC 9449)."""

from joserfc import jws, jwt
from joserfc.jwk import OKPKey

from sluice.contracts.access.access import PILOT_PROOF, PILOT_PROOF_ALGORITHM
from sluice.contracts.common.problems import Unauthenticated
from sluice.servicekit.access.token_faults import MALFORMED, describe_fault

#: Seconds before and after its creation for which a proof is valid.
FRESH = 60
#: The greatest plausible time in seconds since 1970.
_LATEST = 2**40


#: The prime of the field of Ed25519, and y coordinates of its points of order 8 or less. With such
#: a public key, a signature proves nothing (RFC 8032, section 5.1, and RFC 7748, section 6.1).
_P = 2**255 - 19
_Y8 = 0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826
_SMALL_ORDER = {0, 1, _P - 1, _Y8, _P - _Y8}


class _InvalidProofError(Exception):
    """The proof is well-formed, but does not prove anything."""


def proven_key(proof: str, now: float) -> str:
    """Return the thumbprint (RFC 7638) of the key that signed the proof.

    Raises:
        Unauthenticated: The proof is malformed, has a wrong signature or is too old.
    """
    try:
        header = jws.extract_compact(proof.encode()).headers()
        if header.get("typ") != PILOT_PROOF or header.get("alg") != PILOT_PROOF_ALGORITHM:
            raise _InvalidProofError("it is of another kind")
        key = OKPKey.import_key(header["jwk"])
        if key.is_private:
            raise _InvalidProofError("it has the private key in it")
        if _has_small_order(key):
            raise _InvalidProofError("its key is one that everybody can sign with")
        created_at = jwt.decode(proof, key, algorithms=[PILOT_PROOF_ALGORITHM]).claims.get("iat")
        if not isinstance(created_at, int) or abs(created_at) > _LATEST:
            raise _InvalidProofError("it has no time of creation (iat)")
    except _InvalidProofError as error:
        raise Unauthenticated(f"the proof of the pilot's key is invalid: {error}") from None
    except MALFORMED as error:
        raise Unauthenticated(
            f"the proof of the pilot's key is invalid: {describe_fault(error)}"
        ) from error
    if abs(now - created_at) > FRESH:
        raise Unauthenticated(
            f"the proof of the pilot's key is {now - created_at:.0f} s old, and is valid for"
            f" {FRESH} s: create one with the time in the Date header of this answer"
        )
    return key.thumbprint()


def _has_small_order(key: OKPKey) -> bool:
    raw = key.public_key.public_bytes_raw()
    return (int.from_bytes(raw, "little") & (2**255 - 1)) % _P in _SMALL_ORDER
