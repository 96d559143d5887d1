import base64

import pytest

from aim_template_migration.kube.errors import ConnectError
from aim_template_migration.kube.proxies import proxy_credentials, proxy_for

SERVER = "https://api.example.com:6443"
PROXY = "http://proxy.example.com:3128"


@pytest.mark.parametrize(
    ("server", "configured", "environ", "expected"),
    [
        (SERVER, None, {}, None),
        (SERVER, PROXY, {}, PROXY),
        (SERVER, PROXY, {"NO_PROXY": "*", "HTTPS_PROXY": "http://other:1"}, PROXY),
        (SERVER, None, {"HTTPS_PROXY": PROXY}, PROXY),
        (SERVER, None, {"https_proxy": PROXY}, PROXY),
        (SERVER, None, {"HTTPS_PROXY": PROXY, "https_proxy": "http://other:1"}, PROXY),
        (SERVER, None, {"HTTPS_PROXY": "proxy:3128"}, "http://proxy:3128"),
        (SERVER, None, {"HTTP_PROXY": PROXY}, None),
        ("http://api.example.com", None, {"HTTP_PROXY": PROXY}, PROXY),
        ("https://127.0.0.1:6443", None, {"HTTPS_PROXY": PROXY}, None),
        ("https://[::1]:6443", None, {"HTTPS_PROXY": PROXY}, None),
        ("https://localhost:6443", None, {"HTTPS_PROXY": PROXY}, None),
        ("https://127.0.0.1:6443", PROXY, {}, PROXY),
    ],
)
def test_the_kubeconfig_comes_before_the_environment(server, configured, environ, expected):
    assert proxy_for(server, configured, environ) == expected


@pytest.mark.parametrize(
    ("server", "no_proxy", "bypassed"),
    [
        (SERVER, "api.example.com", True),
        (SERVER, "API.Example.com", True),
        (SERVER, "example.com", True),
        (SERVER, ".example.com", True),
        (SERVER, "*.example.com", True),
        (SERVER, "ample.com", False),
        (SERVER, "a.b, example.com , c", True),
        (SERVER, "api.example.com:6443", True),
        (SERVER, "api.example.com:443", False),
        (SERVER, "*", True),
        (SERVER, "10.0.0.0/8", False),
        ("https://10.1.2.3", "10.0.0.0/8", True),
        ("https://10.1.2.3", "10.1.2.3", True),
        ("https://10.1.2.3", "10.1.2.3:443", True),
        ("https://11.1.2.3", "10.0.0.0/8", False),
        ("https://10.1.2.3", "10.0.0.0/nonsense", False),
        ("https://[fd00::1]:6443", "fd00::/8", True),
        ("https://[fd00::1]:6443", "fd00::1", True),
        (SERVER, " , ,", False),
    ],
)
def test_hosts_that_no_proxy_names_are_reached_directly(server, no_proxy, bypassed):
    environ = {"HTTPS_PROXY": PROXY, "NO_PROXY": no_proxy}
    assert (proxy_for(server, None, environ) is None) == bypassed


@pytest.mark.parametrize(
    ("configured", "environ", "source"),
    [
        ("ftp://proxy", {}, "proxy-url of the kubeconfig"),
        ("http://", {}, "proxy-url of the kubeconfig"),
        (None, {"HTTPS_PROXY": "ftp://user:hunter2@proxy"}, "HTTPS_PROXY"),
    ],
)
def test_a_proxy_that_is_none_is_named_by_its_source(configured, environ, source):
    with pytest.raises(ConnectError, match=source) as caught:
        proxy_for(SERVER, configured, environ)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("proxy", "bare"),
    [
        ("http://us%40er:p%3Ass@proxy:3128", "http://proxy:3128"),
        ("https://us%40er:p%3Ass@[fd00::1]:3128/", "https://[fd00::1]:3128/"),
    ],
)
def test_credentials_of_a_proxy_go_into_a_header(proxy, bare):
    url, headers = proxy_credentials(proxy)
    assert url == bare
    assert base64.b64decode(headers["proxy-authorization"].removeprefix("Basic ")) == b"us@er:p:ss"


@pytest.mark.parametrize("proxy", ["http://proxy:3128", "socks5://user:word@proxy"])
def test_other_proxies_stay_as_they_are(proxy):
    assert proxy_credentials(proxy) == (proxy, {})
