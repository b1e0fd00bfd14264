"""Every algorithm returns what was encrypted, and nothing for another key or a changed ciphertext."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contractlog.contracts.encryption.algorithms import DekAlgorithm, create_cipher, generate_key
from contractlog.contracts.encryption.errors import DecryptionFailed, InvalidKeyMaterial
from contractlog.contracts.encryption.local_kms import create_local_cipher
from contractlog.contracts.encryption.tink_keys import parse_key, serialize_key

ALGORITHMS = st.sampled_from(DekAlgorithm)


@given(ALGORITHMS, st.binary(max_size=200))
def test_what_was_encrypted_is_decrypted(algorithm: DekAlgorithm, plaintext: bytes) -> None:
    cipher = create_cipher(algorithm, generate_key(algorithm))
    ciphertext = cipher.encrypt(plaintext)
    assert cipher.decrypt(ciphertext) == plaintext
    assert (cipher.encrypt(plaintext) == ciphertext) == (algorithm is DekAlgorithm.AES256_SIV)
    with pytest.raises(DecryptionFailed):
        create_cipher(algorithm, generate_key(algorithm)).decrypt(ciphertext)


@given(ALGORITHMS, st.binary(max_size=40), st.data())
def test_a_changed_ciphertext_is_never_decrypted(
    algorithm: DekAlgorithm, plaintext: bytes, data: st.DataObject
) -> None:
    cipher = create_cipher(algorithm, generate_key(algorithm))
    ciphertext = bytearray(cipher.encrypt(plaintext))
    ciphertext[data.draw(st.integers(0, len(ciphertext) - 1))] ^= data.draw(st.integers(1, 255))
    with pytest.raises(DecryptionFailed):
        cipher.decrypt(bytes(ciphertext))


@given(ALGORITHMS, st.binary(max_size=40))
def test_any_other_bytes_are_not_decrypted(algorithm: DekAlgorithm, noise: bytes) -> None:
    with pytest.raises(DecryptionFailed):
        create_cipher(algorithm, generate_key(algorithm)).decrypt(noise)


@given(ALGORITHMS, st.binary(max_size=17))
def test_bytes_that_are_no_key_are_rejected_without_showing_them(algorithm: DekAlgorithm, noise: bytes) -> None:
    with pytest.raises(InvalidKeyMaterial) as failure:
        create_cipher(algorithm, noise)
    assert failure.value.__cause__ is None
    assert failure.value.message == (
        f"The key material is not a serialized {algorithm} key. Check the algorithm of the DEK."
    )


@given(st.binary(min_size=1, max_size=127), st.sampled_from([2, 3]))
def test_a_serialized_key_is_parsed_with_or_without_its_version(key: bytes, field: int) -> None:
    message = serialize_key(key, field)
    assert parse_key(message, field) == parse_key(b"\x08\x00" + message, field) == key
    for wrong in (message[:-1], message + b"\x08\x01", message + b"\x20\x00", b""):
        with pytest.raises(ValueError, match="a key message"):
            parse_key(wrong, field)


def test_a_key_of_another_algorithm_is_rejected() -> None:
    for algorithm in DekAlgorithm:
        for other in set(DekAlgorithm) - {algorithm}:
            with pytest.raises(InvalidKeyMaterial):
                create_cipher(algorithm, generate_key(other))


def test_the_local_secret_gives_one_key_for_wrapping() -> None:
    wrapped = create_local_cipher("secret").encrypt(b"key")
    assert create_local_cipher("secret").decrypt(wrapped) == b"key"
    with pytest.raises(DecryptionFailed):
        create_local_cipher("Secret").decrypt(wrapped)
