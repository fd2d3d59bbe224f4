"""Somebody who has never seen it: from the printed address to a release, in a few clicks."""

from __future__ import annotations

from web.chromium.walk import audits


def test_the_sample_data_are_published_in_under_ten_clicks(walk, tmp_path):
    walk.button("Try with sample data")
    walk.looked_at()
    walk.publish()
    walk.finished()
    release = walk.download(tmp_path)
    assert walk.clicks == 5
    assert audits(release)
