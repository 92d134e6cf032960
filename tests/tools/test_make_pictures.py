"""The pictures of the live page: each is drawn by the tool and shown on a page, and says why if it cannot be."""

from tools.make_pictures import IMAGES, PICTURES, ROOT, main


def test_every_picture_of_the_live_page_is_drawn_by_the_tool_and_shown_in_its_guide():
    guide = (ROOT / "docs" / "guides" / "explore.md").read_text(encoding="utf-8")

    assert sorted(f"explore-{name}.png" for name in PICTURES) == sorted(file.name for file in IMAGES.glob("explore-*"))
    assert [] == [name for name in PICTURES if f"explore-{name}.png" not in guide]


def test_a_picture_that_there_is_not_is_refused_with_those_there_are(capsys):
    assert 2 == main(["moon"])
    assert "No picture is called moon. Choose from: answer, curve.\n" == capsys.readouterr().err


def test_without_a_browser_one_sentence_says_what_to_install(capsys, monkeypatch):
    monkeypatch.setattr("tools.make_pictures.shutil.which", lambda name: None)

    assert 2 == main([])
    assert capsys.readouterr().err.endswith("On Debian: apt install chromium.\n")
