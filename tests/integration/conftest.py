"""What the integration tests share: the small study of the pipeline's tests, as a file."""

from tests.pipeline.conftest import in_process, out, planned, study_file, whole

__all__ = ["in_process", "out", "planned", "study_file", "whole"]
