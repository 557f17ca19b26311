package io.github.distributedlock.autoconfigure;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockDefinitionException;
import io.github.distributedlock.LockException;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanCurrentlyInCreationException;
import org.springframework.beans.factory.InjectionPoint;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.beans.factory.UnsatisfiedDependencyException;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.util.StringUtils;

/**
 * Explains why an application with locks does not start, and how to correct the cause.
 * The cause is one of these:
 * <ul>
 * <li>The store or an annotation is wrong.</li>
 * <li>A bean injects the annotation, whose type has the same simple name as that of the
 * lock bean.</li>
 * <li>A bean injects the lock of a store that is not configured.</li>
 * <li>A lock around the library's lock takes its place.</li>
 * <li>Jedis cannot start while a Redis Cluster or Sentinel is out of reach, since its
 * connection factory asks them when the factory is made.</li>
 * </ul>
 * This analyzer comes before Spring Boot's own, which would advise to define a bean of
 * the annotation's type.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
class LockFailureAnalyzer implements FailureAnalyzer {

	private static final Class<?> ANNOTATION = io.github.distributedlock.annotation.DistributedLock.class;

	// Names of classes, since Jedis may be absent.
	private static final String JEDIS_EXCEPTIONS = "redis.clients.jedis.exceptions.";

	private static final String JEDIS_FACTORY = "org.springframework.data.redis.connection.jedis.JedisConnectionFactory";

	@Override
	public @Nullable FailureAnalysis analyze(Throwable failure) {
		List<Throwable> causes = LockException.causes(failure);
		for (Throwable cause : causes) {
			if (cause.getClass().getName().startsWith(JEDIS_EXCEPTIONS) && isFromStart(cause)) {
				return analyzeJedis(cause);
			}
		}
		for (Throwable cause : causes) {
			if (cause instanceof LockDefinitionException || cause instanceof LockBackendException) {
				return analyze((LockException) cause);
			}
			if (cause instanceof UnsatisfiedDependencyException ex && isOfItself(ex)) {
				return new FailureAnalysis(
						"Bean '" + ex.getBeanName() + "' takes the place of the library's lock, and asks for a lock, of"
								+ " which there is no other.",
						"To put it around the library's lock, let its class extend ForwardingDistributedLock, declare"
								+ " the bean by that class, and mark the bean with @Primary.",
						cause);
			}
			if (cause instanceof NoSuchBeanDefinitionException ex && ex.getNumberOfBeansFound() == 0
					&& (ex.getBeanType() == ANNOTATION || ex.getBeanType() == DistributedLock.class)) {
				return analyzeInjection(ex, causes);
			}
		}
		return null;
	}

	/**
	 * Returns whether a bean could not be made since the lock to inject is the bean.
	 */
	private static boolean isOfItself(UnsatisfiedDependencyException failure) {
		InjectionPoint target = failure.getInjectionPoint();
		return target != null && failure.getCause() instanceof BeanCurrentlyInCreationException circle
				&& Objects.equals(circle.getBeanName(), failure.getBeanName())
				&& target.getDeclaredType() == DistributedLock.class;
	}

	private static @Nullable FailureAnalysis analyze(LockException cause) {
		String remedy = cause.remedy().map(StringUtils::capitalize).orElse(null);
		if (cause instanceof LockDefinitionException) {
			remedy = ((remedy != null) ? remedy : "Correct the annotation as described above")
					+ ". The application does not start, so that the method never runs without the lock that it asks for.";
		}
		return (remedy != null) ? new FailureAnalysis(cause.problem(), remedy, cause) : null;
	}

	private static FailureAnalysis analyzeInjection(NoSuchBeanDefinitionException cause, List<Throwable> causes) {
		String where = "Something";
		for (Throwable outer : causes) {
			if (outer instanceof UnsatisfiedDependencyException ex && ex.getInjectionPoint() != null) {
				where = "Bean '" + ex.getBeanName() + "' (" + ex.getInjectionPoint() + ")";
			}
		}
		if (cause.getBeanType() == DistributedLock.class) {
			return new FailureAnalysis(where + " asks for a lock that is not there: " + cause.getMessage(),
					"The lock of a store is the bean redisLock, jdbcLock or memoryLock: add its store to"
							+ " distributed-lock.backend, or correct the qualifier, or leave the qualifier out for the"
							+ " default store.",
					cause);
		}
		return new FailureAnalysis(
				where + " asks for a bean of the type " + ANNOTATION.getName() + ", which is the annotation.",
				"Inject " + DistributedLock.class.getName()
						+ " instead: correct the import, or write the name in full where both are needed.",
				cause);
	}

	private static FailureAnalysis analyzeJedis(Throwable cause) {
		return new FailureAnalysis(
				"Redis Cluster or Sentinel could not be used while the application was starting,"
						+ " and the Jedis client cannot start without it: " + cause.getMessage(),
				"Check that Redis runs where spring.data.redis.cluster.nodes say; or that Sentinels run where"
						+ " spring.data.redis.sentinel.nodes say, know spring.data.redis.sentinel.master, and"
						+ " accept spring.data.redis.sentinel.username and spring.data.redis.sentinel.password."
						+ " If the application has to start while Redis is down, use the Lettuce client,"
						+ " which connects later: add the dependency io.lettuce:lettuce-core,"
						+ " and remove spring.data.redis.client-type=jedis if it is set.",
				cause);
	}

	private static boolean isFromStart(Throwable failure) {
		return Arrays.stream(failure.getStackTrace())
			.anyMatch((frame) -> frame.getClassName().equals(JEDIS_FACTORY) && frame.getMethodName().equals("start"));
	}

}
