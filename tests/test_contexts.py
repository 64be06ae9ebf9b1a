"""The public ``config_context``: a folder becomes a store of checkpoints."""

import pytest

from mercer import config, config_context, get_config
from mercer.storage import CheckpointFolder


def test_a_folder_is_made(tmp_path):
    with config_context(checkpoint=tmp_path / "a" / "b", every=5) as settings:
        assert isinstance(settings.checkpoint, CheckpointFolder)
        assert (settings.checkpoint.every, (tmp_path / "a" / "b").is_dir()) == (5.0, True)
        with config_context(threads=1):
            assert get_config().checkpoint is settings.checkpoint
    assert get_config().checkpoint is None


def test_a_minute_is_the_default(tmp_path):
    with config_context(checkpoint=str(tmp_path)) as settings:
        assert settings.checkpoint.every == 60.0


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"every": 3}, "there is no checkpoint. Give checkpoint='folder' too"),
        ({"checkpoint": 7}, "checkpoint must be the path of a folder, got 7"),
        ({"checkpoint": "x", "every": -1}, "every must be .* got -1"),
        ({"checkpoint": "x", "every": "soon"}, "every must be .* got 'soon'"),
    ],
)
def test_wrong_settings_are_refused(settings, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises((ValueError, TypeError), match=words), config_context(**settings):
        pass


def test_the_lower_function_takes_objects(tmp_path):
    with (
        pytest.raises(ValueError, match=r"mercer\.config_context takes a folder"),
        config.changed_config(checkpoint="x"),
    ):
        pass


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match=r"the folder .* cannot be made"), config_context(checkpoint=tmp_path / "file"):
        pass
