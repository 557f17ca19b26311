package io.github.distributedlock.internal.observability;

import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Function;

import io.github.distributedlock.LockBackendException;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.EndpointWebExtension;

/**
 * The behaviour of {@link DistributedLocksEndpoint} over HTTP: the extension checks the
 * rights of the caller before showing values, and answers {@code 503} if the store has
 * failed, {@code 400} with a reason if the question is no good. Safe for use by many
 * threads.
 */
@EndpointWebExtension(endpoint = DistributedLocksEndpoint.class)
final class DistributedLocksWebExtension {

	private static final int CONFLICT = 409;

	private final DistributedLocksEndpoint endpoint;

	private final Show showValues;

	private final Set<String> roles;

	/**
	 * Creates the extension.
	 * @param endpoint the endpoint
	 * @param showValues when values are shown
	 * @param roles the roles that are authorized to see values; if there are none, all
	 * authenticated users are
	 */
	DistributedLocksWebExtension(DistributedLocksEndpoint endpoint, Show showValues, Set<String> roles) {
		this.endpoint = endpoint;
		this.showValues = showValues;
		this.roles = Set.copyOf(roles);
	}

	/**
	 * Describes this JVM's locks without asking the store or, if a key is given, asks the
	 * store about that key.
	 * @param securityContext the caller
	 * @param key the key, or {@code null}
	 * @return the description
	 */
	// Each line of Spring Boot knows one of these annotations as the mark of an optional
	// parameter.
	@SuppressWarnings("deprecation")
	@ReadOperation
	WebEndpointResponse<Object> locks(SecurityContext securityContext,
			@org.springframework.lang.Nullable @Nullable String key) {
		return answer(securityContext,
				(showsValues) -> new WebEndpointResponse<>(this.endpoint.describe(key, showsValues)),
				this.endpoint::error);
	}

	/**
	 * Releases a key by force, if the named owner has the key.
	 * @param securityContext the caller
	 * @param key the key
	 * @param owner the owner token, as this endpoint shows the token
	 * @return the answer, with the status {@code 409} if another owner has the key, or
	 * none
	 */
	@DeleteOperation
	WebEndpointResponse<Object> forceRelease(SecurityContext securityContext, String key, String owner) {
		return answer(securityContext, (showsValues) -> {
			DistributedLocksEndpoint.ForcedRelease done = this.endpoint.forceRelease(key, owner, showsValues);
			return new WebEndpointResponse<>(done, done.released() ? WebEndpointResponse.STATUS_OK : CONFLICT);
		}, this.endpoint::releaseError);
	}

	private WebEndpointResponse<Object> answer(SecurityContext securityContext,
			Function<Boolean, WebEndpointResponse<Object>> operation,
			BiFunction<LockBackendException, Boolean, String> error) {
		boolean showsValues = this.showValues.isShown(securityContext, this.roles);
		try {
			return operation.apply(showsValues);
		}
		catch (LockBackendException ex) {
			return error(error.apply(ex, showsValues), WebEndpointResponse.STATUS_SERVICE_UNAVAILABLE);
		}
		catch (InvalidEndpointRequestException ex) { // Spring Boot's answer has no
														// message.
			return error(String.valueOf(ex.getMessage()), WebEndpointResponse.STATUS_BAD_REQUEST);
		}
	}

	private static WebEndpointResponse<Object> error(String message, int status) {
		return new WebEndpointResponse<>(OperationResponseBody.of(Map.of("error", message)), status);
	}

}
