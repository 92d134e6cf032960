"""The session: found, made and stopped here, whatever it is used for."""
