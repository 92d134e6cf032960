"""What the integration tests share: the small study of the pipeline's tests, as a file."""

from __future__ import annotations

from tests.pipeline.conftest import in_process, planned, study_file

__all__ = ["in_process", "planned", "study_file"]
