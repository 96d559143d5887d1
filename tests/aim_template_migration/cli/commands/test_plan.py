import re
import stat

import pytest

from aim_template_migration.documents.plan import decode_plan


def with_option(arguments, option, value):
    changed = list(arguments)
    changed[changed.index(option) + 1] = value
    return changed


def plan_directory(arguments):
    return arguments[arguments.index("--output-dir") + 1]


def requests(cluster):
    return sum(event["user"]["username"] == "migration" for event in cluster.server.audit_events())


@pytest.fixture(scope="module")
def kubeconfig_text(cluster):
    return cluster.kubeconfig().read_text()


def assert_refused(ran, directory, code, *words):
    assert (ran.code, ran.out) == (code, "")
    said = [line for line in ran.err.splitlines() if line.startswith("error: ")]
    assert len(said) == 1
    for word in words:
        assert word in ran.err
    assert "Traceback" not in ran.err
    assert not directory.exists()
    assert not list(directory.parent.glob(f".{directory.name}*"))


def test_a_plan_is_written_privately_and_said_what_comes_next(aim, plan_arguments):
    ran = aim(*plan_arguments)
    directory = plan_directory(plan_arguments)
    assert (ran.code, ran.err) == (0, "")
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert {path.name for path in directory.iterdir()} == {"plan.json", "plan.generated.json", "backup.yaml"}
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in directory.iterdir())
    for words in (
        str(directory),
        "automatic      2",
        f"aim-template-migration show --plan {directory}",
        "team-a, team-b",
    ):
        assert words in ran.out
    assert re.search(r"SHA-256 +[0-9a-f]{64}$", ran.out, re.MULTILINE)
    assert "andoff" not in ran.out


def test_json_summarises_the_plan(aim, plan_arguments):
    ran = aim(*plan_arguments, "-o", "json")
    assert ran.code == 0
    summary = ran.document
    assert summary["kind"] == "PlanView"
    assert summary["totals"] == {"automatic": 2, "manual": 0, "skip": 0, "total": 2}
    assert summary["planSha256"] == aim("show", "--plan", summary["path"], "-o", "json").document["planSha256"]


def test_manual_units_are_no_failure_unless_asked(aim, plan_arguments, tmp_path):
    reduced = with_option(plan_arguments, "--runtime-projection-mode", "Reduced")
    ran = aim(*reduced)
    assert ran.code == 0
    assert "ReducedProjectionMode" in ran.out
    strict = with_option(reduced, "--output-dir", tmp_path / "strict")
    ran = aim(*strict, "--require-automatic")
    assert ran.code == 3
    assert "2 units are manual" in ran.err
    assert decode_plan((tmp_path / "strict" / "plan.json").read_bytes()).runtime_projection_mode == "Reduced"


def test_a_directory_that_exists_is_refused_before_any_request(aim, plan_arguments, cluster):
    directory = plan_directory(plan_arguments)
    directory.mkdir()
    before = requests(cluster)
    ran = aim(*plan_arguments)
    assert ran.code == 4
    assert "exists already" in ran.err
    assert requests(cluster) == before
    assert list(directory.iterdir()) == []


def test_a_missing_namespace(aim, plan_arguments):
    ran = aim(*with_option(plan_arguments, "--namespace", "team-z"))
    assert_refused(ran, plan_directory(plan_arguments), 4, "team-z", "does not exist")


def test_no_service_has_its_own_message(aim, plan_arguments):
    arguments = [*plan_arguments[:1], "--namespace", "default", *plan_arguments[5:]]
    assert_refused(aim(*arguments), plan_directory(plan_arguments), 4, "no AIMService was found in default")


@pytest.mark.parametrize("mode", ["both", "EXHAUSTIVE", "Neither", ""])
def test_an_unknown_mode(aim, plan_arguments, mode):
    ran = aim(*with_option(plan_arguments, "--runtime-projection-mode", mode))
    assert_refused(ran, plan_directory(plan_arguments), 2, "Exhaustive", "Reduced", "Both")


@pytest.mark.parametrize("arguments", [["-A"], ["--all-namespaces"], ["--namespace", "*"], ["--namespace", ""]])
def test_namespaces_are_explicit(aim, plan_arguments, arguments):
    assert_refused(aim(*plan_arguments, *arguments), plan_directory(plan_arguments), 2, "--namespace")


def test_an_unreachable_server(aim, plan_arguments, tmp_path, kubeconfig_text):
    path = tmp_path / "unreachable.kubeconfig"
    path.write_text(re.sub(r"https://127\.0\.0\.1:\d+", "https://127.0.0.1:1", kubeconfig_text))
    ran = aim(*with_option(plan_arguments, "--kubeconfig", path))
    assert_refused(ran, plan_directory(plan_arguments), 4, "127.0.0.1:1")


def test_an_expired_token(aim, plan_arguments, tmp_path, kubeconfig_text, cluster):
    token = cluster.server.token("migration")
    path = tmp_path / "expired.kubeconfig"
    path.write_text(kubeconfig_text.replace(token, "expired-" + token))
    ran = aim(*with_option(plan_arguments, "--kubeconfig", path))
    assert_refused(ran, plan_directory(plan_arguments), 4, "does not accept")
    assert token not in ran.err


def test_a_missing_permission_names_what_is_missing(aim, plan_arguments):
    ran = aim(*plan_arguments, "--as", "nobody-in-particular")
    assert_refused(ran, plan_directory(plan_arguments), 4, "403")


def test_no_kubeconfig(aim, plan_arguments, tmp_path):
    ran = aim(*with_option(plan_arguments, "--kubeconfig", tmp_path / "absent"))
    assert_refused(ran, plan_directory(plan_arguments), 4, "absent")


def test_a_git_work_tree_earns_a_warning(aim, plan_arguments, tmp_path):
    (tmp_path / ".git").mkdir()
    ran = aim(*plan_arguments)
    assert ran.code == 0
    assert "warning: " in ran.err
    assert "Git work tree" in ran.err


@pytest.mark.parametrize("directory", [".", "/", "..", "./"])
def test_a_directory_that_is_there_is_said_to_be_so(aim, plan_arguments, directory):
    ran = aim(*with_option(plan_arguments, "--output-dir", directory))
    assert ran.code == 4
    assert "exists already" in ran.err
