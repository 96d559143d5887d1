import ssl

import pytest
import trustme

from aim_template_migration.kube.errors import ConnectError
from aim_template_migration.kube.tls import ClientCertificate, TlsSettings, tls_context


@pytest.fixture(scope="module")
def issued(authority):
    return authority.issue_cert("alice", common_name="alice")


def pem(issued):
    return b"".join(blob.bytes() for blob in issued.cert_chain_pems), issued.private_key_pem.bytes()


def test_strictness_that_rejects_widespread_authorities_is_off_and_any_trusted_certificate_ends_a_chain(authority):
    context = tls_context(TlsSettings(authority.cert_pem.bytes()), None)
    assert not context.verify_flags & ssl.VERIFY_X509_STRICT
    assert context.verify_flags & ssl.VERIFY_X509_PARTIAL_CHAIN
    assert context.verify_mode == ssl.CERT_REQUIRED
    assert context.check_hostname
    assert len(context.get_ca_certs()) == 1


def test_without_an_authority_those_of_the_system_count():
    assert tls_context(TlsSettings(), None).verify_mode == ssl.CERT_REQUIRED


def test_a_client_certificate_is_loaded_without_a_file(authority, issued, monkeypatch):
    def no_file(*arguments, **keywords):
        raise AssertionError("a private key must not be written to a file system")

    monkeypatch.setattr("tempfile.mkstemp", no_file)
    tls_context(TlsSettings(authority.cert_pem.bytes()), ClientCertificate(*pem(issued)))


def test_without_memory_files_the_private_file_is_gone_at_once(authority, issued, monkeypatch, tmp_path):
    modes = []
    load = ssl.SSLContext.load_cert_chain

    def note(self, path, **keywords):
        (file,) = tmp_path.iterdir()
        modes.append(file.stat().st_mode & 0o777)
        return load(self, path, **keywords)

    monkeypatch.delattr("os.memfd_create")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(ssl.SSLContext, "load_cert_chain", note)
    tls_context(TlsSettings(authority.cert_pem.bytes()), ClientCertificate(*pem(issued)))
    assert modes == [0o600]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("authorities", [b"", b"not PEM", b"-----BEGIN CERTIFICATE-----\nAAAA\n"])
def test_an_authority_that_is_no_certificate_is_named(authorities):
    with pytest.raises(ConnectError, match="certificate-authority"):
        tls_context(TlsSettings(authorities), None)


def test_a_certificate_and_a_key_that_do_not_belong_together_are_refused(authority, issued):
    certificate, _ = pem(issued)
    _, other_key = pem(trustme.CA().issue_cert("mallory"))
    for key in (other_key, b"not PEM"):
        with pytest.raises(ConnectError, match="no matching PEM pair"):
            tls_context(TlsSettings(authority.cert_pem.bytes()), ClientCertificate(certificate, key))


def test_an_encrypted_key_is_refused_and_nobody_is_asked_for_a_password(authority, issued):
    from cryptography.hazmat.primitives import serialization

    certificate, plain = pem(issued)
    key = serialization.load_pem_private_key(plain, None).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(b"hunter2"),
    )
    with pytest.raises(ConnectError, match="an encrypted key is not supported"):
        tls_context(TlsSettings(authority.cert_pem.bytes()), ClientCertificate(certificate, key))


def test_a_key_has_no_representation(issued):
    certificate, key = pem(issued)
    assert "PRIVATE KEY" not in repr(ClientCertificate(certificate, key))


def client_hello(context):
    sent = ssl.MemoryBIO()
    connection = context.wrap_bio(ssl.MemoryBIO(), sent, server_hostname="api.example")
    with pytest.raises(ssl.SSLWantReadError):
        connection.do_handshake()
    return sent.read()


def test_what_is_offered_does_not_change_while_connections_are_opened(authority):
    # Each call frees what OpenSSL may be copying for another thread's connection (python/cpython issue 141012).
    context = tls_context(TlsSettings(authority.cert_pem.bytes()), None)
    context.set_alpn_protocols(["other/1.0"])
    hello = client_hello(context)
    assert b"\x08http/1.1" in hello
    assert b"other/1.0" not in hello
