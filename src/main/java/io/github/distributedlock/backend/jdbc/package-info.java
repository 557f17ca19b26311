/**
 * A table of a database behind the storage SPI. {@code JdbcLockBackend} carries out steps
 * without contention by one statement, and all other steps by a change of a
 * {@code KeyState} that counts only if nobody has changed the row meanwhile.
 */
@NullMarked
package io.github.distributedlock.backend.jdbc;

import org.jspecify.annotations.NullMarked;
