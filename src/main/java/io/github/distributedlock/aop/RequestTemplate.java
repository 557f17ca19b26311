package io.github.distributedlock.aop;

import java.time.Duration;
import java.util.List;
import java.util.function.Function;

import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.annotation.DistributedLock;
import io.github.distributedlock.annotation.ReleaseOn;

import org.springframework.core.env.PropertyResolver;
import org.springframework.format.annotation.DurationFormat;
import org.springframework.format.datetime.standard.DurationFormatterUtils;

/**
 * Makes of an annotation's attributes the request that all calls of the method share but
 * for the keys.
 */
final class RequestTemplate {

	private final AnnotatedMethod annotated;

	private final PropertyResolver properties;

	private LockRequest request;

	private RequestTemplate(AnnotatedMethod annotated, PropertyResolver properties, LockRequest request) {
		this.annotated = annotated;
		this.properties = properties;
		this.request = request;
	}

	static LockRequest of(AnnotatedMethod annotated, PropertyResolver properties, List<String> keys) {
		refuseContradictions(annotated, keys);
		DistributedLock annotation = annotated.annotation();
		RequestTemplate template = new RequestTemplate(annotated, properties, LockRequest.of(keys));
		template.set("waitTime", annotation.waitTime(), (time) -> template.request.waitTime(time));
		template.set("leaseTime", annotation.leaseTime(), (time) -> template.request.leaseTime(time));
		template.set("maxHoldTime", annotation.maxHoldTime(), (time) -> template.request.maxHoldTime(time));
		template.set("minHoldTime", annotation.minHoldTime(), (time) -> template.request.minHoldTime(time));
		String name = Placeholders.resolve(annotated, "name", annotation.name(), properties).trim();
		return template.request.name(name.isEmpty() ? annotated.shortName() : name)
			.mode(annotation.mode())
			.fair(annotation.fair())
			.fenced(annotation.fenced())
			.expireOnClose(annotation.releaseOn() == ReleaseOn.EXPIRY)
			.awaitedOnStop(true);
	}

	private static void refuseContradictions(AnnotatedMethod annotated, List<String> keys) {
		DistributedLock annotation = annotated.annotation();
		boolean shared = annotation.mode() == LockMode.SHARED;
		if (annotation.fair() && shared) {
			throw annotated.refuse("fair", true,
					"is not for mode = SHARED, which queues up behind all exclusive calls that wait as it is: leave it out",
					null);
		}
		if (annotation.fenced() && shared) {
			throw annotated.refuse("fenced", true,
					"is not for mode = SHARED, since a token tells who wrote last: leave it out", null);
		}
		if (annotation.fenced() && keys.size() > 1) {
			throw annotated.refuse("fenced", true,
					"is not for several keys, since a token is of one: take the other locks around this one", null);
		}
	}

	private void set(String attribute, String written, Function<Duration, LockRequest> wither) {
		String resolved = Placeholders.resolve(this.annotated, attribute, written, this.properties).trim();
		if (resolved.isEmpty()) {
			return;
		}
		Duration duration;
		try {
			duration = DurationFormatterUtils.detectAndParse(resolved, DurationFormat.Unit.MILLIS);
		}
		catch (IllegalArgumentException | ArithmeticException ex) {
			throw this.annotated.refuse(attribute, written,
					told(written, resolved) + "is not a duration: write \"2s\", \"PT2S\" or \"500\" (milliseconds)",
					ex);
		}
		try {
			this.request = wither.apply(duration);
		}
		catch (IllegalArgumentException ex) {
			throw this.annotated.refuse(attribute, written, told(written, resolved) + "cannot be: " + ex.getMessage(),
					ex);
		}
	}

	private static String told(String written, String resolved) {
		return written.equals(resolved) ? "" : "(" + resolved + ") ";
	}

}
