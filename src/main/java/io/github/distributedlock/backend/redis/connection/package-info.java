/**
 * What leads to a server. {@code OwnConnections} derives connections from the factory of
 * the application; a {@code Lane} runs commands on those of one purpose. Each client,
 * Jedis and Lettuce, has its side. Beside them are what goes over them: commands, names
 * of keys, what refusals mean, and release notifications.
 */
@NullMarked
package io.github.distributedlock.backend.redis.connection;

import org.jspecify.annotations.NullMarked;
