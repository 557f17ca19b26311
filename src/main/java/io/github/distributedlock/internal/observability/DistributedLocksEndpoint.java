package io.github.distributedlock.internal.observability;

import java.util.Objects;
import java.util.function.BinaryOperator;
import java.util.function.Function;
import java.util.function.Supplier;

import io.github.distributedlock.EngineSnapshot;
import io.github.distributedlock.LockAdmin;
import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockStatus;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.aot.hint.annotation.RegisterReflectionForBinding;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;
import org.springframework.boot.actuate.endpoint.SanitizableData;
import org.springframework.boot.actuate.endpoint.Sanitizer;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;

/**
 * Actuator endpoint of the locks: shows what this JVM holds and waits for, or what the
 * store knows of one key. A lock that is taken away from its holder protects nothing, so
 * the endpoint releases a lock by force only if Actuator is told to grant more than
 * access to read. Safe for use by many threads.
 * <p>
 * Keys, owner tokens and names of threads may be personal data: they are hidden unless
 * {@code show-values} says otherwise. The key in the question is not hidden, since the
 * caller knows that key.
 */
@Endpoint(id = "distributedlocks", defaultAccess = Access.READ_ONLY)
@RegisterReflectionForBinding({ LocksDescriptor.class, KeyDescriptor.class,
		DistributedLocksEndpoint.ForcedRelease.class })
final class DistributedLocksEndpoint {

	private static final Logger logger = LoggerFactory.getLogger(DistributedLocksEndpoint.class);

	private static final String FAILED = "The store has failed: ";

	private final Function<String, LockStatus> inspect;

	private final LockAdmin admin;

	private final Supplier<EngineSnapshot> snapshot;

	private final Sanitizer sanitizer;

	private final Show showValues;

	/**
	 * Creates the endpoint.
	 * @param inspect asks the store about a key
	 * @param admin releases a key by force
	 * @param snapshot describes the engine
	 * @param sanitizer hides values
	 * @param showValues when values are shown
	 */
	DistributedLocksEndpoint(Function<String, LockStatus> inspect, LockAdmin admin, Supplier<EngineSnapshot> snapshot,
			Sanitizer sanitizer, Show showValues) {
		this.inspect = inspect;
		this.admin = admin;
		this.snapshot = snapshot;
		this.sanitizer = sanitizer;
		this.showValues = showValues;
	}

	/**
	 * Describes this JVM's locks without asking the store or, if a key is given, asks the
	 * store about that key.
	 * @param key the key, or {@code null}
	 * @return the description
	 * @throws InvalidEndpointRequestException if there cannot be such a key, or the store
	 * cannot be asked about a key
	 * @throws IllegalStateException if the store has failed
	 */
	// Each line of Spring Boot knows one of these annotations as the mark of an optional
	// parameter.
	@SuppressWarnings("deprecation")
	@ReadOperation
	OperationResponseBody locks(@org.springframework.lang.Nullable @Nullable String key) {
		boolean showsValues = this.showValues.isShown(true);
		try {
			return describe(key, showsValues);
		}
		catch (LockBackendException ex) {
			throw new IllegalStateException(FAILED + error(ex, showsValues));
		}
	}

	/**
	 * Releases a key by force, if the named owner has the key.
	 * @param key the key
	 * @param owner the owner token, as this endpoint shows the token
	 * @return whether the key was released, and who has the key otherwise
	 * @throws InvalidEndpointRequestException if there cannot be such a key or owner, or
	 * the store cannot say who has a key
	 * @throws IllegalStateException if the store has failed
	 */
	@DeleteOperation
	OperationResponseBody forceRelease(String key, String owner) {
		boolean showsValues = this.showValues.isShown(true);
		try {
			return forceRelease(key, owner, showsValues);
		}
		catch (LockBackendException ex) {
			throw new IllegalStateException(releaseError(ex, showsValues));
		}
	}

	/**
	 * Releases a key by force.
	 * @param showsValues whether values are shown
	 */
	ForcedRelease forceRelease(String key, String owner, boolean showsValues) {
		if (owner.equals(SanitizableData.SANITIZED_VALUE)) {
			throw refusal("The owner " + owner
					+ " is hidden. Set management.endpoint.distributedlocks.show-values=when-authorized, and name the"
					+ " owner that the endpoint shows then", null);
		}
		boolean released = valid(() -> this.admin.forceRelease(key, owner));
		return new ForcedRelease(released, released ? null : describeKey(key, showsValues));
	}

	/**
	 * Describes the locks of this JVM, or one key.
	 * @param showsValues whether values are shown
	 */
	OperationResponseBody describe(@Nullable String key, boolean showsValues) {
		return (key != null) ? describeKey(key, showsValues)
				: LocksDescriptor.of(this.snapshot.get(), shown(showsValues));
	}

	private KeyDescriptor describeKey(String key, boolean showsValues) {
		return KeyDescriptor.of(valid(() -> this.inspect.apply(key)), shown(showsValues));
	}

	private BinaryOperator<String> shown(boolean showsValues) {
		return (name, value) -> show(name, value, showsValues);
	}

	/**
	 * Logs a failure of the store, and returns its message. The message names the key and
	 * the server, so the message is a value that may be hidden.
	 * @param showsValues whether values are shown
	 */
	String error(LockBackendException failure, boolean showsValues) {
		logger.warn("The endpoint distributedlocks could not ask the store about a lock", failure);
		return show("error", String.valueOf(failure.getMessage()), showsValues);
	}

	/**
	 * Returns the message of a release by force that has failed, and logs the failure.
	 * @param showsValues whether values are shown
	 */
	String releaseError(LockBackendException failure, boolean showsValues) {
		String outcome = failure.isWithoutEffect() ? "The key was not released. "
				: "Whether the key was released is not known: ask who has it now. ";
		return outcome + FAILED + error(failure, showsValues);
	}

	private String show(String name, String value, boolean showsValues) {
		return Objects.toString(this.sanitizer.sanitize(new SanitizableData(null, name, value), showsValues));
	}

	private static <T> T valid(Supplier<T> question) {
		try {
			return question.get();
		}
		catch (IllegalArgumentException | UnsupportedOperationException ex) {
			throw refusal(String.valueOf(ex.getMessage()), ex);
		}
	}

	private static InvalidEndpointRequestException refusal(String message, @Nullable Throwable cause) {
		return new InvalidEndpointRequestException(message, message, cause);
	}

	/**
	 * The answer to a release by force.
	 *
	 * @param released whether the named owner had the key until now; {@code false} if
	 * nothing was changed
	 * @param now the key after a release that changed nothing, {@code null} otherwise
	 */
	record ForcedRelease(boolean released, @Nullable KeyDescriptor now) implements OperationResponseBody {
	}

}
