/**
 * Connections to a server. {@code OwnConnections} derives connections from the factory of
 * the application; a {@code Lane} runs commands on the connections for one purpose. Each
 * client, Jedis and Lettuce, has classes of its own. The package also has what goes over
 * the connections: commands, and the meaning of refusals.
 */
@NullMarked
package io.github.distributedlock.backend.redis.internal;

import org.jspecify.annotations.NullMarked;
