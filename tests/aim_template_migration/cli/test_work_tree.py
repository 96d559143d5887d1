from pathlib import Path

import pytest

from aim_template_migration.cli.work_tree import enclosing_work_tree, work_tree_warning


@pytest.mark.parametrize("marker", ["directory", "file"])
def test_a_path_below_a_work_tree_is_found(tmp_path, marker):
    git = tmp_path / ".git"
    if marker == "directory":
        git.mkdir()
    else:
        git.write_text("gitdir: elsewhere\n")
    inside = tmp_path / "some" / "plan"
    assert enclosing_work_tree(inside) == tmp_path
    assert str(inside) in work_tree_warning(inside)


def test_a_relative_path_is_looked_at_from_where_one_stands(tmp_path, monkeypatch):
    (tmp_path / ".git").mkdir()
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    assert enclosing_work_tree(Path("plan")) == tmp_path


def test_elsewhere_there_is_nothing_to_say(tmp_path):
    assert work_tree_warning(tmp_path / "plan") == ""


def test_a_path_that_leads_out_of_a_work_tree_is_not_in_it(tmp_path, monkeypatch):
    (tmp_path / "tree" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "tree")
    assert work_tree_warning(Path("../ledger.json")) == ""


def test_a_link_into_a_work_tree_is_followed(tmp_path):
    tree = tmp_path / "tree"
    (tree / ".git").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tree)
    assert enclosing_work_tree(tmp_path / "link" / "plan") == tree
