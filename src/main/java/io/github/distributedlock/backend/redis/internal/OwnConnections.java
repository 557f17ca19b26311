package io.github.distributedlock.backend.redis.internal;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

import io.github.distributedlock.LockBackendException;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;

/**
 * The connections of a backend: to the application's Redis, with the application's
 * settings, but apart from the application's traffic and bounded by the backend's command
 * timeout.
 *
 * @param shared the lanes for steps of single commands
 * @param exclusive the lanes for steps that need a connection of their own; {@code null}
 * in a cluster, where commands of a step may go to several nodes
 * @param signals opens connections for subscriptions, and for other purposes that need a
 * new connection
 * @param masters returns the master that serves a slot, as far as the client knows: an
 * object equal for slots of the same master
 * @param sentinels the watcher of the master, {@code null} without Sentinels
 * @param tls whether the connections use TLS
 * @param rights the rights that the user needs to connect, in the form of an access rule
 * @param end ends the client, after the connections were closed
 */
public record OwnConnections(Lanes shared, @Nullable Lanes exclusive, SignalConnector signals,
		IntFunction<@Nullable Object> masters, @Nullable SentinelMaster sentinels, boolean tls, String rights,
		Runnable end) {

	static LockBackendException refusal(String reason, String remedy) {
		return LockBackendException.of("Locks have connections of their own, and " + reason).remedy(remedy).build();
	}

	/**
	 * Overrides some answers of the application's client configuration, by a proxy, since
	 * the methods of the interface differ between the versions of Spring Data.
	 * @param type the interface of the configuration
	 * @param application the configuration of the application
	 * @param answers functions of the answers of the application's configuration, by the
	 * name of the method
	 * @param <C> the type of the configuration
	 * @return the configuration to derive with
	 */
	static <C> C override(Class<C> type, C application, Map<String, UnaryOperator<Object>> answers) {
		return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type },
				(self, method, arguments) -> answers.getOrDefault(method.getName(), UnaryOperator.identity())
					.apply(AopUtils.invokeJoinpointUsingReflection(application, method, arguments))));
	}

	/**
	 * Returns the lanes for steps.
	 * @param alone whether the steps need a connection of their own, as no steps in a
	 * cluster do
	 */
	public Lanes lanes(boolean alone) {
		return (alone && this.exclusive != null) ? this.exclusive : this.shared;
	}

	/**
	 * Returns whether the server is a cluster, which may have several masters.
	 */
	public boolean cluster() {
		return this.exclusive == null;
	}

	/**
	 * Adds a listener that is called when another master has taken the place of a master
	 * that may still answer, once no step gets a connection to the former master any
	 * more. The listener must not block.
	 */
	public void onSwitch(Runnable listener) {
		if (this.sentinels != null) {
			this.sentinels.onSwitch(listener);
		}
	}

	/**
	 * Bounds a supplier that opens connections by the command timeout, in the way of an
	 * {@link Opening}: the supplier runs in the background, once for all threads that ask
	 * at the same time.
	 * @return a supplier that waits for the result, or throws an {@link UnsentException}
	 */
	public <T> Supplier<T> bounded(Supplier<T> opener, Duration timeout) {
		Opening<T> opening = new Opening<>(opener, timeout, Opening.FIRST);
		return () -> {
			try {
				return opening.await();
			}
			catch (UnsentException ex) {
				throw RedisFailures.ofOpening(ex, this.tls);
			}
		};
	}

	public void close() {
		if (this.sentinels != null) {
			this.sentinels.end();
		}
		this.shared.close();
		if (this.exclusive != null) {
			this.exclusive.close();
		}
		this.end.run();
	}

}
