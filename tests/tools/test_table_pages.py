"""A CSV on the site: a page of its own, to which the links lead."""

from tools.table_pages import write_table_pages


def test_links_lead_to_a_page_that_holds_every_row(tmp_path):
    (tmp_path / "page.md").write_text("See [rows](rows.csv) and [more](more.csv), not `(other.csv)`.\n")
    (tmp_path / "rows.csv").write_text('a,b\n1,"<x>, y"\n')
    (tmp_path / "more.csv").write_text("a\n2\n")
    (tmp_path / "other.csv").write_text("a\n3\n")

    write_table_pages(tmp_path)

    assert "[rows](rows.csv.html) and [more](more.csv.html), not `(other.csv)`" in (tmp_path / "page.md").read_text()
    page = (tmp_path / "rows.csv.html").read_text()
    assert "<tr><td>1</td><td>&lt;x&gt;, y</td></tr>" in page
    assert 2 == page.count("<input ")
    assert 'href="page.html"' in page
    assert not (tmp_path / "other.csv.html").exists()
