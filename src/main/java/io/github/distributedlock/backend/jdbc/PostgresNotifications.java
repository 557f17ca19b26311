package io.github.distributedlock.backend.jdbc;

import java.nio.charset.StandardCharsets;
import java.util.UUID;

final class PostgresNotifications {

	static String channel(String table, String instance) {
		return "distributed_lock_" + UUID.nameUUIDFromBytes((table + " " + instance).getBytes(StandardCharsets.UTF_8))
			.toString()
			.replace("-", "");
	}

}
