package io.github.distributedlock.internal.observability;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * The answer of the endpoint to a release by force.
 *
 * @param released whether the named owner had the key until now; {@code false} if nothing
 * was changed
 * @param now the key after a release that changed nothing, {@code null} otherwise
 */
record ForcedReleaseDescriptor(boolean released, @Nullable KeyDescriptor now) implements OperationResponseBody {
}
