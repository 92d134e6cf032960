"""Apache Iceberg, as Java Iceberg, PyIceberg and the older protocols commit to it."""
