/**
 * A flash sale in three JVMs, without and with
 * {@link io.github.distributedlock.annotation.DistributedLock @DistributedLock}:
 * {@code ./mvnw -f src/demo spring-boot:test-run}.
 * <p>
 * Read {@code Till} for what goes wrong, {@code LockedTill} for what puts it right, and
 * {@code flash-sale.yml} for the configuration. {@code Shop} is the application that runs
 * in each of the JVMs; {@code FlashSale} starts them, kills one, and counts. The package
 * {@code live} is another demonstration: one to look at, and to play with.
 */
package io.github.distributedlock.demo;
