/**
 * A table of a database behind the storage SPI. {@code JdbcLockBackend} carries out what
 * is not contended by one statement, and everything else by a change of a
 * {@code KeyState} that counts only if nobody has changed the row meanwhile.
 */
@NullMarked
package io.github.distributedlock.backend.jdbc;

import org.jspecify.annotations.NullMarked;
