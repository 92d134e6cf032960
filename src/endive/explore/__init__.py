"""The live page: ``endive explore`` serves it on this machine, for this machine only."""
