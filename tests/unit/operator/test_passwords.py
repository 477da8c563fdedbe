"""The cost of a password hash, and the check of a password."""

from wfms.operator.identity.usecases.passwords import Passwords


async def test_passwords_are_hashed_at_the_cost_of_rfc_9106() -> None:
    """The parameters are those that RFC 9106 recommends for machines with little memory."""
    passwords = Passwords()
    stored_hash = await passwords.hash_password("secret")
    assert stored_hash.startswith("$argon2id$v=19$m=65536,t=3,p=4$")
    assert await passwords.is_right("secret", stored_hash)
    assert not await passwords.is_right("Secret", stored_hash)
