import json
import subprocess
import sys

import pytest

from aim_template_migration.kube.errors import ConnectError
from aim_template_migration.kube.kubeconfig import endpoint_of, kubeconfig_files, select


def config(name, *, current=None, server="https://api.example.com", user=None, **cluster):
    content = {
        "clusters": [{"name": name, "cluster": {"server": server} | cluster}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name, "namespace": "trap"}}],
        "users": [{"name": name, "user": user or {"token": f"token-of-{name}"}}],
    }
    return content | ({"current-context": current} if current is not None else {})


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return str(path)

    return write


def refused(call, *arguments):
    with pytest.raises(ConnectError) as caught:
        call(*arguments)
    text = str(caught.value)
    assert "\n" not in text
    return text


def test_the_current_context_is_that_of_the_first_file_that_names_one(write):
    """kubectl takes it; the last would be another cluster."""
    files = [
        write("a", config("a", current="")),
        write("b", config("b", current="b")),
        write("c", config("c", current="c")),
    ]
    assert select(files, None).context == "b"


def test_of_entries_with_one_name_the_first_counts(write):
    files = [
        write("a", config("x", server="https://first")),
        write("b", config("x", current="x", server="https://second")),
    ]
    selection = select(files, None)
    assert selection.cluster.content["server"] == "https://first"
    assert selection.user.file == files[0]


def test_entries_come_together_from_several_files(write):
    files = [
        write("a", {"contexts": [{"name": "c", "context": {"cluster": "b", "user": "d"}}]}),
        write("b", config("b")),
        write("d", config("d")),
    ]
    selection = select(files, "c")
    assert (selection.cluster.file, selection.user.file) == (files[1], files[2])
    assert selection.user_name == "d"


def test_an_empty_file_among_several_is_one_without_entries(write):
    files = [write("empty", ""), write("comment", "# nothing\n"), write("a", config("a", current="a"))]
    selection = select(files, None)
    assert selection.files == (files[2],)


def test_several_empty_files_are_named(write):
    files = [write("a", ""), write("b", "# nothing")]
    assert f"{files[0]}, {files[1]} are empty" in refused(select, files, None)


def test_the_namespace_of_the_context_is_not_kept(write):
    selection = select([write("a", config("a", current="a"))], None)
    assert "trap" not in repr(selection)


def test_which_files_are_read(write, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    one, two = write("one", "{}"), write("two:three", "{}")
    missing = str(tmp_path / "missing")
    assert kubeconfig_files(two, {"KUBECONFIG": one}) == [two]
    assert kubeconfig_files(None, {"KUBECONFIG": f"{missing}:{one}::"}) == [one]
    assert kubeconfig_files(None, {}) == []
    default = write("home/.kube/config", "{}")
    assert kubeconfig_files(None, {}) == [default]
    assert kubeconfig_files("~/.kube/config", {}) == [default]
    assert kubeconfig_files(None, {"KUBECONFIG": one}) == [one]
    assert f"{missing} does not exist; correct --kubeconfig" in refused(kubeconfig_files, missing, {})
    assert "no file that KUBECONFIG names exists" in refused(kubeconfig_files, None, {"KUBECONFIG": missing})


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "is empty"),
        ("# only a comment", "is empty"),
        ("token: [hunter2", "is not YAML (line 2"),
        ("a: hunter2\n b: *hunter2", "is not YAML (line 2"),
        ("\x00\x01hunter2", "is not YAML"),
        ("clusters: 2001-99-99", "is not YAML"),
        ("[" * 3000, "is not YAML"),
        ("- hunter2", "is no kubeconfig"),
        ("hunter2", "is no kubeconfig"),
        ('{"users": [{"user": {"token": "hunter2"}}]}', "is no kubeconfig"),
        ('{"users": ["hunter2"]}', "is no kubeconfig"),
        ('{"users": {"hunter2": 1}}', "is no kubeconfig"),
        ('{"users": 3}', "is no kubeconfig"),
        ("{}", "has no current-context"),
        ('{"current-context": 7}', "has no current-context"),
        ('{"current-context": "gone"}', 'context "gone" is not in'),
    ],
)
def test_a_file_that_is_no_kubeconfig_is_named_in_one_sentence_without_its_content(write, content, words):
    path = write("broken", content)
    text = refused(select, [path], None)
    assert words in text
    assert path in text
    assert "hunter2" not in text


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    assert f"the kubeconfig {tmp_path} cannot be read: Is a directory" in refused(select, [str(tmp_path)], None)


def test_a_file_that_is_not_text_is_named(tmp_path):
    path = tmp_path / "latin"
    path.write_bytes(b"a: \xe4\xf6")
    assert "is not YAML" in refused(select, [str(path)], None)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"contexts": [{"name": "a", "context": {"cluster": "a", "user": "gone"}}]}, 'needs user "gone"'),
        ({"contexts": [{"name": "a", "context": {"cluster": "gone", "user": "a"}}]}, 'needs cluster "gone"'),
        ({"contexts": [{"name": "a", "context": {"user": "a"}}]}, 'needs cluster ""'),
        ({"contexts": [{"name": "a"}]}, 'needs cluster ""'),
        ({"contexts": [{"name": "a", "context": "text"}]}, 'needs cluster ""'),
        ({"users": []}, 'needs user "a"'),
    ],
)
def test_a_context_with_a_missing_part_is_refused_and_never_used_anonymously(write, change, words):
    path = write("config", config("a", current="a") | change)
    text = refused(select, [path], None)
    assert f'context "a" of {path} {words}' in text


def test_an_unknown_context_is_answered_with_those_that_are_there(write):
    files = [write("a", config("a")), write("b", config("b", current="b"))]
    text = refused(select, files, "prod")
    assert text == f'context "prod" is not in {files[0]}, {files[1]}; name one that is there with --context: a, b'


def test_a_context_without_a_user_is_anonymous(write):
    path = write("config", config("a", current="a") | {"contexts": [{"name": "a", "context": {"cluster": "a"}}]})
    assert select([path], None).user.content == {}


@pytest.mark.parametrize(
    ("cluster", "words"),
    [
        ({"server": ""}, "must be a URL that begins with https://"),
        ({"server": "api.example.com:6443"}, "must be a URL that begins with https://"),
        ({"server": "ftp://api.example.com"}, "must be a URL that begins with https://"),
        ({"server": "https://api.example.com:99999"}, "with a valid host and port"),
        ({"server": "https://api.example.com:0"}, "with a valid host and port"),
        ({"server": "https://api example.com"}, "with a valid host and port"),
        ({"server": "https://[::1"}, "with a valid host and port"),
        ({"server": "https://api..example.com"}, "with a valid host and port"),
        ({"server": f"https://{64 * 'a'}.example.com"}, "with a valid host and port"),
        ({"server": "https://alice:hunter2@api.example.com"}, "must hold no credentials"),
        ({"server": "https://api.example.com?token=hunter2"}, "must hold no credentials"),
        ({"certificate-authority-data": "!hunter2"}, "certificate-authority-data in {path} is not base64"),
        ({"certificate-authority": "gone.crt"}, "gone.crt cannot be read: No such file"),
        ({"certificate-authority-data": "QQ==", "insecure-skip-tls-verify": True}, "exclude each other"),
        ({"proxy-url": "nonsense"}, "proxy-url of the kubeconfig must be a URL"),
        ({"proxy-url": "http://[::1"}, "with a valid host and port"),
        ({"proxy-url": "http://alice:hunter2@proxy.example.com:99999"}, "with a valid host and port"),
    ],
)
def test_a_cluster_that_cannot_be_used_is_explained(write, cluster, words):
    whole = {"server": "https://api.example.com"} | cluster
    path = write("config", config("a", current="a") | {"clusters": [{"name": "a", "cluster": whole}]})
    text = refused(endpoint_of, select([path], None), {})
    assert words.format(path=path) in text
    assert "hunter2" not in text


def test_files_of_a_cluster_lie_beside_the_kubeconfig_that_names_them(write):
    write("one/ca.crt", "AUTHORITY OF ONE")
    write("two/ca.crt", "AUTHORITY OF TWO")
    files = [
        write("one/config", config("one", current="two", **{"certificate-authority": "ca.crt"})),
        write("two/config", config("two", **{"certificate-authority": "ca.crt"})),
    ]
    assert endpoint_of(select(files, None), {}).tls.authorities == b"AUTHORITY OF TWO"
    assert endpoint_of(select(files, "one"), {}).tls.authorities == b"AUTHORITY OF ONE"


def test_a_server_below_a_path_keeps_it_and_loses_the_last_slash(write):
    path = write("config", config("a", current="a", server="https://rancher.example.com/k8s/clusters/c-1/"))
    assert endpoint_of(select([path], None), {}).server == "https://rancher.example.com/k8s/clusters/c-1"


def test_reading_writes_nothing(write, tmp_path):
    path = write("config", config("a", current="a"))
    before = {entry.name: entry.stat().st_mtime_ns for entry in tmp_path.iterdir()}
    select([path], None)
    assert {entry.name: entry.stat().st_mtime_ns for entry in tmp_path.iterdir()} == before


def test_the_official_package_is_not_imported_for_a_kubeconfig_with_a_token(write):
    """Its import takes longer than the plan of a hundred services."""
    path = write("config", config("a", current="a"))
    program = (
        "import sys; from aim_template_migration.kube.kubeconfig import endpoint_of, identity_in, select; "
        f"selection = select([{path!r}], None); identity_in(selection, endpoint_of(selection, {{}}), 0.0); "
        "sys.exit('kubernetes' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_a_file_with_a_byte_order_mark_is_read_and_one_that_is_no_text_is_named(write, tmp_path):
    assert select([write("a", "\ufeff" + json.dumps(config("a", current="a")))], None).context == "a"
    path = tmp_path / "binary"
    path.write_bytes(b"\xff\xfe\xfd\x80hunter2")
    assert "is not YAML" in refused(select, [str(path)], None)
