/**
 * The locks of three JVMs, live in a terminal: what the Actuator endpoint
 * {@code distributedlocks} of each of them says, while a person pauses and kills them.
 * <p>
 * {@code Market} is the application that runs in each of the JVMs, and
 * {@code live-view.yml} the configuration. {@code Markets} looks at them, {@code News}
 * tells what is different, {@code Frame} makes text of both, and {@code LiveView} does so
 * again and again, and obeys.
 */
package io.github.distributedlock.demo.live;
